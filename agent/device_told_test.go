package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// forgetful is the Query of a device that does not say what completed requests have put into memory.
type forgetful struct{ *soft.HCA }

func (forgetful) Completions(context.Context, wqe.CQ, []hcaagent.Completed) (int, error) {
	return 0, &qp.UnknownError{What: "completions"}
}

// adapter is what the consumer of a channel adapter does. Where elsewhere, it drives the device by itself, and the Device is told.
type adapter struct {
	*agent.Device
	t         *testing.T
	hca       *soft.HCA
	elsewhere bool
	addr      packet.Addr
	log       []cq.Event
	pd        wqe.PD
	cq        wqe.CQ
	srq       wqe.SRQ
	qp        wqe.QP
	lkey      uint32
}

func (a *adapter) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// create makes a region, a completion queue, a shared receive queue where shared, and a queue pair.
func (a *adapter) create(typ qp.Type, shared bool) {
	ctx := a.t.Context()
	var err error
	a.pd, err = a.hca.CreatePD(ctx)
	a.must(err)
	mr := hcaagent.NewMR{PD: a.pd, VA: 4096, Length: 1 << 16, Access: wqe.LocalWrite | wqe.RemoteRead}
	init := qp.InitAttr{Type: typ, PD: a.pd, MaxSend: 8, MaxReceive: 8, MaxSendSegments: 2, MaxRecvSegments: 2}
	if !a.elsewhere {
		_, a.lkey, _, err = a.RegisterMR(ctx, mr)
		a.must(err)
		a.cq, err = a.CreateCQ(ctx, 16)
		a.must(err)
		if shared {
			a.srq, err = a.CreateSRQ(ctx, a.pd, 8, 2)
			a.must(err)
		}
		init.SendCQ, init.RecvCQ, init.SRQ = a.cq, a.cq, a.srq
		a.qp, err = a.CreateQP(ctx, init)
		a.must(err)
		return
	}
	id, lkey, rkey, err := a.hca.RegisterMR(ctx, mr)
	a.must(err)
	a.lkey = lkey
	a.Tell(&cq.Event{Kind: cq.EvRegisterMR, Region: &wqe.Region{PD: mr.PD, MR: id, VA: mr.VA, Length: mr.Length, LKey: lkey, RKey: rkey, Access: mr.Access}})
	a.cq, err = a.hca.CreateCQ(ctx, 16)
	a.must(err)
	a.Tell(&cq.Event{Kind: cq.EvCreateCQ, CQ: a.cq, Depth: 16})
	if shared {
		a.srq, err = a.hca.CreateSRQ(ctx, a.pd, 8, 2)
		a.must(err)
		a.Tell(&cq.Event{Kind: cq.EvCreateSRQ, SRQ: a.srq, Depth: 8})
	}
	init.SendCQ, init.RecvCQ, init.SRQ = a.cq, a.cq, a.srq
	a.qp, err = a.hca.CreateQP(ctx, init)
	a.must(err)
	a.Tell(&cq.Event{Kind: cq.EvCreateQP, QP: a.qp, New: &init})
}

// bring brings the queue pair to a state.
func (a *adapter) bring(to qp.State, attr qp.Attr) {
	a.t.Helper()
	if a.elsewhere {
		a.must(a.hca.TransitionQP(a.t.Context(), a.qp, to, attr))
	}
	a.must(a.TransitionQP(a.t.Context(), a.qp, to, attr))
}

func (a *adapter) send(r wqe.SendRequest) {
	a.t.Helper()
	if a.elsewhere {
		posted := r
		a.must(a.hca.PostSend(a.t.Context(), a.qp, &posted))
		if r.Op != wqe.OpRead {
			r.Segments = nil // the device is asked for them
		}
	}
	a.must(a.PostSend(a.t.Context(), a.qp, r))
}

func (a *adapter) receive(r wqe.ReceiveRequest) {
	a.t.Helper()
	ctx := a.t.Context()
	if a.srq != 0 {
		if a.elsewhere {
			a.must(a.hca.PostSharedReceive(ctx, a.srq, &r))
		}
		a.must(a.PostSharedReceive(ctx, a.srq, r))
		return
	}
	if a.elsewhere {
		a.must(a.hca.PostReceive(ctx, a.qp, &r))
	}
	a.must(a.PostReceive(ctx, a.qp, r))
}

func (a *adapter) store(va uint64, b []byte) {
	a.t.Helper()
	m := wqe.Memory{Key: wqe.Key{Addr: a.addr, Key: a.lkey, Local: true}, VA: va, Length: uint64(len(b))}
	if a.elsewhere {
		a.must(a.hca.SetMemory(a.t.Context(), m, b))
	}
	a.must(a.SetMemory(a.t.Context(), m, b))
}

