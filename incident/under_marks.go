package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/packet"
)

// What is lost before the tap of what is sent to a host follows the congestion on the way to it, where the host answers no marks, though another
// does, or where it was lost when many sent at once: the queue that marks
// is the one that drops.

// underMarks has congestion that losses before the tap follow tell of these, and of the stalls that they led to.
func (t *teller) underMarks(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		s, incast := t.lossesUnder(i)
		if s == nil {
			continue
		}
		var stalls []*Incident
		others := len(merged)
		begin, end := i.Begin, i.End
		if t.run.Forgotten.Events > 0 { // of marks the first are kept
			end = t.run.Last
		}
		for m := range list {
			o := &list[m]
			if merged[o] || o.Peer.Addr != i.Peer.Addr || !s.between(o) || o.Begin > end || o.End < begin {
				continue
			}
			if s.stalled(o) {
				stalls = append(stalls, o)
			} else if !o.ofMarkedOnly() {
				continue
			}
			i.includes(o)
			merged[o] = true
		}
		if len(merged) > others {
			i.led, i.costs = true, time.Duration(s.lost)
			i.costOfLosses(s, t.timed())
			i.stalls(stalls)
			if incast != "" {
				t.overflows(i, s, incast)
			}
		}
	}
	return withMerged(list, merged)
}

// lossesUnder is what was lost of what is sent to a receiver that congestion is told of, and what shows that it was lost when many sent at once;
// nil: nothing was, or not before the tap, where marks come from, or its
// cause is known to be another, or may be.
func (t *teller) lossesUnder(i *Incident) (s *lossSum, incast string) {
	if i.Kind != Congestion || !i.unanswered && len(i.Also)+1 < fewestAtOnce {
		return nil, ""
	}
	s = t.sumOfLosses(i.Peer.Addr, true, func(a packet.Addr) bool { return a == i.Local.Addr || slices.Contains(i.Also, a) })
	if s.lossy == 0 || s.side() != beforeTap || t.damagedOn(s) || s.overtaken {
		return nil, ""
	}
	if i.unanswered {
		return s, ""
	}
	if incast = t.incastBursts(s); incast == "" || slices.ContainsFunc(s.others, func(a packet.Addr) bool { return !t.marked[way{a, s.host}] }) {
		return nil, ""
	}
	return s, incast
}

// overflows has congestion tell of losses when many sent at once, as incast shows.
func (t *teller) overflows(i *Incident, s *lossSum, incast string) {
	of := "each of these hosts"
	if len(s.others) <= len(i.Also) {
		of = fmt.Sprintf("%d of these hosts", len(s.others))
	}
	i.What = fmt.Sprintf("%s; packets of %s were lost before the tap, too, at least %s, when many of them sent at once.",
		strings.TrimSuffix(i.What, "."), of, times(uint64(s.before)))
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "dropped" }) // which the sum says
	at := 1 + slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "lost" })
	facts := []Fact{{"incast", incast}}
	for _, f := range []Fact{{"timers", t.timersFor(s)}, {"missing", s.gaps()}} {
		if f.Text != "" {
			facts = append(facts, f)
		}
	}
	i.Facts = slices.Insert(i.Facts, at, facts...)
	fits := fmt.Sprintf("incast: a queue before the tap, as that of the switch port to %v, which marks and then overflows when many "+
		"send to it at once, as no flow control holds them back", s.host)
	next := fmt.Sprintf("what the switch port to %v, and those on the way to it, discard for lack of buffer (ethtool -S), and priority "+
		"flow control (PFC) of these ports for this traffic", s.host)
	if strings.HasSuffix(i.FitsWith[0], "(incast)") {
		i.FitsWith, i.Next = []string{fits}, slices.Insert(i.Next, 0, next)
	} else { // of what they send one by one more is known
		i.FitsWith, i.Next = append(i.FitsWith, fits), append(i.Next, next)
	}
}

// timersFor says how often only a timer brought what a sum lost before the tap; "": never.
func (t *teller) timersFor(s *lossSum) string {
	unseen, timer := uint64(0), int64(0)
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e := &t.run.Connections[n].Ends[from]
			if !s.ends[party(e)] {
				continue
			}
			if p := placesOf(e.Trouble); p.unseen > 0 {
				if unseen += uint64(p.unseen); e.Timer > 0 && (timer == 0 || e.Timer < timer) {
					timer = e.Timer
				}
			}
		}
	}
	if timer == 0 || !t.timed() {
		return ""
	}
	return fmt.Sprintf("%s one of %s or longer had to run out for what the tap had not seen, as for the end of a message: nothing comes "+
		"after it, so that its receiver cannot ask for it", times(unseen), span(timer))
}

// ofMarkedOnly reports whether an incident is of losses of what hosts send that is marked, whose cause is not known to be another.
func (i *Incident) ofMarkedOnly() bool {
	return (i.Kind == Loss || i.Kind == Retransmitting) && i.ofMarked && !i.ofTrimmed && !i.again.late && !i.oneSided && i.within == 0
}

// costOfLosses says what was lost of what an incident tells of, and what that cost.
func (i *Incident) costOfLosses(s *lossSum, timed bool) {
	cost := count(s.bytes, "byte") + " of payload retransmitted"
	if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "cost" }); n >= 0 {
		cost = i.Facts[n].Text + ", " + count(s.bytes, "byte") + " of payload"
		i.Facts = slices.Delete(i.Facts, n, n+1)
	}
	if timed && s.lost > 0 {
		cost = fmt.Sprintf("%s without progress in all, up to %s at a time; %s", span(s.lost), span(s.longest), cost)
	}
	asked := count(uint64(s.naks), "PSN sequence NAK")
	if s.sentNAKs > s.naks {
		asked = fmt.Sprintf("%s of retransmission by %s", count(uint64(s.naks), "round"), count(uint64(s.sentNAKs), "PSN sequence NAK"))
	}
	if s.timers > 0 {
		asked += ", " + count(uint64(s.timers), "timeout")
	}
	lost := fmt.Sprintf("before the tap, at least %s on %s (%s)", times(uint64(s.before)), count(uint64(s.lossy), "connection"), asked)
	i.Facts = slices.Insert(i.Facts, 0, Fact{"cost", cost}, Fact{"lost", lost})
}
