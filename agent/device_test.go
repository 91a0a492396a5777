package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// bench is a session with a soft HCA that the verbs of the agent drive, which has one queue pair in RESET.
type bench struct {
	*agent.Device
	t     *testing.T
	clock *sim.Clock
	s     *agent.Session
	q     wqe.QP
	pd    wqe.PD
	cq    wqe.CQ
	lkey  uint32
	found []rule.ID
}

func newBench(t *testing.T, typ qp.Type, fault string) *bench {
	t.Helper()
	b := &bench{t: t, clock: sim.NewClock(1_000_000)}
	addr := packet.IPv4Addr([]byte{10, 0, 0, 1})
	h, err := soft.New(soft.Options{Addr: addr, Clock: b.clock, Fault: fault, Send: func([]byte) {}, Event: func(e *cq.Event) { b.Tell(e) }})
	b.must(err)
	b.s = agent.NewSession(agent.Options{Near: []packet.Addr{addr}})
	_, err = b.s.Tap(fabricagent.Tap{})
	b.must(err)
	b.Device = b.s.Device(agent.DeviceOptions{Addr: addr, Now: b.clock.Now, Control: h, Query: h, Limits: h.Limits()}, func(list []rule.Change) {
		for _, c := range list {
			b.found = append(b.found, c.Finding.Rule)
		}
	})
	ctx := t.Context()
	b.pd, err = b.CreatePD(ctx)
	b.must(err)
	_, b.lkey, _, err = b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: 4096, Length: 4096})
	b.must(err)
	b.cq, err = b.CreateCQ(ctx, 16)
	b.must(err)
	b.q, err = b.CreateQP(ctx, qp.InitAttr{
		Type: typ, PD: b.pd, SendCQ: b.cq, RecvCQ: b.cq, MaxSend: 8, MaxReceive: 8, MaxSendSegments: 2, MaxRecvSegments: 2, MaxInline: 64,
	})
	b.must(err)
	return b
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// attributes are valid for each transition to RTS.
var attributes = qp.Attr{
	PKey: 0xFFFF, Port: 1, PMTU: 1024, DestQPN: 17, DestAddr: packet.IPv4Addr([]byte{10, 0, 0, 2}), Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12,
	MaxRdAtomic: 16, MaxDestRdAtomic: 16,
}

// to brings the queue pair to a state, with one attribute changed.
func (b *bench) to(d *agent.Device, from, to qp.State, more qp.Known, change func(*qp.Attr)) error {
	a := attributes
	a.Known, _ = qp.Takes(qp.TypeRC, from, to)
	a.Known |= more
	if change != nil {
		change(&a)
	}
	return d.TransitionQP(b.t.Context(), b.q, to, a)
}

