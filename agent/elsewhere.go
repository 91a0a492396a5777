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
// none of them was retransmitted in a long time.
func answeredElsewhere(c *connection.Connection) bool {
	q := &c.Ends[0].SQ
	n, _ := q.Outstanding()
	return !c.Paired && c.PairedBy != connection.ByCM && c.Ends[1].Packets() == 0 && n >= elsewhereRequests && q.Restarts == 0 && c.Ends[0].Faults().Retransmissions == 0 &&
		q.Last.Time-c.FirstTime >= int64(elsewhereTime)
}

// Elsewhere reports whether the first end of a connection was answered where the tap does not see: the capture holds only requests of it, and none
// was retransmitted in a long time.
func (c *Connection) Elsewhere() bool {
	e := &c.Ends[0]
	return c.Service.Reliable() && c.PairedBy == NotPaired && c.Ends[1].Packets == 0 && e.Open >= elsewhereRequests && e.Retransmissions == 0 && !e.Stalled && e.Last-c.First >= int64(elsewhereTime)
}
