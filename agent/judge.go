package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
)

// judge has the verifiers of a transport agent judge what the table of its connections finds.
type judge struct {
	*verifier.Verifier
	t *Transport
}

// Message has the service agent of a connection verify a packet of it.
func (j judge) Message(c *connection.Connection, from int, p *packet.Packet) {
	j.t.services[c.Service].packet(c, from, p)
}

// LifeAt asks the events, where there are any.
func (j judge) LifeAt(a packet.Addr, qpn uint32, at int64) qp.Life {
	if j.t.states == nil {
		return qp.LifeUnknown
	}
	return j.t.states.At(a, qpn, at)
}

func (j judge) Renumber(a, peer packet.Addr, told, number uint32) {
	j.t.talks.Renumber(a, peer, told, number)
}

func (j judge) Mistold(a, peer packet.Addr, told, number uint32, frame uint64, sure bool) {
	j.t.talks.Mistold(a, peer, told, number, frame, sure)
}
