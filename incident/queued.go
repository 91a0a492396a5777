package incident

import (
	"ibwitness/agent"
)

// When a slow command is taken for one that waited for the data of others: how many times as long as its like in the mean it took at most, and
// what share of the time the messages with
// which its peer moves data waited at least.
const (
	queuedTimes = 4
	movingShare = 0.75
)

// queued reports whether a slow command waited for the data of others: its peer moved that all the time, as fast as at other times, and waited
// for it, and others of its kind take about as long. That is the
// throughput of the link or of a host, and no server that waits for anything else.
func queued(c *agent.Connection, o *agent.Operation) bool {
	u := c.Upper
	if o.Ahead == 0 || c.Timing == nil {
		return false
	}
	took, n := u.Took, u.Answers
	if o.Class < len(u.Classes) {
		took, n = u.Classes[o.Class].Took, u.Classes[o.Class].Answers
	}
	if n == 0 || (o.Ended-o.Since) > queuedTimes*int64(took)/int64(n) {
		return false
	}
	s, waited := &c.Timing.Ends[1-o.From].Series, float64(0)
	for k := range s.Slots {
		from := s.Start + int64(k)*s.Width
		if both := min(from+s.Width, o.Moved.At) - max(from, o.Since); both > 0 {
			waited += float64(s.Slots[k].Took) * float64(both) / float64(s.Width)
		}
	}
	return waited >= movingShare*float64(o.Moved.At-o.Since)
}
