package cq

import (
	"math"

	"ibwitness/hcaagent"
)

// clock is what is known of the difference between the clock of the packets and that of a log: lo … hi nanoseconds are to be added to
// the log's. A request leaves after it was posted; an answer is on the wire before the completion. Where these contradict each other, hi
// holds, which only posts bound: an adapter cannot send what has not been posted.
type clock struct {
	lo, hi int64
	slack  int64 // how far clocks and capture may be off beyond that
	exact  bool
	trust  bool // hi is known, and few completions contradict it
}

// Allowances for clocks that run apart and for frames that several queues of a card recorded.
const (
	slackBase    = 500_000 // 500 µs
	slackRate    = 10_000  // one part of
	slackRecord  = 20_000  // 20 µs
	slackSending = 100_000_000
)

// align finds the interval of one log.
func (a *Agent) align(s *Source) {
	c := &s.clock
	if s.exact {
		*c = clock{exact: true, trust: true}
		return
	}
	c.lo, c.hi = math.MinInt64, math.MaxInt64
	var lower []int64
	begin, end := int64(math.MaxInt64), int64(math.MinInt64)
	for _, q := range a.lives {
		if q.src != s {
			continue
		}
		for _, w := range q.sends {
			if m := q.out.find(w.first); m != nil && !w.local() && q.out.anchor {
				c.hi = min(c.hi, m.begin.time-w.event.Time)
			}
			if at, ok := q.answered(w); ok && w.done != nil && w.done.Completion.Status == hcaagent.Success {
				lower = append(lower, at.time-w.done.Time)
			}
			begin, end = min(begin, w.event.Time), max(end, w.event.Time)
		}
		q.pairReceives(func(m *message, r *receive, t *taken) {
			if at, ok := q.in.ackOf(m.last()); ok && r != nil {
				c.hi = min(c.hi, at.time-r.event.Time)
			}
			if t != nil {
				lower = append(lower, m.end.time-t.event.Time)
				begin, end = min(begin, t.event.Time), max(end, t.event.Time)
			}
		})
	}
	c.slack = slackBase
	if end > begin {
		c.slack += (end - begin) / slackRate
	}
	bad := 0
	for _, l := range lower {
		c.lo = max(c.lo, l)
		if c.hi != math.MaxInt64 && l > c.hi+c.slack {
			bad++
		}
	}
	c.trust = c.hi != math.MaxInt64 && bad*4 <= len(lower)
}

// before reports whether an event is proven to lie before a time of the capture.
func (c *clock) before(t, packet int64) bool {
	return c.trust && t+c.hi+c.slack < packet
}

// after reports whether an event is proven to be later than a time of the capture.
func (c *clock) after(t, packet int64) bool {
	if c.exact {
		return t > packet
	}
	return c.trust && c.lo != math.MinInt64 && t+c.lo-c.slack > packet
}

// mayBeAfter reports whether an event may be later than a time of the capture.
func (c *clock) mayBeAfter(t, packet int64) bool {
	if c.exact {
		return t > packet
	}
	if c.hi == math.MaxInt64 {
		return true
	}
	return t+c.hi+c.slack > packet
}

// answered returns the response that a send request waits for.
func (q *queuePair) answered(w *work) (where, bool) {
	switch {
	case w.local() || !q.reliable() || !q.out.anchor || w.last() < q.out.joined:
		return where{}, false
	case w.response():
		if m := q.out.find(w.first); m != nil && m.first == w.first && m.read != nil && m.read.whole {
			return m.read.at, true
		}
		return where{}, false
	}
	return q.out.ackOf(w.last())
}
