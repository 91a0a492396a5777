package soft

import (
	"context"
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// PostSend posts a send request (section 11.4.1.1).
func (h *HCA) PostSend(ctx context.Context, handle wqe.QP, r *wqe.SendRequest) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	if err = q.validSend(r); err != nil {
		if q.h.breaks("completes-refused") {
			q.h.complete(q.sendCQ, cq.Completion{ID: r.ID, QP: wqe.QP{QPN: q.num}, Op: cq.Done(r.Op)}, false, sum{})
		}
		return fmt.Errorf("soft: queue pair %#x: %w", q.num, err)
	}
	w := h.works.New()
	w.SendRequest = r
	for _, s := range r.Segments {
		w.length += s.Length
	}
	w.unsent = q.service == packet.UD && w.length > h.opt.Limits.MTU && !h.breaks("ud-too-long-error") && !h.has("ud-too-long-sent")
	if r.Op == wqe.OpFlush {
		w.length = r.Flush.Length
	}
	if r.Flags&wqe.Inline != 0 {
		if l, bad := h.openList(q.pd, r.Segments, 0, w.room[:0]); bad == nil && gathers(r.Op) {
			w.list = list{parts: [][]byte{slices.Clone(l.at(0, l.length))}, length: l.length}
		}
	}
	q.req.queue = append(q.req.queue, w)
	if q.state == qp.Err || q.state == qp.SQE {
		h.opt.Clock.After(0, func() { // after the verb has returned
			if q.state == qp.Err || q.state == qp.SQE {
				q.sendBroken(w)
				q.flushSends()
			}
		})
	}
	q.wake()
	return nil
}

// gathers reports whether an operation sends what its segments hold.
func gathers(op wqe.SendOp) bool {
	return op <= wqe.OpWriteImm || op == wqe.OpAtomicWrite
}

// operations are what the send queues of each service take.
var operations = map[packet.Service]uint32{
	packet.RC:  1<<(wqe.OpAtomicWrite+1) - 1,
	packet.XRC: 1<<wqe.OpFlush - 1,
	packet.UC: 1<<wqe.OpSend | 1<<wqe.OpSendImm | 1<<wqe.OpWrite | 1<<wqe.OpWriteImm |
		1<<wqe.OpLocalInv | 1<<wqe.OpBindMW,
	packet.UD: 1<<wqe.OpSend | 1<<wqe.OpSendImm,
}

// validSend finds the immediate errors of a send request; they change nothing (CPL-IMD-001).
func (q *queuePair) validSend(r *wqe.SendRequest) error {
	switch {
	case !q.state.PostSend() && !(q.state == qp.RTR && q.sends()) && !q.h.breaks("post-in-init"):
		return fmt.Errorf("send request in state %v; bring it to RTS first", q.state)
	case q.new.Type == qp.TypeXRCTarget && !q.h.has("xrc-target-posts"):
		return fmt.Errorf("an XRC target has no send queue")
	case operations[q.service]>>r.Op&1 == 0:
		return fmt.Errorf("%v does not have operation %d", q.service, r.Op)
	case q.new.MaxSend > 0 && len(q.req.queue) >= q.new.MaxSend:
		return fmt.Errorf("send queue: %w", hcaagent.ErrFull)
	case q.new.MaxSendSegments > 0 && len(r.Segments) > q.new.MaxSendSegments && !q.h.has("segments-ignored"):
		return fmt.Errorf("%d data segments: the queue pair has %d", len(r.Segments), q.new.MaxSendSegments)
	}
	return q.validMessage(r)
}

// validMessage finds those of the message: its length, its address, and its destination.
func (q *queuePair) validMessage(r *wqe.SendRequest) error {
	var length uint64
	for _, s := range r.Segments {
		length += uint64(s.Length)
	}
	aligned8 := length == 8 && r.RemoteVA%8 == 0
	switch {
	case length > 1<<31:
		return fmt.Errorf("message of %d bytes: at most 2^31", length)
	case r.Flags&wqe.Inline != 0 && (!gathers(r.Op) || q.new.MaxInline > 0 && length > uint64(q.new.MaxInline)):
		return fmt.Errorf("%d bytes inline for operation %d", length, r.Op)
	case r.Op == wqe.OpAtomicWrite && !aligned8:
		return fmt.Errorf("an ATOMIC WRITE writes 8 aligned bytes")
	case (r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd) && !aligned8:
		return fmt.Errorf("an atomic works on 8 aligned bytes")
	case q.service == packet.UD:
		return q.validHandle(r.AH)
	}
	return nil
}

// validHandle finds the immediate errors of the address handle that a datagram goes by.
func (q *queuePair) validHandle(ah wqe.AH) error {
	if a := q.h.ahs[ah]; a == nil && ah != 0 {
		return notFound("address handle", uint32(ah))
	} else if a != nil && a.pd != q.pd && !q.h.breaks("foreign-handle") { // C10-10
		return fmt.Errorf("address handle %d belongs to another protection domain", ah)
	}
	return nil
}

// PostReceive posts a receive request.
func (h *HCA) PostReceive(ctx context.Context, handle wqe.QP, r *wqe.ReceiveRequest) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	if err = q.validReceive(r); err != nil {
		return err
	}
	q.receives = append(q.receives, *r)
	q.grant()
	if q.kept != nil {
		q.releasePacket()
	}
	if q.state == qp.Err {
		h.opt.Clock.After(0, func() {
			if q.state == qp.Err {
				q.flush()
			}
		})
	}
	return nil
}

// validReceive finds the immediate errors of a receive request (CPL-IMD-001).
func (q *queuePair) validReceive(r *wqe.ReceiveRequest) error {
	switch {
	case !q.state.PostReceive() && !q.h.breaks("post-in-reset"):
		return fmt.Errorf("soft: queue pair %#x: receive request in state RESET; bring it to INIT first", q.num)
	case q.srq != nil && !q.h.breaks("post-beside-shared") || q.new.Type == qp.TypeXRCInitiator || q.new.Type == qp.TypeXRCTarget:
		return fmt.Errorf("soft: queue pair %#x has no receive queue of its own; post to the shared one", q.num)
	case q.new.MaxReceive > 0 && len(q.receives) >= q.new.MaxReceive:
		return fmt.Errorf("soft: queue pair %#x, receive queue: %w", q.num, hcaagent.ErrFull)
	case q.new.MaxRecvSegments > 0 && len(r.Segments) > q.new.MaxRecvSegments:
		return fmt.Errorf("soft: queue pair %#x: %d data segments, it has %d", q.num, len(r.Segments), q.new.MaxRecvSegments)
	}
	return nil
}
