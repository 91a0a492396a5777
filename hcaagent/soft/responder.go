package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// refusal is what a responder waits for after a NAK.
type refusal uint8

const (
	nothing  refusal = iota
	sequence         // the expected PSN, which was lost
	notReady         // the expected PSN, when the requester's RNR timer has run out
)

// responder is the state of the half that answers. Invariant: epsn is the PSN of the next new request.
type responder struct {
	epsn packet.PSN
	msn  uint32
	last packet.PSN // of the newest request carried out that an ACK may name
	nak  refusal

	open  wqe.Op // SEND or WRITE whose last packet is to come
	srq   uint32 // that it names, on XRC
	taken *receive
	got   uint32 // bytes of the open message
	dma   uint32 // of an open WRITE
	write []byte

	saved  []resource // READs and atomics, oldest first
	out    []response
	limits bool       // the next ACK gives credits, by a fault
	none   bool       // the newest positive ACK gave no credit
	gave   packet.PSN // its PSN
	count  uint32     // and its MSN
}

// receive is a receive request that a message has taken.
type receive struct {
	wqe.ReceiveRequest
	list list
	room [1][]byte
	told bool // a fault has completed it before its time
}

// resource is what a responder keeps of a READ or an atomic, so that it can answer it again (section 9.7.8†).
type resource struct {
	fn          packet.Fn
	first, last packet.PSN
	rkey        uint32
	va          uint64
	length      uint32
	orig        uint64
	served      bool // its answer has left whole
}

// request takes a request packet (section 9.7.4).
func (q *queuePair) request(p *packet.Packet) {
	r := &q.rsp
	switch d := p.PSN.Diff(r.epsn); {
	case d == -1<<23 && q.h.breaks("far-psn-refused"):
		q.refuseFatal(p, packet.NAKInvalidRequest, cq.RemInvReqErr)
	case d > 0 && q.h.breaks("gap-executed"):
		r.epsn = p.PSN
		q.carryOut(p)
	case d > 0:
		if r.nak == nothing || r.nak == sequence && q.h.breaks("nak-twice") || r.nak == notReady && q.h.breaks("rnr-nak-twice") {
			r.nak = sequence
			q.respond(response{kind: nak, psn: r.epsn, syndrome: packet.NAKSequence})
		}
	case d < 0:
		q.duplicate(p)
	default:
		q.carryOut(p)
	}
}

// carryOut does what the expected request asks for, or refuses it.
func (q *queuePair) carryOut(p *packet.Packet) {
	if bad := q.valid(p); bad != 0 {
		if wqe.OpOf(p.Opcode.Fn()) >= wqe.Read && !q.hasResource() && q.h.breaks("resources-forgotten") {
			return
		}
		q.refuseFatal(p, bad, cq.RemInvReqErr)
		return
	}
	op := wqe.OpOf(p.Opcode.Fn())
	if op == wqe.Write && p.Has&packet.HasImmDt == 0 && q.h.breaks("operational-unfounded") {
		q.refuseFatal(p, packet.NAKRemoteOp, cq.RemOpErr)
		return
	}
	if s := q.shared(p); s == nil && q.service == packet.XRC && (op == wqe.Send || p.Has&packet.HasImmDt != 0) {
		q.refuseFatal(p, packet.NAKInvalidRequest, cq.RemInvReqErr)
		return
	}
	switch op {
	case wqe.Send:
		q.takeSend(p)
	case wqe.Write:
		q.takeWrite(p)
	case wqe.Read, wqe.Flush:
		q.takeRead(p)
	default:
		q.takeAtomic(p)
	}
}

// accepted advances past a request that was carried out, and acknowledges it where it asks for that.
func (q *queuePair) accepted(p *packet.Packet, span int, ends bool) {
	r := &q.rsp
	r.nak = nothing
	r.epsn = p.PSN.Add(span)
	r.last = r.epsn.Add(-1)
	if ends {
		r.msn++
	}
	if p.AckReq && wqe.OpOf(p.Opcode.Fn()) <= wqe.Write {
		q.respond(response{kind: ack, psn: p.PSN})
	}
}

// notServed answers a request for which there is no receive request.
func (q *queuePair) notServed(p *packet.Packet) {
	r := &q.rsp
	r.nak = notReady
	q.respond(response{kind: nak, psn: p.PSN, syndrome: packet.Syndrome(packet.RNRNAK<<5) | packet.Syndrome(q.attr.MinRNRTimer&31)})
}