// poll returns how many completions there were.
func (a *adapter) poll() int {
	a.t.Helper()
	var into [4]cq.Completion
	if a.elsewhere {
		_, err := a.hca.Poll(a.t.Context(), a.cq, into[:])
		a.must(err)
	}
	n, err := a.Poll(a.t.Context(), a.cq, into[:])
	a.must(err)
	return n
}

// look reads memory.
func (a *adapter) look(va uint64, n int) []byte {
	a.t.Helper()
	b := make([]byte, n)
	_, err := a.MemoryData(a.t.Context(), wqe.Memory{Key: wqe.Key{Addr: a.addr, Key: a.lkey, Local: true}, VA: va, Length: uint64(n)}, b)
	a.must(err)
	return b
}

// exchange has two adapters exchange a message of 30000 bytes, or one of 300 where they are datagrams, and one READ it back. It returns their events.
func exchange(t *testing.T, typ qp.Type, shared, elsewhere bool, query func(h *soft.HCA) hcaagent.Query) (list []string) {
	clock := sim.NewClock(1_000_000)
	fabric := sim.NewFabric(clock, sim.Options{})
	var ends [2]*adapter
	for i := range ends {
		a := &adapter{t: t, elsewhere: elsewhere, addr: packet.IPv4Addr([]byte{10, 0, 0, byte(i + 1)})}
		ends[i] = a
		var send func([]byte)
		h, err := soft.New(soft.Options{
			Addr: a.addr, Clock: clock, Seed: uint64(i), Send: func(frame []byte) { send(frame) }, Event: func(e *cq.Event) { a.Tell(e) },
		})
		a.must(err)
		a.hca, send = h, fabric.Attach(a.addr, h.Receive)
		opt := agent.DeviceOptions{Addr: a.addr, Now: clock.Now, Limits: h.Limits(), Event: func(e *cq.Event) { a.log = append(a.log, *e) }}
		if !elsewhere {
			opt.Control = h
		}
		if query != nil {
			opt.Query = query(h)
		}
		a.Device = agent.NewDevice(opt)
		a.create(typ, shared && i == 1)
	}
	for from := qp.Reset; from < qp.RTS; from++ {
		for i, a := range ends {
			attr := attributes
			attr.DestQPN, attr.DestAddr, attr.QKey, attr.Access = ends[1-i].qp.QPN, ends[1-i].addr, 7, wqe.RemoteRead
			attr.Known, _ = qp.Takes(typ, from, from+1)
			a.bring(from+1, attr)
		}
	}
	a, b := ends[0], ends[1]
	data := make([]byte, 30_000)
	if typ == qp.TypeUD {
		data = data[:300]
	}
	for i := range data {
		data[i] = byte(i * i >> 8)
	}
	a.store(5000, data)
	n := uint32(len(data))
	head := uint32(0)
	if typ == qp.TypeUD {
		head = 40
	}
	b.receive(wqe.ReceiveRequest{ID: 3, Segments: []wqe.Segment{{VA: 8192, Length: head + 100, LKey: b.lkey}, {VA: 20_000, Length: 40_000, LKey: b.lkey}}})
	a.send(wqe.SendRequest{ID: 3, Op: wqe.OpSend, Segments: []wqe.Segment{{VA: 5000, Length: n, LKey: a.lkey}}, Dest: b.qp, QKey: 7})
	for clock.Step() {
	}
	if b.poll() != 1 || a.poll() != 0 {
		t.Fatal("the message was not received, or its request was signaled")
	}
	if query != nil && string(b.look(20_000, len(data)-100)) != string(data[100:]) {
		t.Fatal("other data was received")
	}
	if typ != qp.TypeUD {
		read := wqe.SendRequest{ID: 3, Op: wqe.OpRead, Flags: wqe.Signaled, RemoteVA: 20_000, RKey: b.lkey}
		read.Segments = []wqe.Segment{{VA: 40_000, Length: 20_000, LKey: a.lkey}}
		a.send(read)
		for clock.Step() {
		}
		if a.poll() != 1 {
			t.Fatal("the READ did not complete")
		}
	}
	for _, a := range ends {
		for i := range a.log {
			text, err := json.Marshal(&a.log[i])
			a.must(err)
			list = append(list, string(text))
		}
	}
	return list
}

