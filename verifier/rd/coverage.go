package rd

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// shown counts what request p of the newest message of e shows, before the stream of e advances.
func (v *Verifier) shown(e *context, c *qp.Pair, p *packet.Packet) {
	m, in := &e.message, p.Info()
	if p.PSN.Before(e.high) && e.high != e.next {
		m.whole = false
		return
	}
	if p.PSN == 0 && (m.first != 0 || e.before.frame != 0) {
		v.Shown.Wrap(packet.RD, coverage.RequestWrap)
	}
	if in.First || in.Only {
		m.length, m.whole = 0, !m.again
	}
	if m.length += uint32(p.PayloadLen); m.op == wqe.Read {
		m.length = p.DMALen
	}
	if (in.Last || in.Only) && m.whole && !m.resync {
		v.Shown.Message(p.Opcode, m.length, c.PMTU, 1)
	}
}

// recovered counts the recoveries that end with response p, which acknowledges message m.
func (v *Verifier) recovered(e *context, p *packet.Packet, m *message) {
	if m.resync {
		v.Shown.Recovered(packet.RD, coverage.Resynchronised)
	}
	const all = 1<<coverage.SequenceNAK | 1<<coverage.RNRNAK | 1<<coverage.Timeout
	came := func(psn packet.PSN) bool { return !p.PSN.Before(psn) }
	for path, ok := e.paths.End(all, came); ok; path, ok = e.paths.End(all, came) {
		v.Shown.Recovered(packet.RD, path)
	}
}
