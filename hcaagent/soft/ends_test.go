package soft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

var (
	ctx   = context.Background()
	addrs = [2]packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})}
	six   = [2]packet.Addr{{Hi: 0x20010db8 << 32, Lo: 1}, {Hi: 0x20010db8 << 32, Lo: 2}}
)

// everything is all that a peer may be permitted.
const everything = wqe.RemoteWrite | wqe.RemoteRead | wqe.RemoteAtomic | wqe.RemoteFlush | wqe.RemotePersist

// adapter is a device and its verbs, which let invalid requests through.
type adapter struct {
	*agent.Device
	hca *soft.HCA
}

// end is one end of a connection: a device with one of its queue pairs and its memory.
type end struct {
	*adapter
	t       testing.TB
	qp      wqe.QP
	pd      wqe.PD
	cq      wqe.CQ // of both queues
	va      uint64
	length  uint64
	key     uint32
	attr    qp.Attr
	typ     qp.Type
	lenient bool      // what it posts may be refused
	srq     wqe.SRQ   // in place of the receive queue; 0: none
	targets []wqe.SRQ // that messages on XRC name
	domain  wqe.XRCD
	got     []cq.Completion
	room    [64]cq.Completion
}

// must is for what a test takes for granted.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// ownQueue asks newEnd for a shared receive queue of the end's own.
const ownQueue wqe.SRQ = 1 << 31

// newEnd makes a queue pair in INIT with memory of its own.
func newEnd(t testing.TB, h *adapter, n qp.InitAttr, va, length uint64) *end {
	t.Helper()
	e := &end{adapter: h, t: t, va: va, length: length, typ: n.Type}
	e.pd = must(h.CreatePD(ctx))(t)
	e.cq = must(h.CreateCQ(ctx, 4096))(t)
	n.PD, n.SendCQ, n.RecvCQ = e.pd, e.cq, e.cq
	if n.SRQ == ownQueue {
		e.srq = must(h.CreateSRQ(ctx, e.pd, 256, 4))(t)
		n.SRQ = e.srq
	}
	if n.Type == qp.TypeXRCTarget {
		e.domain = must(h.CreateXRCD(ctx))(t)
		n.XRCD = e.domain
	}
	e.qp = must(h.CreateQP(ctx, n))(t)
	_, key, _, err := h.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: va, Length: length, Access: everything | wqe.LocalWrite | wqe.BindWindow})
	if err != nil {
		t.Fatal(err)
	}
	e.key = key
	e.attr = qp.Attr{
		PKey:    0xFFFF,
		Port:    1,
		QKey:    0x1234,
		Access:  everything,
		PMTU:    1024,
		Timeout: 8, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 1, MaxRdAtomic: 4, MaxDestRdAtomic: 4,
	}
	e.attr.Known, _ = qp.Takes(n.Type, qp.Reset, qp.Init)
	if err := h.TransitionQP(ctx, e.qp, qp.Init, e.attr); err != nil {
		t.Fatal(err)
	}
	return e
}

// connect brings two queue pairs to RTS.
func connect(a, b *end) {
	a.attr.DestQPN, a.attr.DestAddr, a.attr.RQPSN = b.qp.QPN, b.qp.Addr, b.attr.SQPSN
	b.attr.DestQPN, b.attr.DestAddr, b.attr.RQPSN = a.qp.QPN, a.qp.Addr, a.attr.SQPSN
	for _, e := range []*end{a, b} {
		e.t.Helper()
		for from := qp.Init; from < qp.RTS; from++ {
			required, optional := qp.Takes(e.typ, from, from+1)
			e.attr.Known = required | optional&qp.KnowsTClass
			if from == qp.Init {
				e.attr.Known |= optional & qp.KnowsAccess
			}
			if err := e.TransitionQP(ctx, e.qp, from+1, e.attr); err != nil {
				e.t.Fatal(err)
			}
		}
	}
}

