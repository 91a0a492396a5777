// Command libibwitness is the C library of ibwitness: attach/c/ibwitness.h, over package attach. Build it with
//
//	go build -buildmode=c-shared -o libibwitness.so ./cmd/libibwitness
//
// What is exported here is only for attach/c/ibwitness.c, which checks the run that it is given, and hands findings over when nothing of Go is on the stack.
package main

/*
#cgo CFLAGS: -std=c99 -D_GNU_SOURCE -O2
#include <stdlib.h>
#include <string.h>
#include "ibwitness.h"
*/
import "C"

import (
	"errors"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"ibwitness/attach"
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

func main() {} // of a library, which -buildmode wants

// runs are those that are open, by the number that C knows them by. The list only grows, and is replaced as a whole, so that it is read without a lock.
var (
	runs  atomic.Pointer[[]*entry]
	grows sync.Mutex
)

type entry struct {
	run     *attach.Run
	last    string     // what was wrong with the last call that failed
	waiting *C.int32_t // of C: how many findings wait
	kept    []unsafe.Pointer
}

func of(n C.uint32_t) *entry { return (*runs.Load())[n] }

func init() {
	runs.Store(new([]*entry))
	debug.SetGCPercent(400) // a run allocates little, and a testbench has its own memory
}

// status is the result of a call: how many errors were found, or what was wrong with it.
func (e *entry) status(n int, err error) C.int {
	*e.waiting = C.int32_t(min(e.run.Waiting(), 1<<30))
	if err == nil {
		return C.int(min(n, 1<<30))
	}
	e.last = err.Error()
	return kind(err)
}

func kind(err error) C.int {
	var file *fs.PathError
	switch {
	case errors.Is(err, attach.ErrEnded):
		return C.IBW_EENDED
	case errors.Is(err, attach.ErrTime):
		return C.IBW_ETIME
	case errors.As(err, &file):
		return C.IBW_EIO
	}
	return C.IBW_EINVAL
}

// bytesOf is memory of C as a slice, which is not kept.
func bytesOf(p unsafe.Pointer, n C.size_t) []byte {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), int(n))
}

//export ibw_go_open
func ibw_go_open(config *C.char, err **C.char, waiting, signals *C.int32_t) C.int64_t {
	var text []byte
	if config != nil {
		text = bytesOf(unsafe.Pointer(config), C.strlen(config))
	}
	r, wrong := attach.Open(text)
	if wrong != nil {
		*err = C.CString(wrong.Error())
		return -1
	}
	grows.Lock()
	defer grows.Unlock()
	old := *runs.Load()
	list := append(append(make([]*entry, 0, len(old)+1), old...), &entry{run: r, waiting: waiting})
	*signals = flag(r.Signals == nil || *r.Signals)
	runs.Store(&list)
	return C.int64_t(len(old))
}

//export ibw_go_error
func ibw_go_error(n C.uint32_t) *C.char { return C.CString(of(n).last) }

//export ibw_go_version
func ibw_go_version() *C.char { return C.CString(version) }

// version is set by the linker.
var version = "devel"

//export ibw_go_add_tap
func ibw_go_add_tap(n C.uint32_t, json *C.char) C.int {
	e := of(n)
	tap, err := e.run.AddTap(bytesOf(unsafe.Pointer(json), C.strlen(json)))
	return e.status(tap, err)
}

//export ibw_go_tap
func ibw_go_tap(n C.uint32_t, name *C.char) C.int {
	e := of(n)
	tap, err := e.run.Tap(C.GoString(name))
	return e.status(tap, err)
}

//export ibw_go_hca
func ibw_go_hca(n C.uint32_t, name *C.char) C.int {
	e := of(n)
	hca, err := e.run.HCA(C.GoString(name))
	return e.status(hca, err)
}

//export ibw_go_frame
func ibw_go_frame(n, tap C.uint32_t, way C.int, at C.uint64_t, data unsafe.Pointer, size, wire C.size_t) C.int {
	e := of(n)
	found, err := e.run.Frame(int(tap), packet.Way(way), uint64(at), bytesOf(data, size), int(wire))
	return e.status(found, err)
}

//export ibw_go_bad
func ibw_go_bad(n, tap C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	return e.status(0, e.run.Bad(int(tap), uint64(at)))
}

//export ibw_go_link
func ibw_go_link(n, tap, port C.uint32_t, symbols, ebp C.int, at C.uint64_t, data unsafe.Pointer, size C.size_t) C.int {
	e := of(n)
	found, err := e.run.Link(int(tap), uint8(min(port, 255)), uint8(symbols), ebp != 0, uint64(at), bytesOf(data, size))
	return e.status(found, err)
}

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

//export ibw_go_advance
func ibw_go_advance(n C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Advance(uint64(at))
	return e.status(found, err)
}