// TestDeviceAttributes: an attribute that is invalid does not reach the device; on purpose it does, and a device that refuses it is silent, and one that
// takes it is accused under the rule that the error names.
func TestDeviceAttributes(t *testing.T) {
	for _, c := range []struct {
		rule   rule.ID
		fault  string // that has a device take it; empty: there is none
		from   qp.State
		to     qp.State
		more   qp.Known
		change func(*qp.Attr)
	}{
		{rule.QPSATT001, "path-mtu-odd", qp.Init, qp.RTR, 0, func(a *qp.Attr) { a.PMTU = 300 }},
		{rule.QPSATT002, "initiator-depth-200", qp.RTR, qp.RTS, 0, func(a *qp.Attr) { a.MaxRdAtomic = 200 }},
		{rule.QPSATT002, "resources-200", qp.Init, qp.RTR, 0, func(a *qp.Attr) { a.MaxDestRdAtomic = 200 }},
		{rule.QPSATT003, "timer-code", qp.Init, qp.RTR, 0, func(a *qp.Attr) { a.MinRNRTimer = 40 }},
		{rule.QPSATT003, "retry-count-9", qp.RTR, qp.RTS, 0, func(a *qp.Attr) { a.RetryCnt = 9 }},
		{rule.QPSATT004, "port-2", qp.Reset, qp.Init, 0, func(a *qp.Attr) { a.Port = 2 }},
		{rule.QPSATT004, "pkey-index-5", qp.Reset, qp.Init, 0, func(a *qp.Attr) { a.PKey, a.PKeyIndex = 0, 5 }},
		{rule.QPSATT005, "", qp.RTR, qp.RTS, qp.KnowsMigState, func(a *qp.Attr) { a.MigState = qp.Armed }},
		{rule.QPSATT006, "psn-of-25-bits", qp.RTR, qp.RTS, 0, func(a *qp.Attr) { a.SQPSN = 1 << 24 }},
		{rule.QPSTRN005, "current-state-ignored", qp.RTR, qp.RTS, qp.KnowsCurState, func(a *qp.Attr) { a.CurState = qp.SQD }},
		{rule.QPSATT006, "", qp.Init, qp.RTR, 0, func(a *qp.Attr) { a.DestQPN = 1 << 24 }},
	} {
		name := c.rule.String() + " " + c.fault
		bring := func(fault string) *bench {
			b := newBench(t, qp.TypeRC, fault)
			for s := qp.Reset; s < c.from; s++ {
				b.must(b.to(b.Device, s, s+1, 0, nil))
			}
			return b
		}
		b := bring("")
		var invalid *qp.InvalidError
		if err := b.to(b.Device, c.from, c.to, c.more, c.change); !errors.As(err, &invalid) || invalid.Rule != c.rule {
			t.Errorf("%s: %v", name, err)
		}
		if _, state, err := b.QueryQP(t.Context(), b.q); err != nil || state != c.from {
			t.Errorf("%s: the device is in %v, %v", name, state, err)
		}
		if c.rule != rule.QPSATT005 { // the soft HCA takes ARMED
			if err := b.to(b.Deliberately(), c.from, c.to, c.more, c.change); err == nil || len(b.found) > 0 {
				t.Errorf("%s: sent on purpose to a device that refuses it: %v, found %v", name, err, b.found)
			}
		}
		b.must(b.to(b.Device, c.from, c.to, 0, nil))
		if len(b.found) > 0 {
			t.Errorf("%s: valid attributes: found %v", name, b.found)
		}
		if c.fault == "" {
			continue
		}
		b = bring(c.fault)
		if err := b.to(b.Deliberately(), c.from, c.to, c.more, c.change); err != nil || !slices.Contains(b.found, c.rule) {
			t.Errorf("%s: sent on purpose to a device that takes it: %v, found %v", name, err, b.found)
		}
	}
}

// TestDeviceTransitions: so it is with transitions.
func TestDeviceTransitions(t *testing.T) {
	for _, c := range []struct {
		rule  rule.ID
		fault string
		from  qp.State
		to    qp.State
		known qp.Known
	}{
		{rule.QPSTRN001, "illegal-transition", qp.Init, qp.RTS, 0},
		{rule.QPSTRN002, "transition-incomplete", qp.Reset, qp.Init, qp.KnowsPort | qp.KnowsAccess},
		{rule.QPSTRN003, "transition-superfluous", qp.Reset, qp.Init, qp.KnowsPort | qp.KnowsAccess | qp.KnowsPKey | qp.KnowsPMTU},
	} {
		for _, fault := range []string{"", c.fault} {
			b := newBench(t, qp.TypeRC, fault)
			if c.from == qp.Init {
				b.must(b.to(b.Device, qp.Reset, qp.Init, 0, nil))
			}
			a := attributes
			a.Known = c.known
			var te *qp.TransitionError
			if err := b.TransitionQP(t.Context(), b.q, c.to, a); !errors.As(err, &te) || len(b.found) > 0 {
				t.Errorf("%v: %v, found %v", c.rule, err, b.found)
			}
			err := b.Deliberately().TransitionQP(t.Context(), b.q, c.to, a)
			if took := fault != ""; took != (err == nil) || took != slices.Contains(b.found, c.rule) {
				t.Errorf("%v on purpose, fault %q: %v, found %v", c.rule, fault, err, b.found)
			}
		}
	}
}

