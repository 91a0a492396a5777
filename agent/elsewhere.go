package agent

import (
	"time"

	"ibwitness/agent/internal/connection"
)

// How many requests an end sends at least, and for how long, without retransmitting one and without an answer in the capture, so that it was
// answered where the tap does not see: ACK timeouts are shorter.
const (
	elsewhereRequests = 8
	elsewhereTime     = 8 * time.Second
)

// answeredElsewhere reports whether a connection is one of which only requests come to the tap, as where a switch floods what goes to another port:
// none of them was retransmitted in a long time. Connection.Elsewhere says the same of what a run returns.
func answeredElsewhere(c *connection.Connection) bool {
	x := &c.Ends[0]
	open, _ := x.SQ.Outstanding()
	again := x.SQ.Restarts > 0 || x.Faults().Retransmissions > 0
	return !c.Paired && c.PairedBy != connection.ByCM && c.Ends[1].Packets() == 0 && forLong(open, again, c.FirstTime, x.SQ.Last.Time)
}

// Elsewhere reports whether the first end of a connection was answered where the tap does not see: the capture holds only requests of it, and none
// was retransmitted in a long time.
func (c *Connection) Elsewhere() bool {
	x := &c.Ends[0]
	again := x.Stalled || x.Retransmissions > 0
	return c.Service.Reliable() && c.PairedBy == NotPaired && c.Ends[1].Packets == 0 && forLong(int(x.Open), again, c.First, x.Last)
}

// forLong reports whether so many requests without an answer, from a time until another, were answered elsewhere; again says that some were
// retransmitted.
func forLong(open int, again bool, first, last int64) bool {
	return open >= elsewhereRequests && !again && last-first >= int64(elsewhereTime)
}
