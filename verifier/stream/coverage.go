package stream

import (
	"ibwitness/coverage"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Wraps counts that the PSN of the requests of q wraps with p, a new one: the stream was joined before.
func (v *Verifier) Wraps(q *qp.SendQueue, p *packet.Packet) {
	if p.PSN != 0 || q.First == 0 {
		return
	}
	s, in := p.Opcode.Service(), p.Info()
	v.Shown.Wrap(s, coverage.RequestWrap)
	if op, ok := coverage.OpOf(p.Opcode.Fn()); ok && (in.Middle || in.Last) {
		v.Shown.Wrap(s, coverage.SendWrap+coverage.Wrap(op))
	}
}

// Length is how long a message is, in bytes, which has ended with p.
func Length(w *wqe.SendWQE, p *packet.Packet) uint32 {
	switch {
	case w.Op == wqe.Read:
		return w.Length
	case w.Op.Responded():
		return uint32(p.PayloadLen) // of one packet
	}
	return w.Got()
}
