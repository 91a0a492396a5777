package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ibwitness/agent"
)

// From how many commands on, and from which mean or which longest time on, it is told how long the commands of a connection took.
const (
	fewestCommands = 16
	commandMean    = time.Millisecond
	commandLongest = 10 * time.Millisecond
	commandsTold   = 3
)

// commands tells how long the peer of a connection took to answer the commands of the protocol above: that is not the network, where requests were acknowledged meanwhile.
func (t *text) commands() {
	var list []*agent.Connection
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		u := c.Upper
		if u == nil || u.Answers < fewestCommands || u.Slow > 0 || c.Ends[0].Trouble != nil || c.Ends[1].Trouble != nil { // else incidents tell it
			continue
		}
		if longest := time.Duration(u.Slowest.Ended - u.Slowest.Since); u.Took/time.Duration(u.Answers) >= commandMean || longest >= commandLongest {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *agent.Connection) int { return cmp.Compare(b.Upper.Took, a.Upper.Took) })
	for k, c := range list {
		if k == commandsTold && !t.All {
			t.line("  … and on %s so; --all tells every one", count(len(list)-k, "more connection"))
			return
		}
		u, o := c.Upper, c.Upper.Slowest
		local, peer := &c.Ends[o.From], &c.Ends[1-o.From]
		t.prose("  ", fmt.Sprintf("%v took %s in the mean to answer %s of %v %s (%s), at most %s (%s, frames %d to %d)%s.",
			peer.Addr, span(u.Took/time.Duration(u.Answers)), count(u.Answers, "command"), local.Addr, qp(local.QPN, local.QPNKnown), u.Protocol,
			span(time.Duration(o.Ended-o.Since)), o.Name, o.Frame, o.Answer, programs(c)))
	}
}

// programs says that the time which commands of a connection took is not that of the network, where requests were answered much sooner.
func programs(c *agent.Connection) string {
	most := slowestOf(c)
	u := c.Upper
	if longest := time.Duration(u.Slowest.Ended - u.Slowest.Since); most == 0 || lateTimes*most > longest {
		return ""
	}
	return fmt.Sprintf(", while no request on the connection waited longer than %s for its own answer: the time went by in its program, or at its disks", span(most))
}
