package incident

import (
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/qp"
	"ibwitness/timing"
)

// Of how many messages it must be known how long their ACKs took, so that what is usual on a connection is, and for how many times as long as that an answer is not held back.
const (
	usualAcks  = 4
	usualTimes = 2
)

// heldBack reports whether the answer that ended a stall of end from of a connection came long after the last retransmission: it was not that which brought it, or the answer to that could not leave at once. On a
// long path each answer takes long.
func heldBack(c *agent.Connection, from int, s *qp.Stall) bool {
	late := s.Ended - s.Last
	return s.Total() > 0 && s.Ended != 0 && late > int64(time.Millisecond) && late*tenth > (s.Last-s.Since)/int64(s.Total()) && late > usualTimes*int64(usualAck(c, from))
}

// usualAck is how long the ACKs take that end from of a connection asks for, in the median of the messages of which no packet was retransmitted; 0: that is not known.
func usualAck(c *agent.Connection, from int) time.Duration {
	if c.Timing == nil {
		return 0
	}
	list := c.Timing.Ends[from].Acks.List
	if len(list) < usualAcks {
		return 0
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b timing.AckWait) int { return int(a.Took - b.Took) })
	return list[len(list)/2].Took
}