//export ibw_go_lost
func ibw_go_lost(n, tap C.uint32_t, frames C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Lost(int(tap), uint64(frames))
	return e.status(found, err)
}

//export ibw_go_reset
func ibw_go_reset(n, tap C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Reset(int(tap), uint64(at))
	return e.status(found, err)
}

func flag(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

//export ibw_go_next
func ibw_go_next(n C.uint32_t, out *C.ibw_finding) C.int {
	e := of(n)
	for _, p := range e.kept {
		C.free(p)
	}
	e.kept = e.kept[:0]
	f, ok := e.run.Next()
	*e.waiting = C.int32_t(min(e.run.Waiting(), 1<<30))
	if !ok {
		return 0
	}
	text := func(s string) *C.char {
		p := C.CString(s)
		e.kept = append(e.kept, unsafe.Pointer(p))
		return p
	}
	row := f.Rule.Row()
	*out = C.ibw_finding{
		size: C.sizeof_ibw_finding, id: C.uint32_t(f.ID), change: C.int32_t(f.Change) + C.IBW_NEW, waived: flag(f.Waived), tap: C.uint32_t(f.Tap),
		psn: C.uint32_t(f.PSN), psn_known: flag(f.HasBTH), accused_qpn: C.uint32_t(f.Accused.QPN), accused_qpn_known: flag(f.Accused.QPNKnown),
		peer_qpn: C.uint32_t(f.Peer.QPN), peer_qpn_known: flag(f.Peer.QPNKnown), frame: C.uint64_t(f.Frame), time_ps: C.uint64_t(f.TimePS), seen_ps: C.uint64_t(f.SeenPS),
		rule: text(row.ID), name: text(row.Name), reference: text(row.Ref), accused: text(f.AccusedText()), peer: text(f.PeerText()), expected: text(f.Expected),
		actual: text(f.Actual), detail: text(f.Detail), text: text(f.Text), comparison: text(f.Fields()),
	}
	switch f.Class {
	case rule.Violation:
		out.cls = C.IBW_VIOLATION
	case rule.Unproven:
		out.cls = C.IBW_UNPROVEN
	default:
		out.cls = C.IBW_EVENT
	}
	switch row.Severity {
	case rule.Error:
		out.severity = C.IBW_ERROR
	case rule.Warning:
		out.severity = C.IBW_WARNING
	default:
		out.severity = C.IBW_INFO
	}
	return 1
}

//export ibw_go_outstanding
func ibw_go_outstanding(n C.uint32_t, json *C.char, size C.size_t) C.int {
	list := of(n).run.Outstanding()
	if json == nil || size == 0 {
		return C.int(len(list))
	}
	out := bytesOf(unsafe.Pointer(json), size)
	at := 0
	put := func(s string) { at += copy(out[at:], s) }
	if size < 3 {
		out[0] = 0
		return C.int(len(list))
	}
	put("[")
	for i := range list {
		text := string(list[i].JSON())
		if i > 0 {
			text = "," + text
		}
		if at+len(text)+2 > len(out) {
			break
		}
		put(text)
	}
	put("]\x00")
	return C.int(len(list))
}

//export ibw_go_end
func ibw_go_end(n C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.End(uint64(at))
	return e.status(found, err)
}

//export ibw_go_doubts
func ibw_go_doubts(n C.uint32_t, text *C.char, size C.size_t) C.int {
	list := of(n).run.Doubts()
	if text != nil && size > 0 {
		out := bytesOf(unsafe.Pointer(text), size)
		out[copy(out[:len(out)-1], strings.Join(list, "\n"))] = 0
	}
	return C.int(len(list))
}

//export ibw_go_errors
func ibw_go_errors(n C.uint32_t) C.int { return C.int(min(of(n).run.Errors(), 1<<30)) }

//export ibw_go_now
func ibw_go_now(n C.uint32_t) C.uint64_t { return C.uint64_t(of(n).run.Now()) }

//export ibw_go_report
func ibw_go_report(n C.uint32_t, format, path *C.char) C.int {
	e := of(n)
	return e.status(0, e.run.Report(C.GoString(format), C.GoString(path)))
}

//export ibw_go_covered
func ibw_go_covered(n C.uint32_t, id *C.char, exercised, violated *C.uint64_t) C.int {
	e := of(n)
	x, v, err := e.run.Covered(C.GoString(id))
	if err == nil {
		if exercised != nil {
			*exercised = C.uint64_t(x)
		}
		if violated != nil {
			*violated = C.uint64_t(v)
		}
	}
	return e.status(0, err)
}

//export ibw_go_close
func ibw_go_close(n C.uint32_t) C.int {
	e := of(n)
	err := e.run.Close()
	for _, p := range e.kept {
		C.free(p)
	}
	status := e.status(0, err)
	*e = entry{last: e.last} // what the run holds is given up
	return status
}
