package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// takeAtomic carries out an atomic, or an ATOMIC WRITE (section 9.4.5, annex A19).
func (q *queuePair) takeAtomic(p *packet.Packet) {
	f := p.Opcode.Fn()
	access := wqe.RemoteAtomic
	if f == packet.AtomicWrite {
		access = wqe.RemoteWrite
	}
	b, err := q.remote(p.RKey, p.VA, 8, access)
	if err != nil {
		q.refuseFatal(p, packet.NAKRemoteAccess, cq.RemAccessErr)
		return
	}
	s := resource{fn: f, first: p.PSN, last: p.PSN, rkey: p.RKey, va: p.VA, length: p.DMALen, orig: bytes8.Uint64(b)}
	if f != packet.AtomicWrite && q.h.breaks("atomic-not-done") || f == packet.AtomicWrite && q.h.breaks("atomic-write-not-stored") {
		b = make([]byte, 8)
	}
	switch f {
	case packet.CmpSwap:
		if s.orig == p.Compare {
			bytes8.PutUint64(b, p.SwapAdd)
		}
	case packet.FetchAdd:
		bytes8.PutUint64(b, s.orig+p.SwapAdd)
	default:
		copy(b, p.Payload)
	}
	q.keep(s)
	q.accepted(p, 1, true)
	if f == packet.AtomicWrite {
		q.answerRead(&s, p, false)
		return
	}
	q.respond(response{kind: atomic, psn: p.PSN, orig: s.orig})
}
