package incident

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/rule"
)

// pauseTold is a port that did not let go, and the incident that tells of it.
type pauseTold struct {
	*Incident
	*link.Paused
	waits []packet.Addr // whose packets wait for the end of the pause: those for these hosts, or, where from says so, those from them
	from  bool
	// spread is that a switch had others pause too meanwhile: whatever made no progress then may have waited.
	spread bool
}

// HeldUp reports whether an incident is of pauses that others made no progress in.
func (i *Incident) HeldUp() bool { return i.Kind == Paused && i.storm > 0 }

// Loses reports whether an incident tells of packets that were lost or late, though its kind is not of those that always do.
func (i *Incident) Loses() bool { return i.HeldUp() || i.led }

// letsGo reports whether a port let go: it did not send frame after frame for long, each before the pause was over.
func letsGo(p *link.Paused) bool {
	return (p.Frames-p.Resumed)/p.Begun < stormFrames || p.Longest < stormTime
}

// stormed notes a pause of what a port did not let go of, where it is known whose packets wait for its end. Pause frames do not pass a switch: what the tap shows passes that link, and where all of it is of
// one host, that host is at the other end of it, if the port is not its own; where all is between two, one of them is.
func (t *teller) stormed(i *Incident, p *link.Paused, what string, spread bool) {
	switch common := t.commonHosts(p.Tap); {
	case letsGo(p):
	case len(p.Hosts) > 0:
		i.held = p.Hosts
		t.storms = append(t.storms, pauseTold{i, p, p.Hosts, false, spread})
	case len(common) > 0:
		k := pauseTold{i, p, common, true, spread}
		i.fact("stops", k.held()+" waits meanwhile: "+what+"; all that the tap shows passes this link")
		t.storms = append(t.storms, k)
	}
}

// commonHosts are the hosts that all connections have in common that a tap has seen first: one, the two ends of one connection, or none.
func (t *teller) commonHosts(tap uint16) (common []packet.Addr) {
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		if c.FirstTap != tap {
			continue
		}
		ends := []packet.Addr{c.Ends[0].Addr, c.Ends[1].Addr}
		if common == nil {
			common = ends
		}
		if common = slices.DeleteFunc(common, func(a packet.Addr) bool { return !slices.Contains(ends, a) }); len(common) == 0 {
			return nil
		}
	}
	return common
}

// held names the packets that wait for the end of a pause.
func (p *pauseTold) held() string {
	switch {
	case !p.from:
		return "what is sent to " + addresses(p.waits)
	case len(p.waits) == 1:
		return "what " + p.waits[0].String() + " sends"
	}
	return fmt.Sprintf("what %v or %v sends", p.waits[0], p.waits[1])
}

// blamePauses has a pause come first in whose time others made no progress that it may have stopped, and says so in these. It tells of the interruptions, and of what was never answered.
func (t *teller) blamePauses() {
	if !t.timed() {
		return
	}
	for n := range t.storms {
		p := &t.storms[n]
		t.retransmittedMeanwhile(p)
		for _, i := range t.order {
			switch i.Kind {
			case Unanswered, NeverAnswered, Interrupted, Slow, Retransmitting, Loss:
			default:
				continue
			}
			if i.explained || i.within > 0 || !p.covers(i) {
				continue
			}
			p.foremost = true
			i.FitsWith = append([]string{"the pause of " + p.held() + ", see there: it waits meanwhile, and timers run out"}, i.FitsWith...)
			if i.Kind == Interrupted || i.Kind == Unanswered || i.Kind == NeverAnswered {
				p.Incident.storm, i.within = n+1, n+1
			}
		}
		t.lossesWithin(p)
	}
}

// lossesWithin has pauses tell of losses, too, where others stopped meanwhile, and what was retransmitted is counted there.
func (t *teller) lossesWithin(p *pauseTold) {
	if p.Incident.storm == 0 || !p.costsMore {
		return
	}
	for _, i := range t.order {
		if !i.explained && i.within == 0 && t.onlyWhile(p, i) {
			i.within = p.Incident.storm
		}
	}
}

// covers reports whether an incident is of a host that waited for the end of the pause, and most of it lies in the time of that, or shortly after: what had waited goes on then.
func (p *pauseTold) covers(i *Incident) bool {
	if !p.spread && !slices.Contains(p.waits, i.Local.Addr) && !slices.Contains(p.waits, i.Peer.Addr) {
		return false
	}
	return slices.ContainsFunc(p.spans(), func(s link.Lasting) bool {
		return i.Begin <= s.To && i.End >= s.From && 10*(min(i.End, s.To)-max(i.Begin, s.From)) >= most*(i.End-i.Begin)
	})
}

// onlyWhile reports whether all that was retransmitted between the hosts of a loss was so in the time of the pauses, or shortly after, and no NAK asked for it: the answers had waited.
func (t *teller) onlyWhile(p *pauseTold, i *Incident) bool {
	if i.Kind != Loss || t.run.Forgotten.Events > 0 || !p.spread && !slices.Contains(p.waits, i.Local.Addr) && !slices.Contains(p.waits, i.Peer.Addr) {
		return false
	}
	n, spans := 0, p.spans()
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		if f.Rule != rule.EvRetransmission && f.Rule != rule.EvSeqNAK || pairBy(f.Accused.Addr, f.Peer.Addr) != pairBy(i.Local.Addr, i.Peer.Addr) {
			continue
		}
		if n++; f.Rule == rule.EvSeqNAK || !within(spans, f.Time) {
			return false
		}
	}
	return n > 0
}

