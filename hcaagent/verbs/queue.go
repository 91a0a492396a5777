//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// completionQueue is a completion queue.
type completionQueue struct {
	cq     *C.struct_ibv_cq
	polled []hcaagent.Completed // that Completions has not returned yet
}

// mostPolled is how many of them are kept.
const mostPolled = 1 << 14

// CreateCQ makes a completion queue of at least depth elements.
func (d *Device) CreateCQ(ctx context.Context, depth int) (wqe.CQ, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	number := d.object()
	q, err := C.shim_create_cq(d.ctx, C.int(count(depth)), C.uint32_t(number), d.channel)
	if q == nil {
		return 0, failed(fmt.Sprintf("ibv_create_cq of %d elements", depth), err)
	}
	d.cqs[wqe.CQ(number)] = &completionQueue{cq: q}
	return wqe.CQ(number), nil
}

// ResizeCQ changes the depth of a completion queue.
func (d *Device) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	return d.withCQ(ctx, number, func(q *completionQueue) error {
		return returned(fmt.Sprintf("ibv_resize_cq to %d elements", depth), C.ibv_resize_cq(q.cq, C.int(count(depth))))
	})
}

// CQDepth implements hcaagent.QueueDepths.
func (d *Device) CQDepth(ctx context.Context, number wqe.CQ) (depth int, err error) {
	err = d.withCQ(ctx, number, func(q *completionQueue) error {
		depth = int(q.cq.cqe)
		return nil
	})
	return depth, err
}

// DestroyCQ destroys a completion queue that no queue pair uses.
func (d *Device) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	return d.withCQ(ctx, number, func(q *completionQueue) error {
		if err := returned("ibv_destroy_cq", C.ibv_destroy_cq(q.cq)); err != nil {
			return err
		}
		delete(d.cqs, number)
		return nil
	})
}

// RequestNotification arms the queue.
func (d *Device) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	return d.withCQ(ctx, number, func(q *completionQueue) error {
		solicited := C.int(0)
		if arm == cq.ArmSolicited {
			solicited = 1
		}
		return returned("ibv_req_notify_cq", C.ibv_req_notify_cq(q.cq, solicited))
	})
}

// withCQ calls f with a completion queue.
func (d *Device) withCQ(ctx context.Context, number wqe.CQ, f func(*completionQueue) error) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	q, err := lookUp(d.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	return f(q)
}

// Poll moves completions out of the queue.
func (d *Device) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (done int, err error) {
	err = d.withCQ(ctx, number, func(q *completionQueue) error {
		for done < len(into) {
			most := min(len(into)-done, mostDone)
			n := C.ibv_poll_cq(q.cq, C.int(most), d.done)
			if n < 0 {
				if done > 0 {
					return nil // it fails the next time too
				}
				return failed("ibv_poll_cq", nil)
			}
			for i := range unsafe.Slice(d.done, int(n)) {
				c := d.completed(&unsafe.Slice(d.done, int(n))[i])
				q.polled = append(q.polled, c)
				into[done] = c.Completion
				done++
			}
			if int(n) < most {
				break
			}
		}
		if len(q.polled) > 2*mostPolled {
			q.polled = append(q.polled[:0], q.polled[len(q.polled)-mostPolled:]...)
		}
		return nil
	})
	return done, err
}

// Completions moves completions that were polled to an observer.
func (d *Device) Completions(ctx context.Context, number wqe.CQ, into []hcaagent.Completed) (n int, err error) {
	err = d.withCQ(ctx, number, func(q *completionQueue) error {
		n = copy(into, q.polled)
		q.polled = append(q.polled[:0], q.polled[n:]...)
		return nil
	})
	return n, err
}

// opcodes are the operations of completions, as libibverbs numbers them.
var opcodes = map[uint32]cq.CompletionOp{
	C.IBV_WC_SEND: cq.DoneSend, C.IBV_WC_RDMA_WRITE: cq.DoneWrite, C.IBV_WC_RDMA_READ: cq.DoneRead, C.IBV_WC_COMP_SWAP: cq.DoneCmpSwap,
	C.IBV_WC_FETCH_ADD: cq.DoneFetchAdd, C.IBV_WC_BIND_MW: cq.DoneBindMW, C.IBV_WC_LOCAL_INV: cq.DoneLocalInv, C.IBV_WC_RECV: cq.DoneRecv,
	C.IBV_WC_RECV_RDMA_WITH_IMM: cq.DoneRecvWriteImm, C.IBV_WC_ATOMIC_WRITE: cq.DoneAtomicWrite,
}

// completion makes a completion of what libibverbs has returned. Its statuses have the numbers of those of package cq, which follow the same list.
func (d *Device) completion(w *C.struct_ibv_wc) cq.Completion {
	c := cq.Completion{ID: uint64(w.wr_id), QP: wqe.QP{Addr: d.addr(), QPN: uint32(w.qp_num)}, Status: cq.Status(w.status)}
	if c.Status != cq.Success { // nothing else is valid
		return c
	}
	op, ok := opcodes[uint32(w.opcode)]
	if !ok {
		op = ^cq.CompletionOp(0)
	}
	c.Op, c.ByteLen = op, uint32(w.byte_len)
	if c.Op < cq.DoneRecv {
		return c
	}
	c.SrcQP, c.SLID, c.SL = uint32(w.src_qp), uint16(w.slid), uint8(w.sl)
	if w.wc_flags&C.IBV_WC_GRH != 0 {
		c.Flags |= cq.WithGRH
	}
	if w.wc_flags&C.IBV_WC_WITH_IMM != 0 {
		c.Flags |= cq.WithImm
		c.Imm = uint32(C.shim_wc_imm(w))
	}
	if w.wc_flags&C.IBV_WC_WITH_INV != 0 {
		c.Flags |= cq.WithInv
		c.InvKey = uint32(C.shim_wc_inv(w))
	}
	return c
}

