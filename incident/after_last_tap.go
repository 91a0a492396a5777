package incident

import (
	"cmp"
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// What several taps have shown, and its receiver asks for, was lost after the last of them: on the link to the receiver, in its adapter or in the host. Where it takes nothing for some time, what all of
// its connections carry then is lost at once, and of what is lost at the end of a message nothing asks for it until a timer runs out: then it did not stop for as long as the timer waits.

const (
	fewestAtLast = 3 // times at which packets of several connections were lost, from which on that tells
	burstsNamed  = 9 // of which it is told when they were
)

// lossAt is when a packet of an end was lost, about.
type lossAt struct {
	time int64
	end  Party
}

// afterLastTap has incidents of losses tell of all that was lost after the last of several taps on the way to one host, on several connections at once, and of the times in which they waited for a timer
// since.
func (t *teller) afterLastTap(list []Incident) []Incident {
	if len(t.run.Taps) < 2 || len(t.run.TapCounts) == 0 || t.run.RDMA == 0 || !t.timed() || t.lossy() || t.run.Forgotten.Events > 0 {
		return list
	}
	var tried []packet.Addr
	for n := range list {
		i := &list[n]
		if !i.losses() || i.sum != nil || slices.Contains(tried, i.Peer.Addr) {
			continue
		}
		tried = append(tried, i.Peer.Addr)
		t.lostAtHost(list, i)
	}
	return list
}

// lostAtHost is afterLastTap of the peer of an incident of losses.
func (t *teller) lostAtHost(list []Incident, i *Incident) {
	s := t.sumOfLosses(i.Peer.Addr, true, anyHost)
	if !slices.Contains(s.others, i.Local.Addr) || s.naks < tellingRounds || s.side() != afterTap || s.against > 0 || s.incast || t.incastOf(s) != "" {
		return
	}
	var ways []way
	for _, a := range s.others {
		ways = append(ways, way{a, s.host})
	}
	last, reached := t.lastTap(ways)
	asked, all := t.askedAt(ways)
	both, whole := t.shownByAll(ways)
	if !reached || !whole || all < tellingRounds || !nineOfTen(asked[last], all) {
		return
	}
	said := t.burstsAtLast(s)
	if said == "" {
		return
	}
	for n := range list {
		if o := &list[n]; o.Kind == Interrupted && o.Peer.Addr == s.host && t.onlyTailsLost(s, o) {
			o.tailsLost, o.gone = true, notGone
		}
	}
	s.lastTap = true
	if !t.lead(i, s, "") {
		return
	}
	i.Facts = slices.Insert(i.Facts, 0, Fact{"bursts", said}, Fact{"shown", both})
	i.fact("hosts", commonLoss(s.host, t.lossesByPair()).said)
}

// shownByAll says how many packets on some ways the taps show that these pass before the last, and that it shows all of them; false: it does not.
func (t *teller) shownByAll(ways []way) (said string, whole bool) {
	packets, last := uint64(0), uint16(0)
	var from []packet.Addr
	for k := range t.run.TapCounts {
		c := &t.run.TapCounts[k]
		taps := chain(c)
		if !slices.Contains(ways, way{c.Src, c.Dst}) || len(taps) == 0 {
			continue
		}
		last = taps[len(taps)-1]
		if c.Packets[last] < c.Packets[taps[0]] {
			return "", false
		}
		if len(taps) > 1 {
			packets, from = packets+c.Packets[taps[0]], withHost(from, c.Src)
		}
	}
	slices.SortFunc(from, packet.Addr.Compare)
	return fmt.Sprintf("%s shows all %s from %s to %v that a tap before it shows, too", t.interfaceOf(last), count(packets, "packet"), someOf(from), ways[0].to), len(from) > 0
}

// tailLost reports whether a stall shows no more than that what was sent last was lost, once, until its timer had it retransmitted: that was answered at once.
func tailLost(x *qp.Stall) bool {
	return x.NAKs == 0 && x.Total() > 0 && x.Rounds[qp.TimerExpired] <= 1 && x.Unseen == 0 && !x.Before && !x.AnswerLost && !x.Acked && !x.Late && x.Ended >= x.Last && x.Ended-x.Last <= askedWithin
}

// stallsTo calls do with the kept stalls of each end that a sum is of.
func (t *teller) stallsTo(s *lossSum, do func(e *agent.End, x *qp.Stall)) {
	for n := range t.run.Connections {
		for from := range t.run.Connections[n].Ends {
			e := &t.run.Connections[n].Ends[from]
			if e.Trouble == nil || !s.ends[party(e)] {
				continue
			}
			k := e.Trouble.Settled(e.Stalled)
			for m := range k.Longest {
				if k.Longest[m].Total() > 0 {
					do(e, &k.Longest[m])
				}
			}
		}
	}
}

// onlyTailsLost reports whether all that an interruption tells of is that the ends of messages were lost.
func (t *teller) onlyTailsLost(s *lossSum, i *Incident) bool {
	found, other := false, i.storm != 0 || i.within != 0 || i.unkept > 0 || len(i.Also) > 0
	t.stallsTo(s, func(e *agent.End, x *qp.Stall) {
		if e.Addr == i.Local.Addr && interrupts(x) && x.Since <= i.End && x.Ended >= i.Begin {
			found, other = true, other || !tailLost(x)
		}
	})
	return found && !other
}

// lossesAt lists when what a sum is of was lost, as far as that is known, in the order of time: when what waited was sent, or a NAK asked for it soon. Of an end of a message of which a NAK comes with a later
// one, no more is kept than how long after it the soonest and the latest did: it was lost then if others were lost at that time.
func (t *teller) lossesAt(s *lossSum) (list []lossAt) {
	kept, late := map[Party][][2]int64{}, map[Party]qp.Tails{}
	t.stallsTo(s, func(e *agent.End, x *qp.Stall) {
		p := party(e)
		if kept[p], late[p] = append(kept[p], [2]int64{x.Since, x.Ended}), e.Trouble.Asked.Tails; x.Rounds[qp.TimerExpired] == 0 || tailLost(x) {
			list = append(list, lossAt{x.Since, p})
		}
	})
	var unsure []lossAt
	for k := range t.run.Findings {
		f := &t.run.Findings[k]
		p := Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown}
		switch {
		case f.Rule != rule.EvSeqNAK || f.Accused.Addr != s.host || !s.ends[p], slices.ContainsFunc(kept[p], func(x [2]int64) bool { return f.Time >= x[0] && f.Time <= x[1] }):
		case late[p].Count == 0:
			list = append(list, lossAt{f.Time, p})
		case late[p].Count <= 2:
			unsure = append(unsure, lossAt{f.Time, p})
		}
	}
	known := list[:len(list):len(list)]
	for _, l := range unsure {
		x := late[l.end]
		for _, at := range [...]int64{l.time, l.time - x.Soonest, l.time - x.Latest} {
			if slices.ContainsFunc(known, func(o lossAt) bool { return max(o.time-at, at-o.time) <= askedWithin }) {
				list = append(list, lossAt{at, l.end})
				break
			}
		}
	}
	slices.SortFunc(list, func(a, b lossAt) int {
		return cmp.Or(cmp.Compare(a.time, b.time), a.end.Addr.Compare(b.end.Addr), cmp.Compare(a.end.QPN, b.end.QPN))
	})
	return list
}

