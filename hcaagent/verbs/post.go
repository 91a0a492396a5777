//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// sendOps are the operations that libibverbs has in ibv_post_send.
var sendOps = map[wqe.SendOp]uint32{
	wqe.OpSend: C.IBV_WR_SEND, wqe.OpSendImm: C.IBV_WR_SEND_WITH_IMM, wqe.OpSendInv: C.IBV_WR_SEND_WITH_INV, wqe.OpWrite: C.IBV_WR_RDMA_WRITE,
	wqe.OpWriteImm: C.IBV_WR_RDMA_WRITE_WITH_IMM, wqe.OpRead: C.IBV_WR_RDMA_READ, wqe.OpCmpSwap: C.IBV_WR_ATOMIC_CMP_AND_SWP,
	wqe.OpFetchAdd: C.IBV_WR_ATOMIC_FETCH_AND_ADD, wqe.OpLocalInv: C.IBV_WR_LOCAL_INV, wqe.OpBindMW: C.IBV_WR_BIND_MW,
}

// PostSend posts a send request.
func (d *Device) PostSend(ctx context.Context, handle wqe.QP, r *wqe.SendRequest) error {
	return d.withQP(ctx, handle, func(q *queuePair) error {
		op, ok := sendOps[r.Op]
		if !ok {
			return fmt.Errorf("verbs: %v: ibv_post_send does not have it: %w", r.Op, errors.ErrUnsupported)
		}
		kept := request{id: r.ID, signaled: q.SignalAll || r.Flags&wqe.Signaled != 0, segments: r.Segments}
		var code C.int
		if w := r.Window; r.Op == wqe.OpBindMW && w != nil && d.mws[w.MW] != nil && d.mws[w.MW].kind == 1 {
			mr, access, err := d.bound(w)
			if err != nil {
				return err
			}
			mw := d.mws[w.MW].mw
			code = C.shim_bind_mw(q.qp, mw, C.uint64_t(r.ID), sendFlags(r.Flags), mr, C.uint64_t(w.VA), C.uint64_t(w.Length), access)
			bind := *w
			bind.RKey = uint32(mw.rkey)
			d.binds(&kept, &bind)
		} else {
			n, err := d.list(r.Segments, r.Flags&wqe.Inline != 0)
			if err != nil {
				return err
			}
			*d.work = C.struct_ibv_send_wr{wr_id: C.uint64_t(r.ID), sg_list: d.sges, num_sge: n, opcode: op, send_flags: sendFlags(r.Flags)}
			if err := d.operands(q, r, &kept); err != nil {
				return err
			}
			code = C.shim_post_send(q.qp, d.work)
		}
		if err := posted("ibv_post_send", code); err != nil {
			return err
		}
		q.sends.add(kept)
		return nil
	})
}

// posted is the error of a verb that posts a request.
func posted(verb string, code C.int) error {
	if code == C.ENOMEM || code == -C.ENOMEM {
		return fmt.Errorf("verbs: %s: %w: %w", verb, syscall.ENOMEM, hcaagent.ErrFull)
	}
	return returned(verb, code)
}

func sendFlags(f wqe.SendFlags) (flags C.uint) {
	for _, x := range [...]struct {
		flag wqe.SendFlags
		ibv  C.uint
	}{{wqe.Signaled, C.IBV_SEND_SIGNALED}, {wqe.Solicited, C.IBV_SEND_SOLICITED}, {wqe.Fence, C.IBV_SEND_FENCE}, {wqe.Inline, C.IBV_SEND_INLINE}} {
		if f&x.flag != 0 {
			flags |= x.ibv
		}
	}
	return flags
}

// operands gives the request in d.work what its operation works on.
func (d *Device) operands(q *queuePair, r *wqe.SendRequest, kept *request) error {
	switch r.Op {
	case wqe.OpSendImm, wqe.OpWriteImm:
		C.shim_wr_imm(d.work, C.uint32_t(r.Imm))
	case wqe.OpSendInv, wqe.OpLocalInv:
		C.shim_wr_inv(d.work, C.uint32_t(r.InvKey))
		if r.Op == wqe.OpLocalInv {
			kept.inv = r.InvKey
		}
	case wqe.OpBindMW:
		return d.bindOperands(r, kept)
	}
	switch {
	case q.service == packet.UD:
		ah, err := d.handle(q, r)
		if err != nil {
			return err
		}
		C.shim_wr_ud(d.work, ah, C.uint32_t(r.Dest.QPN), C.uint32_t(r.QKey))
		return nil
	case r.Op == wqe.OpWrite, r.Op == wqe.OpWriteImm, r.Op == wqe.OpRead:
		C.shim_wr_rdma(d.work, C.uint64_t(r.RemoteVA), C.uint32_t(r.RKey))
	case r.Op == wqe.OpCmpSwap:
		C.shim_wr_atomic(d.work, C.uint64_t(r.RemoteVA), C.uint32_t(r.RKey), C.uint64_t(r.Compare), C.uint64_t(r.SwapAdd))
	case r.Op == wqe.OpFetchAdd:
		C.shim_wr_atomic(d.work, C.uint64_t(r.RemoteVA), C.uint32_t(r.RKey), C.uint64_t(r.SwapAdd), 0)
	}
	if q.service == packet.XRC {
		C.shim_wr_xrc(d.work, C.uint32_t(r.XRCSRQ))
	}
	return nil
}

