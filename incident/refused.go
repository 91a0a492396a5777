package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// refused tells of a NAK that ended a connection, as one chain with what led to it and what followed.
func (t *teller) refused(c *agent.Connection, from int, k *qp.Refusal) {
	i := t.between(Refused, c, from)
	e, peer := &c.Ends[from], &c.Ends[1-from]
	i.Begin, i.End, i.Tap = k.Time, k.Time, k.Tap
	i.refused = k.Request.Frame
	i.show(k.Request.Frame, k.Frame)
	i.What = fmt.Sprintf("%v refused %s of %v: %s. The connection is over.", &i.Peer, article(operation(&k.Request)), &i.Local, refusal(k.Code))
	i.fact("request", request(&k.Request, "refused at"))
	switch last := max(e.Last, peer.Last); {
	case !t.timed():
	case last > k.Time:
		i.fact("then", "the last packet of the connection came "+span(last-k.Time)+" after the NAK; what else was posted completes with WR_FLUSH_ERR")
	default:
		i.fact("then", noneAfterNAK)
	}
	if c.Closed.At > k.Time {
		i.fact("then", fmt.Sprintf("%v disconnected%s, in frame %d", c.Closed.By, t.within(" %s later", c.Closed.At-k.Time), c.Closed.Frame))
		i.show(c.Closed.Frame)
	}
	t.reconnectedAfter(i, c, k)
	t.commandRefused(i, c, from, k)
	t.why(i, c, from, k)
	t.tell(i, k.Code.String()+i.cause)
}

// commandRefused tells which command a refused request is for, where its R_Key tells that, or else which one waits.
func (t *teller) commandRefused(i *Incident, c *agent.Connection, from int, k *qp.Refusal) {
	n := namedBy(c, from)
	if r := t.renewed(c, from, k); (n == nil || n.Done) && r != nil && forCommand(k, r) {
		t.refusedNext(i, c, k, &r.Named)
		t.waitingThen(i, c)
		return
	}
	if x := t.keyed(c, from, k); x != nil { // it is not for what had its R_Key before
		t.refusedNext(i, c, k, &x.Named)
		t.waitingThen(i, c)
		return
	}
	defer t.refusedNext(i, c, k, n)
	if n == nil {
		t.waitingThen(i, c)
		return
	}
	if holds(n, k) && (k.Invalidated == nil || !stillInvalidated(c, k)) {
		t.namedLongBefore(i, c, n.Of)
	}
	i.fact("command", namedMemory(n))
	t.openThen(i, c)
}

// namedMemory says which command a refused request is for, where nothing else of what it named is told.
func namedMemory(n *agent.Named) string {
	return fmt.Sprintf("%s, in frame %d, had named memory with this R_Key", n.Of.Name, n.Of.Frame)
}

// refusal says what a NAK says.
func refusal(s packet.Syndrome) string {
	switch s {
	case packet.NAKInvalidRequest:
		return "NAK Invalid Request"
	case packet.NAKRemoteAccess:
		return "NAK Remote Access Error"
	case packet.NAKRemoteOp:
		return "NAK Remote Operational Error"
	}
	return s.String()
}
