package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// work is one send request, which does not change once it is posted. Invariant: got <= packets.
type work struct {
	*wqe.SendRequest
	length  uint32
	list    list // once begun, or Inline
	room    [1][]byte
	begun   bool
	done    bool // a local operation has been carried out
	first   packet.PSN
	last    packet.PSN
	packets int  // PSNs that it takes; a local operation takes none
	got     int  // responses that a READ or an atomic has
	silent  bool // it has completed before its time
	number  uint32
	unsent  bool // a datagram that is too long for the port (C10-93.1.1)
}

// local reports whether the request shows nothing on the wire.
func (w *work) local() bool {
	return w.unsent || w.Op == wqe.OpLocalInv || w.Op == wqe.OpBindMW
}

// receives reports whether the message consumes a receive request of the peer.
func (w *work) receives() bool { return w.Op <= wqe.OpSendInv || w.Op == wqe.OpWriteImm }

// responded reports whether the request is answered by a response of its own, which an ACK cannot replace.
func (w *work) responded() bool {
	switch w.Op {
	case wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush, wqe.OpAtomicWrite:
		return true
	}
	return false
}

// requester is the state of the send queue. Invariant: una is not after high, high not after psn.
type requester struct {
	queue []*work    // posted and not completed, oldest first
	next  int        // index of the message that the next packet belongs to
	off   int        // which packet of it
	una   packet.PSN // oldest that is not acknowledged
	psn   packet.PSN // of the next message to begin
	high  packet.PSN // after the newest request sent
	span  int        // PSNs that the READs before next take beyond one each
	ssn   uint32     // messages begun

	stuck    bool  // the message at next has a local fault
	retries  uint8 // left
	rnrs     uint8 // left
	implied  bool  // it went back because a response is missing, and nothing came since
	deadline int64 // of the ACK timer; 0: off
	timing   bool  // the clock will call
	resume   int64 // when the RNR timer ends
	drained  bool  // that was told, in SQD
	rate     int64 // bytes a microsecond, lowered by CNPs; 0: as fast as the port
	slowed   int64 // when the newest CNP came
	paced    int64 // when the rate lets the next request leave

	sent    int64      // when the newest request packet left
	ignores bool       // responses, by a fault
	skip    packet.PSN // of the faults that need it
	invKey  uint32

	credited bool
	limit    uint32 // message number up to which credits allow requests that consume a receive request
}

// position is the PSN of the next request packet.
func (r *requester) position() packet.PSN {
	if r.next < len(r.queue) && r.queue[r.next].begun {
		w := r.queue[r.next]
		if w.responded() {
			return w.first.Add(w.got)
		}
		return w.first.Add(r.off)
	}
	return r.psn
}

// readsOut is how many READs, atomics and the like are outstanding.
func (r *requester) readsOut() (n int) {
	for _, w := range r.queue[:r.next] {
		if w.responded() {
			n++
		}
	}
	return n
}

// requestReady reports whether a request packet may be sent now. It carries out the local operations before it.
func (q *queuePair) requestReady() bool {
	r := &q.req
	for q.sending() {
		w := r.queue[r.next]
		switch {
		case w.begun && !w.local():
			return q.permitted(w)
		case q.state == qp.SQD && !q.h.has("begins-drained"):
			return false
		case w.local():
			if !q.runLocal(w) {
				return false
			}
		case w.Flags&wqe.Fence != 0 && r.readsOut() > 0 && !q.h.has("fence-ignored"):
			return false
		default:
			if !q.openWork(w) {
				r.stuck = true
				q.settle()
				return false
			}
			return q.permitted(w)
		}
	}
	return false
}

// sending reports whether the send queue has a request, and nothing holds it: neither the state, nor an error, nor an RNR timer or the rate.
func (q *queuePair) sending() bool {
	r := &q.req
	return q.sends() && !q.dead && !r.stuck && r.next < len(r.queue) && max(r.resume, r.paced) <= q.h.now()
}

// openWork opens the memory of a message, and finds the faults that are the consumer's.
func (q *queuePair) openWork(w *work) bool {
	if w.list.parts == nil {
		access := wqe.Access(0)
		if w.responded() && w.Op != wqe.OpAtomicWrite {
			access = wqe.LocalWrite
		}
		var err error
		if w.list, err = q.h.openList(q.pd, w.Segments, access, w.room[:0]); err != nil {
			if !q.h.breaks("denied-send-taken") {
				return false
			}
			w.list = list{[][]byte{make([]byte, w.length)}, uint64(w.length)}
		}
	}
	w.packets = 1
	if q.service != packet.UD && w.Op != wqe.OpFlush {
		w.packets = wqe.Packets(w.length, q.attr.PMTU)
	}
	return w.fault(q) == cq.Success
}

// fault returns the status that a faulty request completes with, before anything of it is sent.
func (w *work) fault(q *queuePair) cq.Status {
	if w.packets == 0 {
		return cq.LocProtErr
	}
	if w.responded() && q.attr.MaxRdAtomic == 0 {
		return cq.LocQPOpErr
	}
	if q.service == packet.UD && w.length > q.h.opt.Limits.MTU && !q.h.has("ud-too-long-sent") {
		return cq.LocLenErr
	}
	return cq.Success
}

