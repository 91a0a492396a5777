package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
)

// left tells of ends that answered each message of their peer, and disconnected before they had answered the last one.
func (t *text) left() (list []string) {
	for _, c := range t.measured() {
		if s := t.leftOn(c); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// leftOn tells of the end that CM had asked for the connection: the one that asked may disconnect when it has what it wants.
func (t *text) leftOn(c *agent.Connection) string {
	asks, serves := &c.Ends[0], &c.Ends[1]
	if c.Closed.At == 0 || c.Closed.By != serves.Addr || asks.Addr == serves.Addr || c.PairedBy != agent.ByCM || !takeTurns(c) {
		return ""
	}
	of, at, frame := c.Timing.Newest()
	if of != 0 || c.Closed.At < at {
		return ""
	}
	return fmt.Sprintf("%v %s, which answered each message of %v %s with one of its own, disconnected in frame %d, %s after the last one (frame %d), which has no answer: its program ended or was killed, unless that message told it to.",
		serves.Addr, qp(serves.QPN, serves.QPNKnown), asks.Addr, qp(asks.QPN, asks.QPNKnown), c.Closed.Frame, span(time.Duration(c.Closed.At-at)), frame)
}
