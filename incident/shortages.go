package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// mostCounted is how many RNR NAKs one request has at most where its RNR retry count is finite.
const mostCounted = 8

// shortage is what a receiver that was not ready cost one requester or several: sums over all of their queue pairs.
type shortage struct {
	pairs              uint64 // queue pairs of requesters
	naks               uint64 // RNR NAKs
	sent, again, bytes uint64 // packets in all, those retransmitted for it, and the payload of these
	worst              uint32 // RNR NAKs of one request, at most
	least, most        uint8  // timer codes of table T4
	longest            int64  // for how long one request waited, nanoseconds, of those that are kept; 0: none is
	frame              uint64 // that acknowledged it
	waits              bool   // a requester was not done with its request when the capture ended
	episodes           string // of the first of them: what is said of these; "": nothing
}

// shortageOf is what a receiver that was not ready cost end from of a connection.
func (t *teller) shortageOf(c *agent.Connection, from int, k *qp.Trouble) shortage {
	r, e := &k.RNR, &c.Ends[from]
	s := shortage{pairs: 1, naks: uint64(r.NAKs), sent: e.Packets, again: k.Refused.Packets, bytes: k.Refused.Bytes, worst: r.MostForRequest, least: r.Least, most: r.Most, waits: e.Stalled, episodes: t.episodes(r)}
	if x := longestRefused(k); x != nil {
		s.longest, s.frame = x.Lost(), x.Frames.Ended
	}
	return s
}

// add adds what it cost others.
func (s *shortage) add(o *shortage) {
	if s.pairs == 0 || o.pairs == 0 {
		return
	}
	s.pairs, s.naks, s.sent, s.again, s.bytes = s.pairs+o.pairs, s.naks+o.naks, s.sent+o.sent, s.again+o.again, s.bytes+o.bytes
	s.worst, s.waits = max(s.worst, o.worst), s.waits || o.waits
	for _, code := range [...]uint8{o.least, o.most} {
		if packet.RNRTimer(code) < packet.RNRTimer(s.least) {
			s.least = code
		}
		if packet.RNRTimer(code) > packet.RNRTimer(s.most) {
			s.most = code
		}
	}
	if o.longest > s.longest {
		s.longest, s.frame = o.longest, o.frame
	}
}

// tell adds what it cost to an incident.
func (s *shortage) tell(t *teller, i *Incident) {
	of := ""
	if s.pairs > 1 {
		of = fmt.Sprintf(", of all %d queue pairs", s.pairs)
	}
	i.fact("timer", rnrTimer(s.least, s.most))
	i.fact("episodes", s.episodes)
	if s.worst > 1 {
		worst := fmt.Sprintf("one request was refused %s", times(uint64(s.worst)))
		if s.worst > mostCounted && s.pairs == 1 {
			worst += ": more than 7, so its requester retries without end (rnr_retry 7)"
		}
		i.fact("worst", worst)
	}
	if s.longest > 0 && t.timed() && !s.waits {
		i.fact("longest", fmt.Sprintf("one request was taken after %s, in frame %d; all were in the end", span(s.longest), s.frame))
	}
	if s.again > 0 {
		i.fact("cost", fmt.Sprintf("%s of %s retransmitted for it (%s), %s of payload%s", number(s.again), count(s.sent, "packet"), share(s.again, s.sent), count(s.bytes, "byte"), of))
	}
}

// sumUp has an incident give the sums of all queue pairs that it tells of, in place of those of one.
func (s *shortage) sumUp(t *teller, i *Incident) {
	if s.pairs < 2 {
		return
	}
	old := i.Facts
	said := []string{"timer", "episodes", "worst", "longest", "cost"}
	if s.episodes != "" {
		s.episodes += " (of " + i.Local.String() + ")"
	}
	i.Facts = nil
	s.tell(t, i)
	for _, f := range old {
		if !slices.Contains(said, f.Label) {
			i.Facts = append(i.Facts, f)
		}
	}
}

// shortages makes incidents one in which one receiver was not ready for several requesters while the one that cost the most time lasted: they are short of the same receives, or of the same program.
func (t *teller) shortages(list []Incident) []Incident {
	of := map[packet.Addr][]*Incident{}
	var order []packet.Addr
	for n := range list {
		if i := &list[n]; i.Kind == NotReady {
			if of[i.Peer.Addr] == nil {
				order = append(order, i.Peer.Addr)
			}
			of[i.Peer.Addr] = append(of[i.Peer.Addr], i)
		}
	}
	merged := map[*Incident]bool{}
	for _, peer := range order {
		best := slices.MaxFunc(of[peer], func(a, b *Incident) int { return cmp.Compare(a.Lost, b.Lost) })
		var others []string
		own := best.short
		for _, i := range of[peer] {
			if i == best {
				continue
			}
			if 2*(min(i.End, best.End)-max(i.Begin, best.Begin)) < best.End-best.Begin {
				i.shortOfQueuePairs(t)
				continue
			}
			merged[i] = true
			best.short.add(&i.short)
			best.Also = append(best.Also, i.Local.Addr)
			others = append(others, i.short.of(i))
			best.Connections += i.Connections
			best.Begin, best.End = min(best.Begin, i.Begin), max(best.End, i.End)
			best.stalled, best.unansweredFrom = best.stalled || i.stalled, earlier(best.unansweredFrom, i.unansweredFrom)
			best.foundToo(i.Found)
		}
		if len(others) == 0 {
			best.shortOfQueuePairs(t)
			continue
		}
		best.What = fmt.Sprintf("%v was not ready for %d hosts at the same time, %s in %s; the one that lost the most time: %s", peer, len(best.Also)+1, times(best.short.naks), span(best.End-best.Begin), best.What)
		best.short.sumUp(t, best)
		also := "also " + enumerate(others)
		if own.pairs > 1 {
			also = own.of(best) + "; " + also
		}
		best.fact("hosts", also)
	}
	return without(list, merged)
}

// of says how often a receiver was not ready for the host of an incident, and how long that took.
func (s *shortage) of(i *Incident) string {
	if s.pairs > 1 {
		return fmt.Sprintf("%v %s on %d queue pairs, up to %v on one", i.Local.Addr, times(s.naks), s.pairs, span(int64(max(i.Lost, i.mostLost))))
	}
	return fmt.Sprintf("%v %s, %v in all", i.Local.Addr, times(s.naks), span(int64(i.Lost)))
}

// shortOfQueuePairs has an incident that tells of several queue pairs of one host give the sums of all.
func (i *Incident) shortOfQueuePairs(t *teller) {
	if i.short.pairs < 2 {
		return
	}
	one := "the one that lost the most time"
	if i.Lost < i.mostLost {
		one = "the first"
	}
	i.What = fmt.Sprintf("%v was not ready for %d queue pairs of %v, %s in %s; %s: %s", i.Peer.Addr, i.short.pairs, i.Local.Addr, times(i.short.naks), span(i.End-i.Begin), one, i.What)
	i.short.sumUp(t, i)
}
