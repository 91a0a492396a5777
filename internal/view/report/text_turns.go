package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const (
	fewestTurns = 64
	rareTurns   = 20 // long turns are told where there are no more of them than one in so many
	longTimes   = 20 // times as long as it usually takes
	turnsTold   = 3
)

// turns tells, where times were measured, of ends that answer each message of their peer with one of their own, and at times took long to: requests wait for nothing then, and programs do.
func (t *text) turns() {
	told := 0
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for from := range c.Ends {
			if !slowTurn(c, from) {
				continue
			}
			if told++; told <= turnsTold || t.All {
				t.prose("  ", turnsOf(c, from))
			}
		}
	}
	if told > turnsTold && !t.All {
		t.line("  … and %s so; --all tells every one", count(told-turnsTold, "more end"))
	}
}

// slowTurn reports whether the ends of a connection take turns, and one took long to at times.
func slowTurn(c *agent.Connection, from int) bool {
	if c.Timing == nil || !c.Service.Reliable() || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil {
		return false
	}
	for k := range c.Ends {
		if n := c.Timing.Ends[k].Turns.Count; n < fewestTurns || n < c.Ends[k].Messages*9/10 {
			return false
		}
	}
	x := &c.Timing.Ends[from].Turns
	return x.Long > 0 && x.Long*rareTurns <= x.Count && x.Most >= longTimes*x.Mean()
}

func turnsOf(c *agent.Connection, from int) string {
	e, peer, x := &c.Ends[from], &c.Ends[1-from], &c.Timing.Ends[from].Turns
	return fmt.Sprintf("%v %s answers each message of %v %s with one of its own: usually %s later, but %s %v or more, at most %s (frame %d). Its program or host was slow then, or had nothing to send: no request waited for an ACK.",
		e.Addr, qp(e.QPN, e.QPNKnown), peer.Addr, qp(peer.QPN, peer.QPNKnown), span(x.Mean()), times(x.Long), time.Duration(timing.LongTurn), span(x.Most), x.Frame)
}

// spikes tells, where times were measured, of operations that few of the messages of an end waited long for.
func (t *text) spikes() {
	told := 0
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		if c.Timing == nil || !c.Service.Reliable() {
			continue
		}
		for from := range c.Ends {
			for op, o := range c.Timing.Ends[from].Ops {
				s := spikesOf(c, from, wqe.Op(op), o)
				if s == "" {
					continue
				}
				if told++; told <= turnsTold || t.All {
					t.prose("  ", s)
				}
			}
		}
	}
	if told > turnsTold && !t.All {
		t.line("  … and %d more; --all tells every one", told-turnsTold)
	}
}

// spikesOf says that few of the messages of an operation waited long; "": none did, or many.
func spikesOf(c *agent.Connection, from int, op wqe.Op, o *timing.Operation) string {
	if o == nil {
		return ""
	}
	n, long := o.Latency.Count(), o.Latency.Above(timing.LongTurn)
	usual, most := o.Quantile(0.5), o.Most
	if n < fewestTurns || long == 0 || long*rareTurns > n || most < longTimes*usual {
		return ""
	}
	e, peer := &c.Ends[from], &c.Ends[1-from]
	return fmt.Sprintf("%s of %s of %v %s waited longer than %v for the answer of %v, %s at most, and usually %s: that, or the path to it, stopped at times.",
		number(long), count(n, op.String()), e.Addr, qp(e.QPN, e.QPNKnown), time.Duration(timing.LongTurn), peer.Addr, span(most), span(usual))
}