// TestDeviceTold: the events are the same whether the Device drives the adapter or is told what another does with it, and whether the adapter says what its
// completed requests have put into memory or the Device looks.
func TestDeviceTold(t *testing.T) {
	whole := func(h *soft.HCA) hcaagent.Query { return h }
	for _, typ := range []qp.Type{qp.TypeRC, qp.TypeUD} {
		for _, shared := range []bool{false, true} {
			want := exchange(t, typ, shared, false, whole)
			if len(want) < 15 {
				t.Fatalf("%v: only %d events", typ, len(want))
			}
			for name, got := range map[string][]string{
				"told":          exchange(t, typ, shared, true, whole),
				"by its memory": exchange(t, typ, shared, false, func(h *soft.HCA) hcaagent.Query { return forgetful{h} }),
				"told nothing":  exchange(t, typ, shared, false, func(h *soft.HCA) hcaagent.Query { return silent{h} }),
			} {
				if !slices.Equal(got, want) {
					t.Errorf("%v, shared %v, %s:\n%q\nwant\n%q", typ, shared, name, got, want)
				}
			}
			exchange(t, typ, shared, false, nil) // nobody to ask: it goes on
		}
	}
}

// TestDeviceElsewhere: without a Control no object is made, what is invalid is refused, and who is asked for what is not known says so.
func TestDeviceElsewhere(t *testing.T) {
	ctx := t.Context()
	addr := packet.IPv4Addr([]byte{10, 0, 0, 1})
	var log []cq.EventKind
	d := agent.NewDevice(agent.DeviceOptions{Addr: addr, Now: func() int64 { return 5 }, Event: func(e *cq.Event) {
		if e.Time != 5 || e.QP.Addr != addr {
			t.Errorf("%+v", e)
		}
		log = append(log, e.Kind)
	}})
	_, err1 := d.CreateQP(ctx, qp.InitAttr{})
	_, err2 := d.CreateCQ(ctx, 1)
	_, err3 := d.CreateSRQ(ctx, 1, 1, 1)
	_, err4 := d.CreateXRCSRQ(ctx, 1, 1, 1, 1)
	_, _, _, err5 := d.RegisterMR(ctx, hcaagent.NewMR{})
	_, _, err6 := d.AllocateMW(ctx, 1, 1)
	_, err7 := d.CreateAH(ctx, 1, wqe.AddressVector{})
	_, err8 := d.CreatePD(ctx)
	_, err9 := d.CreateXRCD(ctx)
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9} {
		if !errors.Is(err, agent.ErrNoControl) {
			t.Errorf("verb %d: %v", i, err)
		}
	}
	if len(log) > 0 {
		t.Errorf("events %v of what there is not", log)
	}
	q := wqe.QP{Addr: addr, QPN: 17}
	d.Tell(&cq.Event{Kind: cq.EvCreateQP, QP: q, New: &qp.InitAttr{Type: qp.TypeRC}})
	var te *qp.TransitionError
	if err := d.TransitionQP(ctx, q, qp.RTS, qp.Attr{}); !errors.As(err, &te) {
		t.Errorf("from RESET to RTS: %v", err)
	}
	if err := d.BringUp(ctx, q, attributes); err != nil {
		t.Error(err)
	}
	_, state, err := d.QueryQP(ctx, q)
	if !errors.Is(err, qp.ErrUnknown) {
		t.Errorf("attributes: %v, state %v", err, state)
	}
	var into [1]cq.Completion
	if _, err := d.Poll(ctx, 1, into[:]); !errors.Is(err, qp.ErrUnknown) {
		t.Errorf("completions: %v", err)
	}
	d.Tell(&cq.Event{Kind: cq.EvCompletion, Completion: &cq.Completion{QP: q, Status: cq.RetryExcErr}})
	for _, verb := range []error{
		d.PostSend(ctx, q, wqe.SendRequest{Segments: []wqe.Segment{{Length: 8, LKey: 3}}}), d.PostReceive(ctx, q, wqe.ReceiveRequest{}),
		d.TransitionQP(ctx, q, qp.Reset, qp.Attr{}), d.DestroyQP(ctx, q), d.DestroyCQ(ctx, 1), d.SetMemory(ctx, wqe.Memory{}, []byte{1}),
	} {
		if verb != nil {
			t.Error(verb)
		}
	}
	want := []cq.EventKind{
		cq.EvCreateQP, cq.EvModifyQP, cq.EvModifyQP, cq.EvModifyQP, cq.EvCompletion, cq.EvPostSend, cq.EvPostReceive, cq.EvModifyQP, cq.EvDestroyQP, cq.EvDestroyCQ, cq.EvMemory,
	}
	if !slices.Equal(log, want) {
		t.Errorf("events %v, want %v", log, want)
	}
	if err := d.PostSend(ctx, q, wqe.SendRequest{}); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("a queue pair that was destroyed: %v", err)
	}
}