// devices makes two devices on a link.
func devices(t testing.TB, seed uint64, at [2]packet.Addr, change func(i int, o *soft.Options)) (*link, [2]*adapter) {
	t.Helper()
	l := &link{clock: &clock{now: 1_700_000_000_000_000_000}, Rand: rand.New(rand.NewPCG(seed, 1)), delay: 1000}
	var hs [2]*adapter
	for i := range hs {
		o := soft.Options{Addr: at[i], MAC: [6]byte{2, 0, 0, 0, 0, byte(i)}, Clock: l.clock, Seed: seed*2 + uint64(i)}
		o.Send = func(frame []byte) { l.send(i, frame) }
		l.logs[i] = &hcaagent.Log{Addr: at[i], Exact: true}
		o.Event = func(e *cq.Event) { l.logs[i].Events = append(l.logs[i].Events, *e) }
		if change != nil {
			change(i, &o)
		}
		told := o.Event
		hs[i] = new(adapter)
		o.Event = func(e *cq.Event) { hs[i].Tell(e) }
		h, err := soft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		hs[i].hca = h
		hs[i].Device = agent.NewDevice(agent.DeviceOptions{Addr: at[i], Now: l.clock.Now, Control: h, Query: h, Event: told, Limits: h.Limits()}).Deliberately()
		l.ends[i] = h.Receive
		l.taps[i].near = []packet.Addr{at[i]}
	}
	return l, hs
}

// sge is one segment of the end's memory.
func (e *end) sge(off, n int) []wqe.Segment {
	return []wqe.Segment{{VA: e.va + uint64(off), Length: uint32(n), LKey: e.key}}
}

// memory names a part of the end's memory.
func (e *end) memory(off, n int) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Addr: e.qp.Addr, Key: e.key}, VA: e.va + uint64(off), Length: uint64(n)}
}

func (e *end) bytes(off, n int) []byte {
	e.t.Helper()
	b := make([]byte, n)
	if _, err := e.MemoryData(ctx, e.memory(off, n), b); err != nil {
		e.t.Fatal(err)
	}
	return b
}

func (e *end) set(off int, b []byte) {
	e.t.Helper()
	if err := e.SetMemory(ctx, e.memory(off, len(b)), b); err != nil {
		e.t.Fatal(err)
	}
}

func (e *end) post(r wqe.SendRequest) {
	e.t.Helper()
	if err := e.PostSend(ctx, e.qp, r); err != nil && !e.lenient {
		e.t.Fatal(err)
	}
}

func (e *end) receive(id uint64, off, n int) {
	e.t.Helper()
	r := wqe.ReceiveRequest{ID: id, Segments: e.sge(off, n)}
	post := func() error { return e.PostReceive(ctx, e.qp, r) }
	if e.srq != 0 {
		post = func() error { return e.PostSharedReceive(ctx, e.srq, r) }
	}
	if err := post(); err != nil && !e.lenient {
		e.t.Fatal(err)
	}
}

// poll takes all completions that wait.
func (e *end) poll() {
	c := &e.room
	for {
		n, err := e.Poll(ctx, e.cq, c[:])
		if err != nil {
			e.t.Fatal(err)
		}
		e.got = append(e.got, c[:n]...)
		if n < len(c) {
			return
		}
	}
}

// sends and receives are the completions of either queue.
func (e *end) sends() (out []cq.Completion) {
	for _, c := range e.got {
		if c.ID < receiveID {
			out = append(out, c)
		}
	}
	return out
}

func (e *end) receives() (out []cq.Completion) {
	for _, c := range e.got {
		if c.ID >= receiveID {
			out = append(out, c)
		}
	}
	return out
}

// receiveID is where the numbers of receive requests begin.
const receiveID = 1 << 32

// pair makes two connected queue pairs, one on each device.
func pair(t testing.TB, hs [2]*adapter, typ qp.Type, i int, length uint64, change func(a, b *end), create ...func(n *qp.InitAttr)) [2]*end {
	t.Helper()
	va := uint64(0x10000000 * (i + 1))
	n := qp.InitAttr{Type: typ}
	for _, f := range create {
		f(&n)
	}
	a := newEnd(t, hs[0], n, va, length)
	if n.Type == qp.TypeXRCInitiator {
		n.Type = qp.TypeXRCTarget
	}
	b := newEnd(t, hs[1], n, va+0x8000000, length)
	a.attr.SQPSN, b.attr.SQPSN = 0x1000, 0xFFFFF0
	if change != nil {
		change(a, b)
	}
	connect(a, b)
	return [2]*end{a, b}
}

func complain(c cq.Completion) string { return fmt.Sprintf("%+v", c) }
