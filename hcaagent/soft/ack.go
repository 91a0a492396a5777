package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// response takes a response of the peer (section 9.7.5 and 9.9.2).
func (q *queuePair) response(p *packet.Packet) {
	r := &q.req
	if q.h.fault.is != nil && q.ignores() {
		return
	}
	if !q.sends() || len(r.queue) == 0 && p.PSN != r.una.Add(-1) {
		return
	}
	if p.Has&packet.HasAETH != 0 && p.Syndrome.Reserved() {
		if !q.h.breaks("reserved-as-ack") {
			q.h.count.Dropped++
			return
		}
		p.Syndrome = packet.CreditInvalid
	}
	if r.high.After(r.una) && p.PSN.After(r.high.Add(-1)) && q.h.breaks("unsent-ack-taken") {
		p.PSN, p.Syndrome = r.high.Add(-1), packet.CreditInvalid
	}
	if p.PSN.Before(r.una) || !p.PSN.Before(r.high) { // a ghost, or from the future
		if p.PSN == r.una.Add(-1) {
			r.credit(p)
		}
		r.ignores = q.h.has("old-ack-stuck") && p.PSN.Before(r.una)
		if !p.PSN.Before(r.una) || !q.takesGhost() {
			return
		}
		p.PSN = r.queue[0].last
	}
	r.credit(p)
	was := r.una
	switch f := p.Opcode.Fn(); f {
	case packet.Acknowledge:
		q.acknowledge(p)
	default:
		q.answered(p)
	}
	q.settle()
	if q.state.Sends() && r.una != was {
		q.progress()
	}
}

// takesGhost reports whether a ghost is taken for an ACK of the oldest request, by a fault.
func (q *queuePair) takesGhost() bool {
	r := &q.req
	return q.h.has("ghost-ack-taken") && len(r.queue) > 0 && r.queue[0].begun && !r.queue[0].local() && !r.queue[0].responded() && r.next > 0 && q.h.breaks("ghost-ack-taken")
}

// credit takes the credits of a response (section 9.7.7.2). The limit moves forward only.
func (r *requester) credit(p *packet.Packet) {
	if p.Has&packet.HasAETH == 0 || p.Syndrome.Type() != packet.ACK {
		return
	}
	n, limited := p.Syndrome.Credits()
	limit := p.MSN + n
	if !limited {
		r.credited = false
	} else if !r.credited || (limit-r.limit)&0xFFFFFF < 1<<23 {
		r.credited, r.limit = true, limit&0xFFFFFF
	}
}

// acknowledge takes an Acknowledge: an ACK, an RNR NAK or another NAK.
func (q *queuePair) acknowledge(p *packet.Packet) {
	switch s := p.Syndrome; {
	case s.Type() == packet.ACK:
		if !q.ackTo(p.PSN) {
			q.impliedNAK()
		}
	case s.Type() == packet.RNRNAK:
		if q.ackTo(p.PSN.Add(-1)) {
			q.rnrNAK(s.Value())
		} else { // what is missing before it comes first, and then this request again
			q.req.implied = false
			q.impliedNAK()
		}
	case s == packet.NAKSequence:
		q.ackTo(p.PSN.Add(-1))
		q.req.implied = false
		if q.h.has("nak-not-counted") || q.takeRetry() {
			q.goBack()
			if q.h.shows("retry-late-psn") {
				q.req.pass()
			}
			q.req.skip = q.req.una.Add(1)
		}
	default:
		if q.h.breaks("request-after-fatal") {
			q.h.fault.show = true
			return
		}
		q.ackTo(p.PSN.Add(-1))
		q.settle()
		q.failSend(nakStatus(s))
	}
}

// nakStatus is how the request completes that a NAK refuses (table T5).
func nakStatus(s packet.Syndrome) cq.Status {
	switch s {
	case packet.NAKInvalidRequest:
		return cq.RemInvReqErr
	case packet.NAKRemoteAccess:
		return cq.RemAccessErr
	case packet.NAKRemoteOp:
		return cq.RemOpErr
	}
	return cq.RemInvRDReqErr
}

// ackTo takes everything up to psn as acknowledged that an ACK can acknowledge. It reports false where it passes over a READ or an
// atomic that lacks its own response: that is lost.
func (q *queuePair) ackTo(psn packet.PSN) bool {
	r := &q.req
	for len(r.queue) > 0 {
		w := r.queue[0]
		switch {
		case w.local():
			if !w.done {
				return true
			}
			q.completeHead()
			continue
		case !w.begun || psn.Before(w.first):
			return true
		case w.responded():
			return !psn.After(w.last)
		case psn.Before(w.last):
			if psn = psn.Add(1); psn.After(r.una) {
				r.una = psn
			}
			if r.next == 0 {
				r.off = max(r.off, r.una.Diff(w.first))
			}
			return true
		}
		r.una = w.last.Add(1)
		q.completeHead()
	}
	return true
}

// answered takes a READ response or an ATOMIC Acknowledge.
func (q *queuePair) answered(p *packet.Packet) {
	r := &q.req
	w := r.ofPSN(p.PSN)
	if w == nil {
		return
	}
	if !w.fits(p, q.pmtu()) && !q.h.breaks("bad-response-taken") {
		if q.ackTo(w.first.Add(-1)) && r.una == p.PSN && q.state != qp.Err {
			q.failSend(cq.BadRespErr)
		}
		return
	}
	all := q.ackTo(w.first.Add(-1))
	if q.state == qp.Err { // a completion found its queue full
		return
	}
	if !all || p.PSN != r.una {
		q.impliedNAK()
		return
	}
	switch w.Op {
	case wqe.OpRead:
		q.h.store("read", &w.list, uint64(w.got)*uint64(q.pmtu()), p.Payload)
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		var b [8]byte
		bytes8.PutUint64(b[:], p.OrigData)
		q.h.store("atomic", &w.list, 0, b[:])
	}
	w.got++
	r.una = p.PSN.Add(1)
	if w.got == w.packets {
		q.completeHead()
	}
}

// ofPSN returns the outstanding request that a PSN is of, or nil.
func (r *requester) ofPSN(psn packet.PSN) *work {
	for _, w := range r.queue {
		if w.begun && !w.local() && psn.In(w.first, w.last) {
			return w
		}
	}
	return nil
}

// fits reports whether a response can be the one of its PSN to a request.
func (w *work) fits(p *packet.Packet, pmtu int) bool {
	f, n := p.Opcode.Fn(), len(p.Payload)
	switch w.Op {
	case wqe.OpRead:
		if p.PSN == w.last {
			return (f == packet.ReadRespLast || f == packet.ReadRespOnly) && n == int(w.length)-(w.packets-1)*pmtu
		}
		return (f == packet.ReadRespFirst || f == packet.ReadRespMiddle) && n == pmtu
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		return f == packet.AtomicAck
	case wqe.OpFlush, wqe.OpAtomicWrite:
		return f == packet.ReadRespOnly && n == 0
	}
	return false
}
