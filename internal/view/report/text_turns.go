package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
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