// completed finds the request of a completion, and what it has put into memory.
func (d *Device) completed(w *C.struct_ibv_wc) hcaagent.Completed {
	c := d.completion(w)
	q := d.qps[c.QP.QPN]
	if q == nil {
		return hcaagent.Completed{Completion: c}
	}
	fails, receive := c.Status != cq.Success, c.Op >= cq.DoneRecv
	var r request
	ok := false
	if fails || !receive {
		r, ok = q.sends.take(c.ID, fails, true)
	}
	if !ok && (fails || receive) { // a completion in error does not say what it is of
		if q.shared != nil {
			r, ok = q.shared.receives.take(c.ID, true, false)
		} else {
			r, ok = q.receives.take(c.ID, true, true)
		}
	}
	if fails || !ok {
		return hcaagent.Completed{Completion: c}
	}
	d.mem.rekey(&c, &r)
	return d.mem.contents(c, &r, q.service)
}

// sharedQueue is a shared receive queue.
type sharedQueue struct {
	srq      *C.struct_ibv_srq
	receives requests
}

// firstSRQ is after the numbers of those shared receive queues that packets name: they have 24 bits.
const firstSRQ = 1 << 24

// CreateSRQ makes a shared receive queue.
func (d *Device) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := lookUp(d.pds, "protection domain", pd)
	if err != nil {
		return 0, err
	}
	number := firstSRQ + d.object()
	s, err := C.shim_create_srq(p, C.uint32_t(number), count(depth), atLeast(segments, 1))
	if s == nil {
		return 0, failed(fmt.Sprintf("ibv_create_srq of %d requests", depth), err)
	}
	d.srqs[wqe.SRQ(number)] = &sharedQueue{srq: s, receives: requests{most: mostRequests}}
	return wqe.SRQ(number), nil
}

// ModifySRQ arms the limit event.
func (d *Device) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := lookUp(d.srqs, "shared receive queue", srq)
	if err != nil {
		return err
	}
	attr := C.struct_ibv_srq_attr{srq_limit: count(limit)}
	return returned("ibv_modify_srq", C.ibv_modify_srq(s.srq, &attr, C.IBV_SRQ_LIMIT))
}

// DestroySRQ destroys a shared receive queue that no queue pair uses.
func (d *Device) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := lookUp(d.srqs, "shared receive queue", srq)
	if err != nil {
		return err
	}
	if err := returned("ibv_destroy_srq", C.ibv_destroy_srq(s.srq)); err != nil {
		return err
	}
	delete(d.srqs, srq)
	return nil
}

// PostSharedReceive posts a receive request to a shared receive queue.
func (d *Device) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := lookUp(d.srqs, "shared receive queue", srq)
	if err != nil {
		return err
	}
	return d.postReceive(nil, s.srq, &s.receives, r)
}

// CreateXRCD makes a domain of XRC.
func (d *Device) CreateXRCD(ctx context.Context) (wqe.XRCD, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	x, err := C.shim_open_xrcd(d.ctx)
	if x == nil {
		return 0, failed("ibv_open_xrcd", err)
	}
	number := wqe.XRCD(d.object())
	d.xrcds[number] = x
	return number, nil
}

// DestroyXRCD destroys a domain that nothing belongs to.
func (d *Device) DestroyXRCD(ctx context.Context, domain wqe.XRCD) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	x, err := lookUp(d.xrcds, "XRC domain", domain)
	if err != nil {
		return err
	}
	if err := returned("ibv_close_xrcd", C.ibv_close_xrcd(x)); err != nil {
		return err
	}
	delete(d.xrcds, domain)
	return nil
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC, with the number that packets name it by. libibverbs gives it a completion queue, in place of that of the
// target: the one of a target of the domain, which therefore is made before.
func (d *Device) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := lookUp(d.pds, "protection domain", pd)
	if err != nil {
		return 0, err
	}
	x, err := lookUp(d.xrcds, "XRC domain", domain)
	if err != nil {
		return 0, err
	}
	var done *completionQueue
	for _, q := range d.qps {
		if q.Type == qp.TypeXRCTarget && q.XRCD == domain {
			done = d.cqs[q.RecvCQ]
		}
	}
	if done == nil {
		return 0, fmt.Errorf("verbs: XRC domain %#x has no target yet, whose completion queue a shared receive queue takes: create an XRC target in it first", uint32(domain))
	}
	var number C.uint32_t
	s, err := C.shim_create_xrc_srq(p, x, done.cq, count(depth), atLeast(segments, 1), &number)
	if s == nil {
		return 0, failed("ibv_create_srq_ex for XRC", err)
	}
	d.srqs[wqe.SRQ(number)] = &sharedQueue{srq: s, receives: requests{most: mostRequests}}
	return wqe.SRQ(number), nil
}