// refuseFatal sends the last NAK of the connection. What has taken a receive request completes with status; else an event tells of it.
func (q *queuePair) refuseFatal(p *packet.Packet, s packet.Syndrome, status cq.Status) {
	r := &q.rsp
	q.writesRefused(p)
	q.respond(response{kind: nak, psn: p.PSN, syndrome: s})
	if q.h.breaks("answers-after-fatal") {
		q.accepted(p, 1, true)
		return
	}
	q.dead = true
	if r.taken != nil {
		t := r.taken
		r.taken = nil
		q.finishReceive(t, cq.Completion{Status: status}, false, sum{})
		return
	}
	if q.h.breaks("refusal-untold") {
		return
	}
	what := cq.AsyncQPRequest
	if s == packet.NAKRemoteAccess {
		what = cq.AsyncQPAccess
	}
	if !q.h.breaks("violation-untold") {
		q.h.async(what, q.num, 0, 0)
	}
}

// valid checks a request at the expected PSN; it returns the syndrome of the NAK that it deserves, or 0.
func (q *queuePair) valid(p *packet.Packet) packet.Syndrome {
	info, op := p.Info(), wqe.OpOf(p.Opcode.Fn())
	if !info.Defined || !info.Request || !q.inSequence(info, op) && !q.h.breaks("sequence-unchecked") || !q.keepsQueue(p, info) || !q.fitsOpcode(p, info, op) || !q.permitsOp(op) || op >= wqe.Read && !q.hasResource() {
		return packet.NAKInvalidRequest
	}
	return 0
}

// inSequence reports whether an opcode may come next: a message begins where none is open, and goes on as it began (section 9.7.4.1†).
func (q *queuePair) inSequence(info *packet.Info, op wqe.Op) bool {
	starts := info.First || info.Only
	if q.rsp.open == wqe.None {
		return starts
	}
	return !starts && op == q.rsp.open
}

// keepsQueue reports whether a message on XRC names one shared receive queue in all its packets (XRC-SRQ-002).
func (q *queuePair) keepsQueue(p *packet.Packet, info *packet.Info) bool {
	if q.service != packet.XRC || info.First || info.Only {
		q.rsp.srq = p.XRCSRQ
		return true
	}
	return p.XRCSRQ == q.rsp.srq || q.h.breaks("xrc-change-taken")
}

// fitsOpcode reports whether the payload and the lengths and addresses in the headers are what the opcode may have (section 9.7.4.1†).
func (q *queuePair) fitsOpcode(p *packet.Packet, info *packet.Info, op wqe.Op) bool {
	n := len(p.Payload)
	switch {
	case !validLength(info, n, q.pmtu()), (info.First || info.Middle) && p.PadCnt != 0, !info.Payload && n > 0, op == wqe.Write && !q.fitsDMALen(p, info):
		return q.h.breaks("length-unchecked")
	case p.Has&packet.HasRETH != 0 && p.DMALen > 1<<31:
		return q.h.breaks("dmalen-unchecked")
	case p.Has&packet.HasRETH != 0 && p.DMALen == 1<<31 && q.h.has("dmalen-too-strict"):
		return false
	case p.Has&packet.HasAtomicETH != 0 && p.VA%8 != 0:
		return q.h.breaks("misaligned-done")
	case op == wqe.AtomicWrite && (p.VA%8 != 0 || n != 8 || p.DMALen != 8):
		return false
	}
	return true
}

// permitsOp reports whether the access flags of the queue pair permit an operation (section 9.7.4.1†).
func (q *queuePair) permitsOp(op wqe.Op) bool {
	may := q.attr.Access
	switch {
	case op == wqe.Write:
		return may&wqe.RemoteWrite != 0
	case op == wqe.AtomicWrite:
		return may&wqe.RemoteWrite != 0 || q.h.has("atomic-write-unpermitted")
	case op == wqe.Read:
		return may&wqe.RemoteRead != 0 || q.h.has("permission-ignored")
	case op == wqe.Flush:
		return may&(wqe.RemoteFlush|wqe.RemotePersist) != 0
	case op.Atomic():
		return may&wqe.RemoteAtomic != 0
	}
	return true
}

