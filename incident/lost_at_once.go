package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// Several hosts that each send to others may share a link after the tap, as an uplink of their switch: what they lose there when all of them send
// at once has neither a host in common nor a queue pair that is spared.

// lostAtOnce has the first of the incidents of losses tell of all that several hosts lost after the tap on the way to several others, where most of
// it was lost of several of them at the same times; nil: nothing shows that.
func (t *teller) lostAtOnce(list []Incident) *lossSum {
	if len(t.run.Taps) > 1 || t.run.RDMA == 0 || !t.timed() {
		return nil
	}
	s := t.lostAcross(func(*agent.End) bool { return false })
	n := slices.IndexFunc(list, func(i Incident) bool { return i.losses() && i.sum == nil && s.takes(&i) })
	if n < 0 || len(s.senders) < fewestAtOnce || len(s.others) < fewestTogether || !s.tells() || s.side() != afterTap {
		return nil
	}
	if slices.ContainsFunc(s.senders, func(a packet.Addr) bool { return slices.Contains(s.others, a) }) {
		return nil
	}
	bursts, of := t.lossBursts(s)
	if len(bursts) == 0 {
		return nil
	}
	if all := t.lostAcross(func(e *agent.End) bool { return timersIn(e, bursts) }); all.tells() && all.side() == afterTap { // where it is not known
		if b, n := t.lossBursts(all); len(b) > 0 {
			s, bursts, of = all, b, n
		}
	}
	i := &list[n]
	if !t.lead(i, s, t.atOnce(s, bursts)) {
		return nil
	}
	text := fmt.Sprintf("%s packets of several of these hosts were lost within a millisecond, each to another host: %s", times(uint64(len(bursts))), of)
	if timer := t.shortestTimerOf(s); timer > 0 {
		text += fmt.Sprintf("; these timers wait for %s or longer", span(timer))
	}
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "goodput" })
	i.Facts = slices.Insert(i.Facts, 0, Fact{"together", text})
	i.FitsWith = []string{"one full queue or link after the tap that all of this takes, as of an uplink of their switch, and that drops packets, as no flow control holds these hosts back"}
	i.Next = []string{
		"what the switch ports after the tap that all of this takes, as uplinks, discard (ethtool -S)",
		"priority flow control (PFC) and ECN of these ports for this traffic", "whether these hosts can use several uplinks, or send one after the other",
	}
	return s
}

// lossBursts is when most of a sum was lost at the same times, of many hosts, and how much of it was; nil: it was not so.
func (t *teller) lossBursts(s *lossSum) (bursts [][2]int64, said string) {
	var losses []lostOf
	for to, naks := range t.sequenceNAKs() {
		for _, l := range naks {
			if s.receives(to) && slices.Contains(s.senders, l.from) {
				losses = append(losses, l)
			}
		}
	}
	losses = t.withTimers(s, losses)
	bursts, within, most, _ := burstsOfLosses(losses)
	of := max(int(s.naks+s.timers), len(losses))
	if len(bursts) < fewBursts || most < fewestAtOnce || 4*within < 3*of {
		return nil, ""
	}
	return bursts, fmt.Sprintf("%d of %d NAKs and timers are for what up to %d of them had sent then", within, of, most)
}

// timersIn reports whether only timers had an end retransmit, and what they did it for was sent while others lost packets.
func timersIn(e *agent.End, bursts [][2]int64) bool {
	if e.Trouble == nil {
		return false
	}
	k := e.Trouble.Settled(e.Stalled)
	if p := placesOf(&k); p.rest == 0 || p.rest != uint32(k.Sum.Total()) {
		return false
	}
	n := uint32(0)
	for m := range k.Longest {
		x := &k.Longest[m]
		if x.Total() > 0 && slices.ContainsFunc(bursts, func(b [2]int64) bool { return x.Since >= b[0]-askedWithin && x.Since <= b[1]+askedWithin }) {
			n += uint32(x.Total())
		}
	}
	return n == uint32(k.Sum.Total())
}

// lostAcross is the sum of what was lost after the tap, from all hosts that lost something there, or too, to all that it was sent to.
func (t *teller) lostAcross(too func(e *agent.End) bool) *lossSum {
	s := &lossSum{ends: map[Party]bool{}, apart: map[pair]bool{}}
	each := func(do func(n, from int)) {
		for n := range t.run.Connections {
			c := &t.run.Connections[n]
			for from := range c.Ends {
				if c.Service.Reliable() && c.Ends[0].Addr != c.Ends[1].Addr {
					do(n, from)
				}
			}
		}
	}
	each(func(n, from int) {
		c := &t.run.Connections[n]
		if before, after, _, _ := t.lostFrom(c, from); after > before || before+after == 0 && too(&c.Ends[from]) {
			s.senders, s.others = withHost(s.senders, c.Ends[from].Addr), withHost(s.others, c.Ends[1-from].Addr)
		}
	})
	each(func(n, from int) {
		c := &t.run.Connections[n]
		if !slices.Contains(s.senders, c.Ends[from].Addr) || !slices.Contains(s.others, c.Ends[1-from].Addr) {
			return
		}
		if s.all++; s.take(c) {
			s.lossy++
		} else if lost(&c.Ends[0])+lost(&c.Ends[1]) > 0 {
			s.apart[pairBy(c.Ends[0].Addr, c.Ends[1].Addr)] = true
		}
	})
	slices.SortFunc(s.senders, packet.Addr.Compare)
	slices.SortFunc(s.others, packet.Addr.Compare)
	return s
}

// receives reports whether what was lost went to a host.
func (s *lossSum) receives(a packet.Addr) bool {
	if len(s.senders) > 0 {
		return slices.Contains(s.others, a)
	}
	return a == s.host
}

// atOnce says from when on something was lost, how many hosts sent then at the same time, and before, and how much of what they sent are copies.
func (t *teller) atOnce(s *lossSum, bursts [][2]int64) string {
	copies := fmt.Sprintf("; %s of %s (%s) are copies", number(s.packets), count(s.sent, "packet"), share(s.packets, s.sent))
	hosts := map[int64]map[packet.Addr]bool{} // that sent, by window
	for n := range t.run.Connections {
		c := &t.run.Connections[n]
		for from := range c.Ends {
			if c.Timing == nil || !s.ends[party(&c.Ends[from])] {
				continue
			}
			for _, w := range c.Timing.Ends[from].Busy.Windows {
				if hosts[w.At] == nil {
					hosts[w.At] = map[packet.Addr]bool{}
				}
				hosts[w.At][c.Ends[from].Addr] = true
			}
		}
	}
	first := bursts[0][0] / timing.BusyWidth
	then, before := 0, 0
	for at, of := range hosts {
		switch {
		case at >= first-1 && at <= bursts[0][1]/timing.BusyWidth:
			then = max(then, len(of))
		case at < first-1:
			before = max(before, len(of))
		}
	}
	if then < fewestAtOnce || then <= before {
		return copies
	}
	earlier := ""
	if before > 0 {
		earlier = fmt.Sprintf(", and at most %d had before", before)
	}
	return fmt.Sprintf(", from %s on, when %d of these hosts sent at once%s%s", t.offset(bursts[0][0]), then, earlier, copies)
}
