package incident

import (
	"fmt"
	"time"

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
	i.refused = k.Request.Frame
	i.show(k.Request.Frame, k.Frame)
	i.What = fmt.Sprintf("%v refused %s of %v: %s. The connection is over.", &i.Peer, article(operation(&k.Request)), &i.Local, refusal(k.Code))
	i.fact("request", request(&k.Request))
	if last := max(e.Last, peer.Last); last > k.Time {
		i.fact("then", "the last packet of the connection came "+t.span(last-k.Time)+" after the NAK; what else was posted completes with WR_FLUSH_ERR")
	} else {
		i.fact("then", "no packet of the connection came after the NAK; what else was posted completes with WR_FLUSH_ERR")
	}
	if c.Closed.At > k.Time {
		i.fact("then", fmt.Sprintf("%v disconnected %s later, in frame %d", c.Closed.By, t.span(c.Closed.At-k.Time), c.Closed.Frame))
		i.show(c.Closed.Frame)
	}
	t.command(i, c)
	t.why(i, c, from, k)
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

// connectWait is for how long a REQ waits that does not tell, nanoseconds.
const connectWait = int64(4300 * time.Millisecond)

// ignored tells of requests for a connection that nothing answered.
func (t *teller) ignored() {
	for k := range t.run.REQs {
		q := &t.run.REQs[k]
		wait := q.Wait
		if wait == 0 {
			wait = connectWait
		}
		if q.Times < 2 && t.run.Last-q.Last < wait {
			continue
		}
		i := &Incident{
			Kind: Ignored, Certainty: Proven, Local: Party{Addr: q.From}, Peer: Party{Addr: q.To}, Connections: 1, Begin: q.First, End: t.run.Last, Ongoing: true,
			Lost: time.Duration(t.run.Last - q.First), Tap: q.Tap,
		}
		i.show(q.Frame)
		i.What = fmt.Sprintf("%v asked %v for a connection (REQ) %s in %s; nothing answered.", q.From, q.To, times(uint64(q.Times)), t.span(q.Last-q.First))
		i.fact("service", fmt.Sprint(q.Service))
		t.peer(i, &agent.Connection{}, 0, q.First)
		i.FitsWith = []string{"a host that is down or does not run RDMA", "a route, VLAN, GID or firewall (UDP port 4791) that keeps the REQ from " + q.To.String() + ", or its answer from " + q.From.String()}
		i.Next = []string{"ping and rping from " + q.From.String() + " to " + q.To.String(), "rdma link on " + q.To.String()}
		t.tell(i, "")
	}
}