// bindOperands gives the request in d.work the window of type 2 that it binds.
func (d *Device) bindOperands(r *wqe.SendRequest, kept *request) error {
	if r.Window == nil {
		return errors.New("verbs: no memory window is named: give Window")
	}
	w, err := lookUp(d.mws, "memory window", r.Window.MW)
	if err != nil {
		return err
	}
	mr, access, err := d.bound(r.Window)
	if err != nil {
		return err
	}
	d.binds(kept, r.Window)
	C.shim_wr_bind(d.work, w.mw, C.uint32_t(r.Window.RKey), mr, C.uint64_t(r.Window.VA), C.uint64_t(r.Window.Length), access)
	return nil
}

// binds notes what a request binds.
func (d *Device) binds(r *request, b *wqe.Bind) {
	r.bind, r.window = b, d.mws[b.MW].kind
	if m := d.mrs[b.MR]; m != nil {
		r.to = &m.region
	}
}

// bound is the region that a window is bound to, nil where it is bound to nothing, and its access flags.
func (d *Device) bound(w *wqe.Bind) (*C.struct_ibv_mr, C.uint, error) {
	access, err := accessFlags(w.Access)
	if err != nil || w.Length == 0 && w.MR == 0 {
		return nil, access, err
	}
	r, err := lookUp(d.mrs, "memory region", w.MR)
	if err != nil {
		return nil, 0, err
	}
	return r.mr, access, nil
}

// mostWays is how many destinations of datagrams without an address handle are kept.
const mostWays = 1024

// handle is the address handle of a datagram: the one that it names, or one to its destination.
func (d *Device) handle(q *queuePair, r *wqe.SendRequest) (*C.struct_ibv_ah, error) {
	if r.AH != 0 {
		a, err := lookUp(d.ahs, "address handle", r.AH)
		if err != nil {
			return nil, err
		}
		return a.ah, nil
	}
	w := way{q.PD, wqe.AddressVector{Dest: r.Dest.Addr, HopLimit: usualHops}}
	if ah := d.ways[w]; ah != nil {
		return ah, nil
	}
	if len(d.ways) >= mostWays {
		return nil, fmt.Errorf("verbs: datagrams without an address handle went to %d destinations: name an address handle", mostWays)
	}
	ah, err := d.newAH(q.PD, &w.dest)
	if err == nil {
		d.ways[w] = ah
	}
	return ah, err
}

// list makes a list of libibverbs in d.sges. The data of an inline request is at the addresses of this process.
func (d *Device) list(segments []wqe.Segment, inline bool) (C.int, error) {
	if len(segments) > mostSegments {
		return 0, fmt.Errorf("verbs: %d data segments: give at most %d", len(segments), mostSegments)
	}
	list := unsafe.Slice(d.sges, mostSegments)
	for i := range segments {
		g := &segments[i]
		list[i] = C.struct_ibv_sge{addr: C.uint64_t(g.VA), length: C.uint32_t(g.Length), lkey: C.uint32_t(g.LKey)}
		if inline && g.Length > 0 {
			b, err := d.mem.open(0, 0, segment(g), 0)
			if err != nil {
				return 0, fmt.Errorf("verbs: inline data: %w", err)
			}
			list[i].addr = C.uint64_t(uintptr(unsafe.Pointer(&b[0])))
		}
	}
	return C.int(len(segments)), nil
}

// PostReceive posts a receive request.
func (d *Device) PostReceive(ctx context.Context, handle wqe.QP, r *wqe.ReceiveRequest) error {
	return d.withQP(ctx, handle, func(q *queuePair) error { return d.postReceive(q.qp, nil, &q.receives, r) })
}

// postReceive posts a receive request to the queue of a queue pair or a shared one.
func (d *Device) postReceive(q *C.struct_ibv_qp, srq *C.struct_ibv_srq, queue *requests, r *wqe.ReceiveRequest) error {
	n, err := d.list(r.Segments, false)
	if err != nil {
		return err
	}
	verb := "ibv_post_recv"
	if srq != nil {
		verb = "ibv_post_srq_recv"
	}
	if err := posted(verb, C.shim_post_recv(q, srq, C.uint64_t(r.ID), d.sges, n)); err != nil {
		return err
	}
	queue.add(request{id: r.ID, signaled: true, segments: r.Segments})
	return nil
}
