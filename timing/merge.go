package timing

import (
	"cmp"
	"slices"

	"ibwitness/verifier"
)

// Merge adds what is known of a connection that turned out to be this one. turned says that the first end of it is the second of this one. What waits for an answer then may have
// had one that nobody could tell whose it was.
func (c *Connection) Merge(gone *Connection, turned bool) {
	for i := range c.Ends {
		from := i
		if turned {
			from = 1 - i
		}
		e, g := &c.Ends[i], &gone.Ends[from]
		e.merge(g)
		for k := range g.open {
			g.open[k].From = i
		}
		e.waiting += g.waiting
		if e.open = append(g.open, e.open...); !e.joined {
			e.next, e.joined, e.quietSince = g.next, g.joined, g.quietSince
		}
		for k := range e.open {
			e.open[k].unsure = true
		}
	}
	c.Exchange.merge(&gone.Exchange, turned)
	if c.Commands == nil {
		c.Commands = gone.Commands
	} else if gone.Commands != nil {
		c.Commands.merge(gone.Commands)
	}
	for _, m := range gone.Messages {
		if turned {
			m.From = 1 - m.From
		}
		c.Messages = append(c.Messages, m)
	}
}

func (e *End) merge(g *End) {
	g.took(len(g.read))
	e.Acked.Merge(&g.Acked)
	e.Read.Merge(&g.Read)
	for op, o := range g.Ops {
		if o == nil {
			continue
		}
		if e.Ops[op] == nil {
			e.Ops[op] = o
			continue
		}
		to := e.Ops[op]
		to.Count, to.Bytes = to.Count+o.Count, to.Bytes+o.Bytes
		to.Retransmitted, to.Incomplete, to.Untimed = to.Retransmitted+o.Retransmitted, to.Incomplete+o.Incomplete, to.Untimed+o.Untimed
		to.Sizes.merge(&o.Sizes)
		to.Answered = max(to.Answered, o.Answered)
		to.Latency.Add(&o.Latency)
		to.Most = max(to.Most, o.Most)
	}
	if g.Gaps != nil {
		if e.Gaps == nil {
			e.Gaps = new(verifier.Histogram)
		}
		e.Gaps.Add(g.Gaps)
	}
	e.Turns.merge(&g.Turns)
	e.Series.merge(&g.Series)
	e.Busy.Merge(&g.Busy)
	e.Active.Join(&g.Active)
	e.mergeSent(g)
	e.Asks = slices.Concat(e.Asks, g.Asks)
	slices.SortStableFunc(e.Asks, func(a, b Sent) int { return cmp.Compare(a.Begin, b.Begin) })
	e.Asks = e.Asks[:min(len(e.Asks), MostAsks)]
	e.Acks.merge(&g.Acks)
	e.Copied.merge(&g.Copied)
	e.Tally.Add(&g.Tally)
	e.Packets, e.Marked, e.Empty, e.Reads = e.Packets+g.Packets, e.Marked+g.Marked, e.Empty+g.Empty, max(e.Reads, g.Reads)
}
