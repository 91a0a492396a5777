package incident

import (
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/qp"
)

// left reports whether end from of a connection had CM disconnect after it had retransmitted the request of stall s, and before that was answered:
// its queue pair was no more.
func left(c *agent.Connection, from int, s *qp.Stall) bool {
	return c.Closed.At >= s.Last && c.Closed.At < s.Ended && closedByPeer(c, 1-from)
}

// stalledUntilLeft reports whether a request of end from of a connection waited when that end had CM disconnect, and was answered only after that.
func stalledUntilLeft(c *agent.Connection, from int) bool {
	x := c.Ends[from].Trouble
	return x != nil && slices.ContainsFunc(x.Longest[:], func(s qp.Stall) bool { return s.Begun != 0 && left(c, from, &s) })
}

// leftBefore says of a stall that its requester had disconnected before the answer came: it has not gone on.
func (t *teller) leftBefore(i *Incident, c *agent.Connection, from int, s *qp.Stall) {
	if !left(c, from, s) {
		return
	}
	const went = "; then it went on."
	late := span(s.Ended - c.Closed.At)
	i.What = strings.TrimSuffix(i.What, ".") + fmt.Sprintf(", %s after %v had disconnected.", late, c.Closed.By)
	if was := i.What; strings.Contains(was, went[:len(went)-1]) {
		i.What = fmt.Sprintf("%s, until %s after %v had disconnected.", was[:strings.Index(was, went[:len(went)-1])], late, c.Closed.By)
	}
	i.show(c.Closed.Frame)
	i.fact("gave up", t.gaveUp(c, from, s))
	i.fact("too late", fmt.Sprintf("what %v sends after the DREQ goes to a queue pair that is no more", i.Peer.Addr))
	t.after(i, c, s)
}