// TestDeviceRequests: so it is with work requests.
func TestDeviceRequests(t *testing.T) {
	one := func(b *bench, n uint32) []wqe.Segment { return []wqe.Segment{{VA: 4096, Length: n, LKey: b.lkey}} }
	for _, c := range []struct {
		name string
		rule rule.ID
		typ  qp.Type
		bad  func(b *bench, r *wqe.SendRequest)
	}{
		{"operation", rule.CPLIMD002, qp.TypeUC, func(b *bench, r *wqe.SendRequest) { r.Op = wqe.OpRead }},
		{"segments", rule.CPLIMD002, qp.TypeUC, func(b *bench, r *wqe.SendRequest) { r.Segments = append(one(b, 1), append(one(b, 1), one(b, 1)...)...) }},
		{"length", rule.CPLIMD002, qp.TypeUC, func(b *bench, r *wqe.SendRequest) { r.Segments = append(one(b, 1<<31), one(b, 1)...) }},
		{"inline", rule.CPLIMD002, qp.TypeUC, func(b *bench, r *wqe.SendRequest) { r.Flags, r.Segments = wqe.Inline, one(b, 65) }},
		{"inline READ", rule.CPLIMD002, qp.TypeRC, func(b *bench, r *wqe.SendRequest) { r.Flags, r.Op = wqe.Inline, wqe.OpRead }},
		{"atomic", rule.CPLIMD002, qp.TypeRC, func(b *bench, r *wqe.SendRequest) { r.Op, r.Segments = wqe.OpFetchAdd, one(b, 4) }},
		{"window", rule.CPLIMD002, qp.TypeRC, func(b *bench, r *wqe.SendRequest) { r.Op = wqe.OpBindMW }},
		{"L_Key", rule.CPLSTS010, qp.TypeRC, func(b *bench, r *wqe.SendRequest) { r.Segments[0].LKey ^= 0xFF00 }},
		{"bounds", rule.CPLSTS010, qp.TypeRC, func(b *bench, r *wqe.SendRequest) { r.Segments[0].VA = 8192 }},
	} {
		b := newBench(t, c.typ, "")
		b.must(b.BringUp(t.Context(), b.q, attributes))
		good := wqe.SendRequest{Op: wqe.OpSend, Segments: one(b, 64)}
		bad := wqe.SendRequest{Op: wqe.OpSend, Segments: one(b, 64)}
		c.bad(b, &bad)
		var invalid *qp.InvalidError
		if err := b.PostSend(t.Context(), b.q, bad); !errors.As(err, &invalid) || invalid.Rule != c.rule {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.rule == rule.CPLIMD002 && c.name != "window" { // a device refuses those only when it comes to them
			if err := b.Deliberately().PostSend(t.Context(), b.q, bad); err == nil {
				t.Errorf("%s: the device accepts it", c.name)
			}
		}
		if b.must(b.PostSend(t.Context(), b.q, good)); len(b.found) > 0 {
			t.Errorf("%s: found %v", c.name, b.found)
		}
	}
}

// TestDeviceMemory: without a Query, the regions that were registered say what a request may access.
func TestDeviceMemory(t *testing.T) {
	ctx := t.Context()
	h, err := soft.New(soft.Options{Clock: sim.NewClock(0), Send: func([]byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	d := agent.NewDevice(agent.DeviceOptions{Now: func() int64 { return 0 }, Control: h})
	pd, _ := d.CreatePD(ctx)
	other, _ := d.CreatePD(ctx)
	var keys [3]uint32
	for i, mr := range []hcaagent.NewMR{{PD: pd, Access: wqe.LocalWrite}, {PD: pd}, {PD: other, Access: wqe.LocalWrite}} {
		mr.VA, mr.Length = 4096, 4096
		if _, keys[i], _, err = d.RegisterMR(ctx, mr); err != nil {
			t.Fatal(err)
		}
	}
	number, _ := d.CreateCQ(ctx, 16)
	q, err := d.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: pd, SendCQ: number, RecvCQ: number})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.BringUp(ctx, q, attributes); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    wqe.Segment
		ok   bool
	}{
		{"all of a region", wqe.Segment{VA: 4096, Length: 4096, LKey: keys[0]}, true},
		{"its last byte", wqe.Segment{VA: 8191, Length: 1, LKey: keys[0]}, true},
		{"no byte", wqe.Segment{VA: 1, LKey: 1}, true},
		{"before it", wqe.Segment{VA: 4095, Length: 1, LKey: keys[0]}, false},
		{"beyond it", wqe.Segment{VA: 8191, Length: 2, LKey: keys[0]}, false},
		{"around all addresses", wqe.Segment{VA: 1<<64 - 1, Length: 4098, LKey: keys[0]}, false},
		{"more than it", wqe.Segment{VA: 4096, Length: 1 << 31, LKey: keys[0]}, false},
		{"a region that the device may not write", wqe.Segment{VA: 4096, Length: 1, LKey: keys[1]}, false},
		{"one of another protection domain", wqe.Segment{VA: 4096, Length: 1, LKey: keys[2]}, false},
		{"none", wqe.Segment{VA: 4096, Length: 1, LKey: keys[2] + 1<<8}, false},
	} {
		var invalid *qp.InvalidError
		err := d.PostReceive(ctx, q, wqe.ReceiveRequest{Segments: []wqe.Segment{c.g}})
		if err != nil && !errors.As(err, &invalid) || (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := d.PostSend(ctx, q, wqe.SendRequest{Op: wqe.OpSend, Segments: []wqe.Segment{{VA: 4096, Length: 1, LKey: keys[1]}}}); err != nil {
		t.Errorf("a SEND of what may only be read: %v", err)
	}
	for _, op := range []wqe.SendOp{wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd} {
		var invalid *qp.InvalidError
		err := d.PostSend(ctx, q, wqe.SendRequest{Op: op, Segments: []wqe.Segment{{VA: 4096, Length: 8, LKey: keys[1]}}})
		if !errors.As(err, &invalid) || invalid.Rule != rule.CPLSTS010 {
			t.Errorf("%v into what may only be read: %v", op, err)
		}
	}
}

// TestDeviceStates: posting in a state that does not permit it, to a device that refuses it and to one that does not.
func TestDeviceStates(t *testing.T) {
	for _, c := range []struct {
		fault string
		state qp.State
		post  func(b *bench, d *agent.Device) error
	}{
		{"post-in-init", qp.Init, func(b *bench, d *agent.Device) error {
			return d.PostSend(t.Context(), b.q, wqe.SendRequest{Op: wqe.OpSend})
		}},
		{"post-in-reset", qp.Reset, func(b *bench, d *agent.Device) error {
			return d.PostReceive(t.Context(), b.q, wqe.ReceiveRequest{})
		}},
	} {
		for _, fault := range []string{"", c.fault} {
			b := newBench(t, qp.TypeRC, fault)
			if c.state == qp.Init {
				b.must(b.to(b.Device, qp.Reset, qp.Init, 0, nil))
			}
			var invalid *qp.InvalidError
			if err := c.post(b, b.Device); !errors.As(err, &invalid) || invalid.Rule != rule.QPSRST001 || len(b.found) > 0 {
				t.Errorf("%v: %v, found %v", c.state, err, b.found)
			}
			err := c.post(b, b.Deliberately())
			if took := fault != ""; took != (err == nil) || took != slices.Contains(b.found, rule.QPSRST001) {
				t.Errorf("%v on purpose, fault %q: %v, found %v", c.state, fault, err, b.found)
			}
		}
	}
}

// TestDeviceReceives: receive requests have checks of their own.
func TestDeviceReceives(t *testing.T) {
	b := newBench(t, qp.TypeRC, "")
	b.must(b.BringUp(t.Context(), b.q, attributes))
	var invalid *qp.InvalidError
	if err := b.PostReceive(t.Context(), b.q, wqe.ReceiveRequest{Segments: make([]wqe.Segment, 3)}); !errors.As(err, &invalid) {
		t.Errorf("3 data segments: %v", err)
	}
	read := []wqe.Segment{{VA: 4096, Length: 8, LKey: b.lkey}}
	if err := b.PostReceive(t.Context(), b.q, wqe.ReceiveRequest{Segments: read}); !errors.As(err, &invalid) || invalid.Rule != rule.CPLSTS010 {
		t.Errorf("a region that the device may not write: %v", err)
	}
	b.must(b.PostReceive(t.Context(), b.q, wqe.ReceiveRequest{}))
	srq, err := b.CreateSRQ(t.Context(), b.pd, 8, 2)
	b.must(err)
	q, err := b.CreateQP(t.Context(), qp.InitAttr{Type: qp.TypeRC, PD: b.pd, SendCQ: b.cq, RecvCQ: b.cq, SRQ: srq})
	b.must(err)
	if err := b.PostReceive(t.Context(), q, wqe.ReceiveRequest{}); !errors.As(err, &invalid) || invalid.Rule != rule.CPLSRQ004 {
		t.Errorf("a queue pair with a shared receive queue: %v", err)
	}
	b.must(b.PostSharedReceive(t.Context(), srq, wqe.ReceiveRequest{}))
	if err := b.PostSharedReceive(t.Context(), srq, wqe.ReceiveRequest{Segments: make([]wqe.Segment, 3)}); !errors.As(err, &invalid) {
		t.Errorf("3 data segments for a shared receive queue: %v", err)
	}
	if err := b.PostSharedReceive(t.Context(), srq, wqe.ReceiveRequest{Segments: read}); !errors.As(err, &invalid) || invalid.Rule != rule.CPLSTS010 {
		t.Errorf("a region that the device may not write, for a shared receive queue: %v", err)
	}
	if err := b.PostSharedReceive(t.Context(), srq+1, wqe.ReceiveRequest{}); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("a shared receive queue that there is not: %v", err)
	}
	if len(b.found) > 0 {
		t.Errorf("found %v", b.found)
	}
}

// TestDeviceNumbers: a queue pair that there is not is refused by all verbs.
func TestDeviceNumbers(t *testing.T) {
	b, ctx := newBench(t, qp.TypeRC, ""), context.Background()
	none := wqe.QP{Addr: b.q.Addr, QPN: b.q.QPN + 1}
	_, _, query := b.QueryQP(ctx, none)
	for i, err := range []error{
		b.PostSend(ctx, none, wqe.SendRequest{}), b.PostReceive(ctx, none, wqe.ReceiveRequest{}), b.ModifyQP(ctx, none, qp.Attr{}),
		b.TransitionQP(ctx, none, qp.Init, qp.Attr{}), b.DestroyQP(ctx, none), query, b.BringUp(ctx, none, qp.Attr{}),
		b.Deliberately().PostSend(ctx, none, wqe.SendRequest{}),
	} {
		if !errors.Is(err, hcaagent.ErrNotFound) {
			t.Errorf("verb %d: %v", i, err)
		}
	}
	b.must(b.DestroyQP(ctx, b.q))
	if err := b.DestroyQP(ctx, b.q); !errors.Is(err, hcaagent.ErrNotFound) || len(b.found) > 0 {
		t.Errorf("destroyed twice: %v, found %v", err, b.found)
	}
}

// deeper is an adapter that makes completion queues deeper than was asked for.
type deeper struct{ *soft.HCA }

func (deeper) CQDepth(context.Context, wqe.CQ) (int, error) { return 7, nil }

// TestDeeperQueue: a completion queue holds what the device says, and not what was asked for: it is not accused of completions for which it has room.
func TestDeeperQueue(t *testing.T) {
	h, err := soft.New(soft.Options{Clock: sim.NewClock(0), Send: func([]byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	var depths []int
	d := agent.NewDevice(agent.DeviceOptions{Now: func() int64 { return 0 }, Control: deeper{h}, Event: func(e *cq.Event) { depths = append(depths, e.Depth) }})
	number, err := d.CreateCQ(t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ResizeCQ(t.Context(), number, 5); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(depths, []int{7, 7}) {
		t.Errorf("told %v", depths)
	}
}
