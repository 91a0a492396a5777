package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

// disturbedShare is in which part of a time, one in so many, requests of a connection may have stalled at most where that time is told to be a program's.
const disturbedShare = 10

// ownStalls finds, on connections on which requests were retransmitted or refused, the times in which the transport made progress and yet a program answered nothing for long, or its peer sent it
// nothing to answer: what happened to the requests is not why. A time is not long by which the clock stepped ahead.
func (t *text) ownStalls(step time.Duration) (list []longTurn) {
	for _, c := range t.measured() {
		a, ok := answers(c)
		if !ok || a.Waits == nil || a.Depth != 1 || c.Ends[0].Trouble == nil && c.Ends[1].Trouble == nil || t.missed() != "" {
			continue
		}
		asks, serves, x := &c.Ends[1-a.By], &c.Ends[a.By], &c.Timing.Ends[1-a.By].Turns
		usual := a.Waits.Latency.Quantile(0.5)
		if k, ok := ownOf(c, &a.Waits.Longest, usual, step); ok {
			list = append(list, longTurn{c, a.By, k.Time, k.At, answersEach(c, &a) + fmt.Sprintf("usually %s later, but once %s, until %s (frame %d), while no request waited for a retransmission: the time went by in its program, or where that waits.",
				span(usual), span(k.Time), offset(k.At, t.res.First), k.Frame)})
		}
		if k, ok := ownOf(c, &x.Longest, x.MeanOfAll(), step); ok {
			list = append(list, longTurn{c, 1 - a.By, k.Time, k.At, fmt.Sprintf("%v %s had the answer to all that it had sent %v %s, and sent nothing more for %s, until %s (frame %d): its program had nothing to ask then, or was stopped.",
				asks.Addr, qp(asks.QPN, asks.QPNKnown), serves.Addr, qp(serves.QPN, serves.QPNKnown), span(k.Time), offset(k.At, t.res.First), k.Frame)})
		}
	}
	return list
}

// ownOf returns the longest of some times in which the transport of a connection made progress, where it is far longer than usual.
func ownOf(c *agent.Connection, longest *timing.Longest, usual, step time.Duration) (timing.Took, bool) {
	for _, k := range longest {
		if k.Time >= longestTurn && k.Time >= longTimes*usual && !ofStep(k.Time, step) && progressed(c, k.At-int64(k.Time), k.At) {
			return k, true
		}
	}
	return timing.Took{}, false
}

// progressed reports whether no request of a connection stalled for a good part of a time.
func progressed(c *agent.Connection, from, to int64) bool {
	stalled := int64(0)
	for k := range c.Ends {
		x := c.Ends[k].Trouble
		if x == nil {
			continue
		}
		s := x.Settled(c.Ends[k].Stalled)
		elsewhere := s.Sum.Lost // of those that are not kept it is not known when they were
		for i := range s.Longest {
			l := &s.Longest[i]
			stalled += max(min(l.Since+l.Lost(), to)-max(l.Since, from), 0)
			if l.Total()+uint64(l.NAKs) > 0 { // the others are not among the sum
				elsewhere -= l.Lost()
			}
		}
		stalled += max(elsewhere, 0)
		if s.Now.Active() {
			stalled += max(to-max(s.Now.Since, from), 0)
		}
	}
	return stalled*disturbedShare <= to-from
}
