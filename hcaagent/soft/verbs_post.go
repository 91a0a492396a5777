package soft

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"

	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// PostSend posts a send request (section 11.4.1.1).
func (h *HCA) PostSend(ctx context.Context, qp hcaagent.QP, r hcaagent.SendRequest) (err error) {
	r.Segments = h.segments.List(r.Segments)
	w := &work{SendRequest: r}
	e := hcaagent.Event{Kind: hcaagent.EvPostSend, QP: qp, Send: &w.SendRequest}
	defer func() { h.emit(&e, err) }()
	q, err := h.find(ctx, qp)
	if err != nil {
		return err
	}
	if err = q.validSend(&r); err != nil {
		if q.h.breaks("completes-refused") {
			q.h.complete(q.sendCQ, hcaagent.Completion{ID: r.ID, QP: hcaagent.QP{QPN: q.num}, Op: r.Op.Done()}, false, sum{})
		}
		return fmt.Errorf("soft: queue pair %#x: %w", q.num, err)
	}
	for _, s := range r.Segments {
		w.length += s.Length
	}
	w.unsent = q.service == packet.UD && w.length > h.opt.Limits.MTU && !h.breaks("ud-too-long-error")
	if r.Op == hcaagent.OpFlush {
		w.length = r.Flush.Length
	}
	var room [1][]byte
	if l, bad := h.openList(q.pd, r.Segments, 0, room[:0]); bad == nil && gathers(r.Op) {
		if r.Flags&hcaagent.Inline != 0 {
			w.list = list{parts: [][]byte{slices.Clone(l.at(0, l.length))}, length: l.length}
		}
		if h.opt.Event != nil {
			e.Sum, e.Summed = l.crc(), true
		}
	}
	q.req.queue = append(q.req.queue, w)
	if q.state == hcaagent.Err || q.state == hcaagent.SQE {
		h.opt.Clock.After(0, func() { // after the verb has returned
			if q.state == hcaagent.Err || q.state == hcaagent.SQE {
				q.sendBroken(w)
				q.flushSends()
			}
		})
	}
	q.wake()
	return nil
}

// crc is the CRC-32 of all bytes of a list.
func (l *list) crc() (c uint32) {
	for _, p := range l.parts {
		c = crc32.Update(c, crc32.IEEETable, p)
	}
	return c
}

// gathers reports whether an operation sends what its segments hold.
func gathers(op hcaagent.SendOp) bool {
	return op <= hcaagent.OpWriteImm || op == hcaagent.OpAtomicWrite
}

// operations are what the send queues of each service take.
var operations = map[packet.Service]uint32{
	packet.RC:  1<<(hcaagent.OpAtomicWrite+1) - 1,
	packet.XRC: 1<<hcaagent.OpFlush - 1,
	packet.UC: 1<<hcaagent.OpSend | 1<<hcaagent.OpSendImm | 1<<hcaagent.OpWrite | 1<<hcaagent.OpWriteImm |
		1<<hcaagent.OpLocalInv | 1<<hcaagent.OpBindMW,
	packet.UD: 1<<hcaagent.OpSend | 1<<hcaagent.OpSendImm,
}

// validSend finds the immediate errors of a send request; they change nothing (CPL-IMD-001).
func (q *queuePair) validSend(r *hcaagent.SendRequest) error {
	var length uint64
	for _, s := range r.Segments {
		length += uint64(s.Length)
	}
	switch {
	case !q.state.PostSend() && !(q.state == hcaagent.RTR && q.sends()) && !q.h.breaks("post-in-init"):
		return fmt.Errorf("send request in state %v; bring it to RTS first", q.state)
	case q.new.Type == hcaagent.TypeXRCTarget:
		return fmt.Errorf("an XRC target has no send queue")
	case operations[q.service]>>r.Op&1 == 0:
		return fmt.Errorf("%v does not have operation %d", q.service, r.Op)
	case q.new.MaxSend > 0 && len(q.req.queue) >= q.new.MaxSend:
		return fmt.Errorf("send queue: %w", hcaagent.ErrFull)
	case q.new.MaxSendSegments > 0 && len(r.Segments) > q.new.MaxSendSegments:
		return fmt.Errorf("%d data segments: the queue pair has %d", len(r.Segments), q.new.MaxSendSegments)
	case length > 1<<31:
		return fmt.Errorf("message of %d bytes: at most 2^31", length)
	case r.Flags&hcaagent.Inline != 0 && (!gathers(r.Op) || q.new.MaxInline > 0 && length > uint64(q.new.MaxInline)):
		return fmt.Errorf("%d bytes inline for operation %d", length, r.Op)
	case r.Op == hcaagent.OpAtomicWrite && (length != 8 || r.RemoteVA%8 != 0):
		return fmt.Errorf("an ATOMIC WRITE writes 8 aligned bytes")
	case (r.Op == hcaagent.OpCmpSwap || r.Op == hcaagent.OpFetchAdd) && (length != 8 || r.RemoteVA%8 != 0):
		return fmt.Errorf("an atomic works on 8 aligned bytes")
	case q.service == packet.UD:
		if a := q.h.ahs[r.AH]; a == nil && r.AH != 0 {
			return notFound("address handle", uint32(r.AH))
		} else if a != nil && a.pd != q.pd && !q.h.breaks("foreign-handle") { // C10-10
			return fmt.Errorf("address handle %d belongs to another protection domain", r.AH)
		}
	}
	return nil
}

// PostReceive posts a receive request.
func (h *HCA) PostReceive(ctx context.Context, qp hcaagent.QP, r hcaagent.ReceiveRequest) (err error) {
	r.Segments = h.segments.List(r.Segments)
	defer func() { h.emit(&hcaagent.Event{Kind: hcaagent.EvPostReceive, QP: qp, Receive: &r}, err) }()
	q, err := h.find(ctx, qp)
	if err != nil {
		return err
	}
	switch {
	case !q.state.PostReceive() && !h.breaks("post-in-reset"):
		err = fmt.Errorf("soft: queue pair %#x: receive request in state RESET; bring it to INIT first", q.num)
	case q.srq != nil && !h.breaks("post-beside-shared") || q.new.Type == hcaagent.TypeXRCInitiator || q.new.Type == hcaagent.TypeXRCTarget:
		err = fmt.Errorf("soft: queue pair %#x has no receive queue of its own; post to the shared one", q.num)
	case q.new.MaxReceive > 0 && len(q.receives) >= q.new.MaxReceive:
		err = fmt.Errorf("soft: queue pair %#x, receive queue: %w", q.num, hcaagent.ErrFull)
	case q.new.MaxRecvSegments > 0 && len(r.Segments) > q.new.MaxRecvSegments:
		err = fmt.Errorf("soft: queue pair %#x: %d data segments, it has %d", q.num, len(r.Segments), q.new.MaxRecvSegments)
	}
	if err != nil {
		return err
	}
	q.receives = append(q.receives, r)
	q.grant()
	if q.kept != nil {
		q.releasePacket()
	}
	if q.state == hcaagent.Err {
		h.opt.Clock.After(0, func() {
			if q.state == hcaagent.Err {
				q.flush()
			}
		})
	}
	return nil
}
