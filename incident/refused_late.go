package incident

import (
	"fmt"
	"time"

	"ibwitness/agent"
)

// Of how many times as long as is usual, and how long, a command has waited at least when a request for it is refused of which that is told.
const (
	refusedLateTimes = 100
	refusedLate      = 100 * time.Millisecond
)

// namedLongBefore says that the command whose memory a refused request is for was sent long before it, so that its end may have taken the memory
// back.
func (t *teller) namedLongBefore(i *Incident, c *agent.Connection, o *agent.Operation) {
	waited := time.Duration(i.Begin - o.Since)
	if !t.timed() || c.Upper == nil || c.Upper.Answers == 0 || waited < max(refusedLate, refusedLateTimes*c.UsualCommand()) {
		return
	}
	i.fact("late", fmt.Sprintf("the request came %s after the command that had named the memory; usually its answers take %s: %v may have taken "+
		"the memory back meanwhile (a command that was interrupted, or timed out)", span(int64(waited)),
		span(int64(c.UsualCommand())), c.Ends[o.From].Addr))
}
