package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/header"
)

// judge has the verifiers of a transport agent judge what the table of its connections finds.
type judge struct {
	*header.Verifier
	t *Transport
}

// Message has the service agent of a connection verify a packet of it.
func (j judge) Message(c *connection.Connection, from int, p *packet.Packet) {
	j.t.services[c.Service].Packet(&c.Pair, from, p)
	if c.Service == packet.RC && headed(c, &c.Ends[from&1], p.Opcode) {
		j.t.head(c, from, p)
	}
	if j.t.timings != nil {
		j.t.timings.packet(c, from, p)
	}
}

// Merged takes over what is known of the protocol above, and of messages.
func (j judge) Merged(to, gone *connection.Connection, from int) {
	j.t.uppers.merge(to, gone, from)
	if j.t.timings != nil {
		j.t.timings.merge(to, gone, from)
	}
}

// WrongService has it report a packet of another service.
func (j judge) WrongService(c *qp.Pair, p *packet.Packet, after uint64) {
	j.t.services[c.Service].TakeWrongService(c, p, rule.Violation, after)
}

// Unfollowed takes a packet that is verified no further: it may have a mark.
func (j judge) Unfollowed(p *packet.Packet) { j.t.congestion.Unfollowed(p) }

// Reconnected takes the first packet of another queue pair that has the number of one of a connection.
func (j judge) Reconnected(c *qp.Pair, from int, first *packet.Packet) {
	j.t.rc.Reconnected(c, from, first)
}

// PathMTU takes what both directions of a connection have shown.
func (j judge) PathMTU(c *qp.Pair, pmtu uint32) { j.t.rc.PathMTU(c, pmtu) }

// LifeAt asks the events, where there are any.
func (j judge) LifeAt(a packet.Addr, qpn uint32, at int64) qp.Life {
	if j.t.states == nil {
		return qp.LifeUnknown
	}
	return j.t.states.At(a, qpn, at)
}

func (j judge) Renumber(a, peer packet.Addr, cmQPN, number uint32) {
	j.t.talks.Renumber(a, peer, cmQPN, number)
}

func (j judge) QPNMismatch(a, peer packet.Addr, cmQPN, number uint32, frame uint64, sure bool) {
	j.t.talks.QPNMismatch(a, peer, cmQPN, number, frame, sure)
}
