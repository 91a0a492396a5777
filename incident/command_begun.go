package incident

import (
	"fmt"

	"ibwitness/agent"
)

// What shows of a command without an answer that its server has begun it.

// interim tells of the interim response with which a server went on with a command asynchronously, whether it has ended or not.
func (t *teller) interim(i *Incident, o *agent.Operation) {
	if o.Interim == 0 {
		return
	}
	then := "it has the command, and what lacks is the final answer"
	if o.Ended != 0 {
		then = "it had the command, and the time went by after that"
	}
	i.fact("interim", fmt.Sprintf("%v answered it with STATUS_PENDING in frame %d: %s", i.Peer.Addr, o.Interim, then))
	if o.Tap == i.Tap {
		i.show(o.Interim)
	}
}

// hasData tells that the server has asked for the data of the commands that wait.
func hasData(i *Incident, c *agent.Connection) {
	u := c.Upper
	if !fetched(c, u.Oldest) {
		return
	}
	of, them := "this command", "it"
	switch n := u.HasData; {
	case n == u.Open && n > 1:
		of, them = fmt.Sprintf("all %d that are open", n), "them"
	case n > 1:
		of, them = fmt.Sprintf("%d of those that are open, this one among them,", n), "them"
	}
	i.fact("data", fmt.Sprintf("%v has asked for the data of %s by RDMA READ: it has begun %s, and what lacks is the answer",
		i.Peer.Addr, of, them))
}

// callsUsedUp tells that as many calls are open as the server grants, so that the client may send none.
func (t *teller) callsUsedUp(i *Incident, c *agent.Connection) {
	u := c.Upper
	if u.Calls == 0 || u.Open < int(u.Calls) || t.lossy() {
		return
	}
	i.fact("credits", fmt.Sprintf("%d calls are open, as many as %v grants at once (credits of its replies): %v may send no other until one is answered",
		u.Open, i.Peer.Addr, i.Local.Addr))
}

// answeredAlike reports whether the answer to command o is hardly larger than answers that have come: it is a status, and an interim response
// came for it, or answers to others of its opcode or procedure did.
func answeredAlike(u *agent.Upper, o *agent.Operation) bool {
	return o.StatusOnly && (o.Interim != 0 || o.Class < len(u.Classes) && u.Classes[o.Class].Answers >= fewestOfClass)
}

// fetched reports whether the server has asked for the data of command o, and nothing held its READs up.
func fetched(c *agent.Connection, o *agent.Operation) bool {
	e := &c.Ends[1-o.From]
	return o.HasData && e.Trouble == nil && e.Open == 0 && !e.Stalled
}