// within reports whether a time is in one of some spans.
func within(spans []link.Lasting, at int64) bool {
	return slices.ContainsFunc(spans, func(s link.Lasting) bool { return at >= s.From && at <= s.To })
}

// spans are the times of the pauses, and shortly after each.
func (p *pauseTold) spans() (list []link.Lasting) {
	from, to := p.span()
	list = append(list, link.Lasting{From: from, To: to})
	for _, s := range p.Long {
		list = append(list, link.Lasting{From: s.From, To: s.To + aftermath})
	}
	return list
}

// span is the time of the pause, and shortly after.
func (p *pauseTold) span() (from, to int64) {
	from, to = p.Time, p.LastTime+aftermath
	if 2*p.Most < time.Duration(to-from) { // several pauses, between which traffic went on: the longest may cover it
		from, to = p.LongestSince, p.LongestSince+int64(p.Longest)+aftermath
	}
	return from, to
}

// stalledTold is of how many connections at most that a pause stopped it is told how long.
const stalledTold = 4

// withPauses has pauses tell of what made no progress in their time, and of interruptions all that there is to say, with the findings of these.
func (t *teller) withPauses(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		p := &list[n]
		if p.storm == 0 {
			continue
		}
		var stalled []*Incident
		for k := range list {
			if i := &list[k]; i.within == p.storm {
				if i.Kind != Loss {
					stalled = append(stalled, i)
				}
				if i.Kind == Interrupted || i.Kind == Loss { // else there is more to say of it
					merged[i] = true
					p.foundToo(i.Found)
				}
			}
		}
		slices.SortStableFunc(stalled, func(a, b *Incident) int { return cmp.Compare(b.Lost, a.Lost) })
		t.stoppedBy(p, stalled)
	}
	return without(list, merged)
}

// stoppedBy says in a pause what made no progress while a port had the other end of its link pause.
func (t *teller) stoppedBy(i *Incident, stalled []*Incident) {
	worst, connections := stalled[0], connectionsIn(stalled)
	var names []string
	for n, s := range stalled {
		if n < stalledTold {
			names = append(names, t.stoppedIn(i, s, len(stalled) > 1))
		}
		if s.Tap == i.Tap && len(s.Frames) > 0 {
			i.show(s.Frames[0], s.Frames[len(s.Frames)-1])
		}
	}
	if more := len(stalled) - stalledTold; more > 0 {
		names = append(names, number(uint64(more))+" more, likewise")
	}
	others := ""
	if connections > 1 {
		others = ", the longest of " + count(uint64(connections), "connection") + " that stopped"
	}
	after := "; then it went on"
	if worst.Kind != Interrupted {
		after = "; it never was"
	}
	what := fmt.Sprintf("nothing that %v sent to %v was answered", &worst.Local, &worst.Peer)
	if i.holdsFor(worst.Local.Addr) && worst.Kind == Interrupted {
		what = fmt.Sprintf("%v had no answers of %v, which it held back itself,", &worst.Local, &worst.Peer)
	}
	i.What = fmt.Sprintf("%s Meanwhile %s for %s%s%s.", i.What, what, span(int64(worst.Lost)), others, after)
	i.Facts = slices.Insert(i.Facts, 0, Fact{"stopped", strings.Join(names, "; ")})
	i.factsOf(worst)
}

// factsOf adds what an interruption says of its request.
func (i *Incident) factsOf(worst *Incident) {
	for _, f := range worst.Facts {
		if f.Label == "cost" && i.costsMore {
			continue // this is a part of that
		}
		if f.Label == "request" || f.Label == "cost" || f.Label == "answered" || f.Label == "response" {
			i.Facts = append(i.Facts, f)
		}
	}
}

// connectionsIn is on how many connections some interruptions are: each once, which may have stopped in several pauses.
func connectionsIn(list []*Incident) (n int) {
	on := map[[2]Party]bool{}
	for _, s := range list {
		if len(s.on) == s.Connections {
			maps.Copy(on, s.on)
		} else {
			n += s.Connections
		}
	}
	return n + len(on)
}

// stoppedIn names a connection that made no progress in a pause, and whose answers waited. when says that times differ.
func (t *teller) stoppedIn(i, s *Incident, when bool) string {
	name := fmt.Sprintf("%v, which waited for %v, for %s", &s.Local, &s.Peer, span(int64(s.Lost)))
	if i.holdsFor(s.Local.Addr) {
		name = fmt.Sprintf("%v, as answers of %v were held back, for %s", &s.Local, &s.Peer, span(int64(s.Lost)))
	}
	if when && s.Begin >= t.run.First && len(i.held) > 0 && i.says("pauses") {
		name += " from " + t.offset(s.Begin) + " on"
	}
	if s.Connections > 1 {
		name += " (and " + count(uint64(s.Connections-1), "more connection") + " between these hosts)"
	}
	return name
}
