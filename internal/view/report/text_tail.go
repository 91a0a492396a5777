package report

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// hasTail reports whether it is told of a connection that few requests took long to be answered.
func (t *text) hasTail(c *agent.Connection) bool {
	return slices.ContainsFunc([]int{0, 1}, func(by int) bool {
		r, ok := repliesOf(c, by)
		return ok && r.Tail() && t.tailOf(c, by, &r) != ""
	})
}

// tails tells of connections on which few requests took many times as long as most to be answered: the answers came after long messages on the
// same queue pair, or nothing was sent meanwhile.
func (t *text) tails() (list []string) {
	for _, c := range t.measured() {
		for by := range c.Ends {
			if r, ok := repliesOf(c, by); ok && r.Tail() {
				list = append(list, t.tailOf(c, by, &r))
			}
		}
	}
	return list
}

// repliesOf is how long the messages of the peer of an end took to be answered by it.
func repliesOf(c *agent.Connection, by int) (r timing.Replies, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() || commanded(c) || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil ||
		c.Timing.Ends[0].Reads+c.Timing.Ends[1].Reads > 0 {
		return r, false
	}
	return timing.RepliesOf(&c.Timing.Ends[1-by], &c.Timing.Ends[by])
}

// tailOf says what kept the slow answers of an end; "": that is not known, or the long turns tell it.
func (t *text) tailOf(c *agent.Connection, by int, r *timing.Replies) string {
	e, peer := &c.Ends[by], &c.Ends[1-by]
	s := fmt.Sprintf("Tail: %v %s answers %s of %v %s with one of its own: "+
		"half of them within %s, 99 %% within %s, and %s after %s or longer, at most %s (for a message at %s)",
		e.Addr, qp(e.QPN, e.QPNKnown), count(r.Count, "message"), peer.Addr, qp(peer.QPN, peer.QPNKnown),
		span(r.Usual), span(r.P99), number(r.Slow), span(r.Least), span(r.Most), offset(r.Before.End, t.res.First))
	switch {
	case r.Behind*4 >= r.Slow*3:
		most := uint32(0)
		for _, l := range r.Long {
			most = max(most, l.Bytes)
		}
		which := "All"
		if r.Behind < r.Slow {
			which = number(r.Behind)
		}
		s += fmt.Sprintf(". %s of these came while it was sending long messages on the same queue pair (%s, up to %s), "+
			"and were answered after them: it sends in order there, so that answers wait for those.",
			which, times(uint64(len(r.Long))), size(uint64(most)))
	case r.Nothing == r.Slow && r.Most < timing.LongTurn && acknowledgedWithin(c, 1-by) < r.Least:
		s += ". Between these and their answers it sent no long message on the queue pair, " +
			"and its adapter acknowledged each sooner: its program or host was slow."
	default:
		return ""
	}
	return s + t.besideTail(c, by, r)
}

// acknowledgedWithin is the longest that a SEND or WRITE of an end waited for its ACK.
func acknowledgedWithin(c *agent.Connection, from int) (most time.Duration) {
	for _, op := range [...]wqe.Op{wqe.Send, wqe.Write} {
		if o := c.Timing.Ends[from].Ops[op]; o != nil {
			most = max(most, o.Most)
		}
	}
	return most
}

// besideTail says that answers between the same hosts on another queue pair come soon; "": there is none.
func (t *text) besideTail(c *agent.Connection, by int, r *timing.Replies) string {
	for _, d := range t.measured() {
		for k := range d.Ends {
			if d == c || d.Ends[k].Addr != c.Ends[by].Addr || d.Ends[1-k].Addr != c.Ends[1-by].Addr {
				continue
			}
			if o, ok := repliesOf(d, k); ok && o.Most < r.Least && o.Usual <= 2*r.Usual {
				return fmt.Sprintf(" On its %s it answered all of %s of %v within %s (99 %% within %s).",
					qp(d.Ends[k].QPN, d.Ends[k].QPNKnown), number(o.Count), d.Ends[1-k].Addr, span(o.Most), span(o.P99))
			}
		}
	}
	return ""
}