// burstsAtLast says at which times packets of several connections of a sum were lost; "": these are few, or of less than three quarters of what was lost.
func (t *teller) burstsAtLast(s *lossSum) string {
	losses := t.lossesAt(s)
	var at []string
	bursts, within, several, least, most, first := 0, 0, 0, len(losses), 0, 0
	for n := 1; n <= len(losses); n++ {
		if n < len(losses) && losses[n].time-losses[n-1].time <= askedWithin {
			continue
		}
		ends, hosts := map[Party]bool{}, map[packet.Addr]bool{}
		for _, l := range losses[first:n] {
			ends[l.end], hosts[l.end.Addr] = true, true
		}
		if len(ends) > 1 {
			bursts, within, least, most = bursts+1, within+n-first, min(least, len(ends)), max(most, len(ends))
			several += min(len(hosts)-1, 1)
			at = append(at, t.offset(losses[first].time))
		}
		first = n
	}
	if bursts < fewestAtLast || 4*within < 3*len(losses) || 2*within < int(s.naks+s.timers) || len(s.others) > 1 && 2*several < bursts {
		return ""
	}
	if n := len(at) - burstsNamed; n > 0 {
		at = append(at[:burstsNamed], number(uint64(n))+" more")
	}
	of := ""
	if len(s.others) > 1 {
		of = fmt.Sprintf(", %s those of several hosts", times(uint64(several)))
	}
	return fmt.Sprintf("at least %s packets of %s connections were lost within a millisecond%s (%s): %d of the %d losses that NAKs and timers show", times(uint64(bursts)), upTo(least, most), of, enumerate(at), within,
		max(len(losses), int(s.naks+s.timers)))
}