// permitted reports whether the limits let the next packet of a message go.
func (q *queuePair) permitted(w *work) bool {
	r := &q.req
	if !q.reliable() {
		return true
	}
	if w.responded() && r.readsOut() >= int(q.attr.MaxRdAtomic) && !q.h.has("too-many-reads") && !q.h.has("too-many-atomic-writes") {
		return false
	}
	if r.position().Diff(r.una)-r.span >= q.h.opt.Limits.Window {
		return false
	}
	if !w.begun && r.psn != r.una && r.psn.Diff(r.una)+w.packets > 1<<22 {
		return false
	}
	return !q.withoutCredit(w) || r.probes(w)
}

// withoutCredit reports whether a message needs a credit that is not there.
func (q *queuePair) withoutCredit(w *work) bool {
	r := &q.req
	number := w.number
	if !w.begun {
		number = r.ssn + 1
	}
	return r.credited && !(q.h.has("credit-ignored") && w.packets == 1) &&
		!(q.h.has("probe-whole") && w.packets > 1) && w.receives() && (number-r.limit-1+q.h.unused())&0xFFFFFF < 1<<23
}

// probes reports whether the next packet may go without a credit: only the first of the oldest message (section 9.7.7.2).
func (r *requester) probes(w *work) bool {
	if r.off == 0 {
		return !w.begun && r.una == r.psn || w.begun && r.una == w.first
	}
	return r.una.After(w.first)
}

// begin gives a message its PSNs.
func (q *queuePair) begin(w *work) {
	r := &q.req
	if q.h.has("psn-repeated") && r.ssn > 4 && q.h.shows("psn-repeated") {
		r.psn = r.psn.Add(-1)
	}
	if q.h.fault.is != nil {
		q.gather(w)
	}
	w.begun, w.first, w.last = true, r.psn, r.psn.Add(w.packets-1)
	r.psn = r.psn.Add(w.packets)
	if w.Op == wqe.OpRead && w.packets > 1 && q.h.shows("psn-after-read") {
		r.psn = w.first.Add(1)
	}
	r.ssn++
	w.number = r.ssn
}

// runLocal carries out a local operation in its turn; a local invalidate waits until all before it are complete (10.6.5.1).
func (q *queuePair) runLocal(w *work) bool {
	r := &q.req
	if w.done {
		r.next++
		return true
	}
	if r.next > 0 && w.Op == wqe.OpLocalInv && w.Flags&wqe.Signaled != 0 && q.h.breaks("invalidates-early") {
		q.finishSend(w, cq.Success)
		w.silent = true
	}
	if r.next > 0 && (w.Op == wqe.OpLocalInv || w.Flags&wqe.Fence != 0) {
		return false
	}
	w.begun, w.first, w.last = true, r.psn, r.psn.Add(-1)
	w.done = true
	ok := w.unsent
	switch w.Op {
	case wqe.OpLocalInv:
		ok = q.h.invalidate(q, w.InvKey)
	case wqe.OpBindMW:
		ok = q.h.bind(q, w.Window)
	}
	if !ok {
		w.done, r.stuck = false, true
		q.settle()
		return false
	}
	r.next++
	q.settle()
	return true
}

// settle completes what is at the head of the queue and waits for nothing: local operations, and a fault of the consumer's.
func (q *queuePair) settle() {
	r := &q.req
	for len(r.queue) > 0 && r.queue[0].local() && r.queue[0].done {
		q.completeHead()
	}
	if r.stuck && r.next == 0 && len(r.queue) > 0 {
		w := r.queue[0]
		status := w.fault(q)
		switch {
		case w.Op == wqe.OpBindMW:
			status = cq.MWBindErr
		case w.local():
			status = cq.LocQPOpErr
		}
		q.failSend(status)
	}
}

// completeHead completes the oldest request.
func (q *queuePair) completeHead() {
	r := &q.req
	w := r.queue[0]
	r.queue = shift(r.queue)
	if r.next > 0 {
		r.next--
		if w.Op == wqe.OpRead {
			r.span -= w.packets - 1
		}
	} else {
		r.off = 0
	}
	q.finishSend(w, cq.Success)
}

// finishSend makes the completion of a send request, if it makes one (CPL-SIG-001 to 003).
func (q *queuePair) finishSend(w *work, status cq.Status) {
	if status == cq.Success && (w.Flags&wqe.Signaled == 0 || w.silent) && !q.new.SignalAll && !q.h.breaks("unsignaled") {
		return
	}
	if status != cq.Success && status != cq.WRFlushErr && w.Flags&wqe.Signaled == 0 && q.h.breaks("unsignaled-error-silent") {
		return
	}
	e := cq.Completion{ID: w.ID, QP: wqe.QP{QPN: q.num}, Status: status, Op: cq.Done(w.Op), ByteLen: w.length}
	s := sum{}
	if status == cq.Success && w.responded() && w.Op != wqe.OpAtomicWrite && w.Op != wqe.OpFlush && q.h.opt.Event != nil {
		s = sum{crc: w.list.crc(), ok: true}
	}
	q.h.complete(q.sendCQ, e, false, s)
}
