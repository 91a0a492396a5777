package uc

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// shown counts what packet p of message w shows.
func (v *Verifier) shown(c *qp.Pair, q *qp.SendQueue, p *packet.Packet, w *wqe.SendWQE) {
	if v.Broken {
		return
	}
	v.Wraps(q, p)
	if w.Has(wqe.Ended) && !w.Has(wqe.Blamed) {
		v.Shown.Message(p.Opcode, stream.Length(w, p), c.PMTU, 1)
	}
	if in := p.Info(); q.Recovery != nil && (in.First || in.Only) && q.Recovery.Paths.Retransmitted(p.PSN) {
		q.Recovery.Paths.End(1<<coverage.DroppedMessage, func(packet.PSN) bool { return true })
		v.Shown.Recovered(c.Service, coverage.DroppedMessage)
	}
}
