package main

/*
#include <string.h>
#include "ibwitness.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"ibwitness/cq"
	"ibwitness/wqe"
)

//export ibw_go_event
func ibw_go_event(n, hca C.uint32_t, at C.uint64_t, json *C.char) C.int {
	e := of(n)
	found, err := e.run.Event(int(hca), uint64(at), bytesOf(unsafe.Pointer(json), C.strlen(json)))
	return e.status(found, err)
}

var operations = map[C.int32_t]wqe.SendOp{
	C.IBW_RDMA_WRITE: wqe.OpWrite, C.IBW_RDMA_WRITE_WITH_IMM: wqe.OpWriteImm, C.IBW_SEND: wqe.OpSend, C.IBW_SEND_WITH_IMM: wqe.OpSendImm,
	C.IBW_RDMA_READ: wqe.OpRead, C.IBW_ATOMIC_CMP_AND_SWP: wqe.OpCmpSwap, C.IBW_ATOMIC_FETCH_AND_ADD: wqe.OpFetchAdd,
	C.IBW_LOCAL_INV: wqe.OpLocalInv, C.IBW_SEND_WITH_INV: wqe.OpSendInv, C.IBW_ATOMIC_WRITE: wqe.OpAtomicWrite,
}

var completed = map[C.int32_t]cq.CompletionOp{
	C.IBW_WC_SEND: cq.DoneSend, C.IBW_WC_RDMA_WRITE: cq.DoneWrite, C.IBW_WC_RDMA_READ: cq.DoneRead, C.IBW_WC_COMP_SWAP: cq.DoneCmpSwap,
	C.IBW_WC_FETCH_ADD: cq.DoneFetchAdd, C.IBW_WC_BIND_MW: cq.DoneBindMW, C.IBW_WC_LOCAL_INV: cq.DoneLocalInv, C.IBW_WC_FLUSH: cq.DoneFlush,
	C.IBW_WC_ATOMIC_WRITE: cq.DoneAtomicWrite, C.IBW_WC_RECV: cq.DoneRecv, C.IBW_WC_RECV_RDMA_WITH_IMM: cq.DoneRecvWriteImm,
}

// segments are those of a work request, in Go.
func segments(list *C.ibw_segment, n C.uint32_t) (out []wqe.Segment, err error) {
	if n > 1<<16 || n > 0 && list == nil {
		return nil, errors.New("libibwitness: segments: give a list of nsegments, at most 65536")
	}
	for _, g := range unsafe.Slice(list, int(n)) {
		out = append(out, wqe.Segment{VA: uint64(g.addr), Length: uint32(g.length), LKey: uint32(g.lkey)})
	}
	return out, nil
}

//export ibw_go_post_send
func ibw_go_post_send(n, hca C.uint32_t, at C.uint64_t, s *C.ibw_send) C.int {
	e := of(n)
	op, ok := operations[s.operation]
	if !ok {
		return e.status(0, errors.New("libibwitness: ibw_post_send: the operation is none of enum ibw_operation that a struct can tell: give others to ibw_event"))
	}
	list, err := segments(s.segments, s.nsegments)
	if err != nil {
		return e.status(0, err)
	}
	q := wqe.SendRequest{
		ID: uint64(s.wr_id), Op: op, Imm: uint32(s.imm), InvKey: uint32(s.inv_rkey), RemoteVA: uint64(s.remote_addr), RKey: uint32(s.rkey), Segments: list,
		Compare: uint64(s.compare), SwapAdd: uint64(s.swap_add), Dest: wqe.QP{QPN: uint32(s.dest_qpn)}, QKey: uint32(s.qkey), AH: wqe.AH(s.ah), XRCSRQ: uint32(s.xrc_srqn),
	}
	for _, f := range [...]struct {
		bit  C.uint32_t
		flag wqe.SendFlags
	}{{C.IBW_FENCE, wqe.Fence}, {C.IBW_SIGNALED, wqe.Signaled}, {C.IBW_SOLICITED, wqe.Solicited}, {C.IBW_INLINE, wqe.Inline}} {
		if s.flags&f.bit != 0 {
			q.Flags |= f.flag
		}
	}
	found, err := e.run.Send(int(hca), uint64(at), uint32(s.qpn), &q, bytesOf(unsafe.Pointer(s.data), s.ndata))
	return e.status(found, err)
}

//export ibw_go_post_recv
func ibw_go_post_recv(n, hca C.uint32_t, at C.uint64_t, qpn, srq C.uint32_t, id C.uint64_t, list *C.ibw_segment, size C.uint32_t) C.int {
	e := of(n)
	sge, err := segments(list, size)
	if err != nil {
		return e.status(0, err)
	}
	found, err := e.run.Receive(int(hca), uint64(at), uint32(qpn), wqe.SRQ(srq), &wqe.ReceiveRequest{ID: uint64(id), Segments: sge})
	return e.status(found, err)
}

//export ibw_go_complete
func ibw_go_complete(n, hca C.uint32_t, at C.uint64_t, s *C.ibw_completion) C.int {
	e := of(n)
	op, ok := completed[s.operation]
	if !ok && s.status == 0 {
		return e.status(0, errors.New("libibwitness: ibw_complete: the operation is none of enum ibw_completed"))
	}
	if s.status < 0 || s.status > 255 {
		return e.status(0, errors.New("libibwitness: ibw_complete: the status is none of enum ibv_wc_status: give 0 to 21"))
	}
	c := cq.Completion{
		ID: uint64(s.wr_id), QP: wqe.QP{QPN: uint32(s.qpn)}, Status: cq.Status(s.status), Op: op, ByteLen: uint32(s.byte_len), Imm: uint32(s.imm), InvKey: uint32(s.inv_rkey),
		SrcQP: uint32(s.src_qpn), SLID: uint16(s.slid), SL: uint8(s.sl),
	}
	for _, f := range [...]struct {
		is   C.int32_t
		flag cq.CompletionFlags
	}{{s.has_imm, cq.WithImm}, {s.has_inv, cq.WithInv}, {s.has_grh, cq.WithGRH}} {
		if f.is != 0 {
			c.Flags |= f.flag
		}
	}
	found, err := e.run.Complete(int(hca), uint64(at), wqe.CQ(s.cq), &c)
	return e.status(found, err)
}
