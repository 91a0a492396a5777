package ud

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
)

// shown counts what a datagram of end shows.
func (v *Verifier) shown(end *qp.QP, p *packet.Packet) {
	if v.Show(p); v.Broken {
		return
	}
	pmtu := uint32(0)
	if end.Knows(qp.KnowsPMTU) {
		pmtu = end.Attr.PMTU
	}
	v.Shown.Message(p.Opcode, uint32(p.PayloadLen), pmtu, 1)
	if p.PSN == 0 && end.SQ.Last.PSN == packet.PSNMask {
		v.Shown.Wrap(packet.UD, coverage.RequestWrap)
	}
}
