package incident

import (
	"fmt"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// refused tells of a NAK that ended a connection, as one chain with what led to it and what followed.
func (t *teller) refused(c *agent.Connection, from int, k *qp.Refusal) {
	i := t.between(Refused, c, from)
	e, peer := &c.Ends[from], &c.Ends[1-from]
	i.Begin, i.End, i.Tap = k.Time, k.Time, k.Tap
	i.show(k.Request.Frame, k.Frame)
	i.What = fmt.Sprintf("%v refused %s of %v: %s. The connection is over.", &i.Peer, article(operation(&k.Request)), &i.Local, refusal(k.Code))
	i.fact("request", request(&k.Request))
	if last := max(e.Last, peer.Last); last > k.Time {
		i.fact("then", "the last packet of the connection came "+span(last-k.Time)+" after the NAK; what was posted is flushed in error")
	} else {
		i.fact("then", "no packet of the connection came after the NAK; what was posted is flushed in error")
	}
	if c.Closed.At > k.Time {
		i.fact("then", fmt.Sprintf("%v disconnected %s later, in frame %d", c.Closed.By, span(c.Closed.At-k.Time), c.Closed.Frame))
		i.show(c.Closed.Frame)
	}
	switch k.Code {
	case packet.NAKRemoteAccess:
		i.FitsWith = []string{"an R_Key that is not valid (any more), or of another protection domain", "an address or length outside the memory region", "a region or queue pair without the right: remote read, write or atomic"}
		i.Next = []string{"which region of " + i.Peer.Addr.String() + fmt.Sprintf(" has R_Key 0x%x, its range and access flags, and when it was deregistered or invalidated", k.Request.RKey)}
	case packet.NAKInvalidRequest:
		i.FitsWith = []string{"an operation that the responder's queue pair does not allow, or more READs and atomics than it has resources for", "a message longer than the receive that was posted", "a misaligned atomic"}
		i.Next = []string{"the length of the receives that " + i.Peer.Addr.String() + " posts, and max_dest_rd_atomic and qp_access_flags of its queue pair"}
	default:
		i.FitsWith = []string{"a fault on the responder: its receive could not be completed locally"}
		i.Next = []string{"completions in error and dmesg on " + i.Peer.Addr.String()}
	}
	t.tell(i, k.Code.String())
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

// rejected tells of connections that the communication manager refused.
func (t *teller) rejected() {
	for k := range t.run.Findings {
		if f := &t.run.Findings[k]; f.Rule == rule.EvReject && f.Class == rule.Event {
			t.tell(rejection(f), f.Detail)
		}
	}
}

// rejection is what the event of a REJ tells.
func rejection(f *rule.Finding) *Incident {
	i := &Incident{
		Kind: Rejected, Certainty: Proven, Local: Party{f.Accused.Addr, f.Accused.QPN, f.Accused.QPNKnown}, Peer: Party{f.Peer.Addr, f.Peer.QPN, f.Peer.QPNKnown}, Connections: 1,
		Begin: f.Time, End: f.Time, Tap: f.Tap,
	}
	i.show(f.Frame)
	i.What = fmt.Sprintf("The connection that %v asked %v for was refused: %s.", i.Local.Addr, i.Peer.Addr, f.Detail)
	i.Next = []string{"whether a process on " + i.Peer.Addr.String() + " listens on the port or service ID", "the log of that process: it, or its kernel, gave the reason"}
	return i
}