// hasResource reports whether one more READ or atomic can be kept.
func (q *queuePair) hasResource() bool {
	most := int(q.attr.MaxDestRdAtomic)
	return len(q.rsp.saved) < most || most > 0 && q.rsp.saved[0].served
}

// keep notes a READ or an atomic.
func (q *queuePair) keep(s resource) {
	r := &q.rsp
	if len(r.saved) >= int(q.attr.MaxDestRdAtomic) {
		r.saved = append(r.saved[:0], r.saved[1:]...)
	}
	r.saved = append(r.saved, s)
}

// fitsDMALen reports whether the payload of a WRITE packet agrees with the length that the RETH promised.
func (q *queuePair) fitsDMALen(p *packet.Packet, info *packet.Info) bool {
	n, dma, got := uint64(len(p.Payload)), uint64(q.rsp.dma), uint64(q.rsp.got)
	if info.First || info.Only {
		dma, got = uint64(p.DMALen), 0
	}
	if info.Last || info.Only {
		return got+n == dma
	}
	return got+n < dma
}

// take gets a receive request for a message. It reports false where there is none; a request whose memory is not valid is not for a
// message, but for a NAK (CPL-STS-010).
func (q *queuePair) take(p *packet.Packet) (ok, valid bool) {
	r := &q.rsp
	if r.taken != nil {
		return true, true
	}
	if len(q.receives) > 0 && p.AckReq && q.h.breaks("rnr-unfounded") {
		return false, false
	}
	t, ok := q.nextReceive(p)
	if !ok && q.h.breaks("receive-nowhere") {
		t, ok = &receive{told: true, list: list{[][]byte{make([]byte, 1<<16)}, 1 << 16}}, true
		r.taken = t
		return true, true
	}
	if !ok {
		return false, false
	}
	r.taken = t
	var err error
	if t.list, err = q.h.openList(q.receivePD(p), t.Segments, wqe.LocalWrite, t.room[:0]); err != nil && q.h.breaks("denied-receive-taken") {
		t.list = list{[][]byte{make([]byte, 1<<16)}, 1 << 16}
	} else if err != nil {
		q.refuseFatal(p, packet.NAKRemoteOp, cq.LocProtErr)
		return true, false
	}
	return true, true
}

// receivePD is the protection domain of the memory that a message is received into.
func (q *queuePair) receivePD(p *packet.Packet) wqe.PD {
	if s := q.shared(p); s != nil {
		return s.pd
	}
	return q.pd
}

// shared is the shared receive queue that a message takes from: on XRC the message names it.
func (q *queuePair) shared(p *packet.Packet) *sharedQueue {
	if q.service == packet.XRC {
		s := q.h.srqs[wqe.SRQ(p.XRCSRQ)]
		if s != nil && s.xrcd != q.new.XRCD && !q.h.has("xrc-other-domain") {
			s = nil
		}
		if s == nil && q.h.has("xrc-unknown-queue-taken") {
			s = q.h.otherQueue(nil)
		}
		return s
	}
	return q.srq
}

// nextReceive removes the next receive request from its queue.
func (q *queuePair) nextReceive(p *packet.Packet) (*receive, bool) {
	if s := q.shared(p); s != nil {
		if q.h.has("last-wqe-early") {
			q.h.async(cq.AsyncLastWQE, q.num, 0, 0)
		}
		if len(s.queue) > 0 && p.AckReq && q.service == packet.XRC && q.h.breaks("xrc-rnr-unfounded") {
			return nil, false
		}
		t, ok := q.h.takeShared(q.h.otherQueue(s))
		return q.h.taken(t), ok
	}
	if len(q.receives) == 0 {
		return nil, false
	}
	t := q.receives[0]
	q.receives = shift(q.receives)
	return q.h.taken(t), true
}

// taken is a receive request that a message takes.
func (h *HCA) taken(r wqe.ReceiveRequest) *receive {
	t := h.receives.New()
	t.ReceiveRequest = r
	return t
}

// finishReceive makes the completion of a receive request.
func (q *queuePair) finishReceive(t *receive, e cq.Completion, solicited bool, s sum) {
	if t.told {
		return
	}
	e.ID, e.QP.QPN = t.ID, q.num
	if e.Status != cq.Success {
		e.Op = cq.DoneRecv
	}
	q.h.complete(q.recvCQ, e, solicited, s)
}
