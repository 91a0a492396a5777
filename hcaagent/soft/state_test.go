package soft_test

import (
	"errors"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// log keeps the events of a device.
type log []cq.Event

func (l *log) count(k cq.EventKind, a cq.Async) (n int) {
	for _, e := range *l {
		if e.Kind == k && e.Async == a {
			n++
		}
	}
	return n
}

// logged makes two devices whose events are kept.
func logged(t *testing.T) (*link, [2]*adapter, *[2]log) {
	var logs [2]log
	l, hs := devices(t, 9, addrs, func(i int, o *soft.Options) {
		o.Event = func(e *cq.Event) { logs[i] = append(logs[i], *e) }
	})
	return l, hs, &logs
}

// TestStates: what may be posted in each state, and what then becomes of it (table T7b).
func TestStates(t *testing.T) {
	_, hs, _ := logged(t)
	h := hs[0]
	e := newEnd(t, h, qp.InitAttr{Type: qp.TypeRC}, 1<<20, 4096)
	send := func() error {
		return h.PostSend(ctx, e.qp, wqe.SendRequest{Op: wqe.OpSend, Segments: e.sge(0, 4)})
	}
	if err := send(); err == nil {
		t.Error("a send request in INIT")
	}
	e.receive(receiveID, 0, 100)
	if err := h.TransitionQP(ctx, e.qp, qp.Reset, qp.Attr{}); err != nil {
		t.Fatal(err)
	}
	if err := h.PostReceive(ctx, e.qp, wqe.ReceiveRequest{}); err == nil {
		t.Error("a receive request in RESET")
	}
	e.poll()
	if len(e.got) > 0 {
		t.Errorf("RESET completes %+v", e.got)
	}
	var te *qp.TransitionError
	if err := h.TransitionQP(ctx, e.qp, qp.RTS, qp.Attr{}); !errors.As(err, &te) {
		t.Errorf("RESET to RTS: %v", err)
	}
	if err := h.DestroyCQ(ctx, e.cq); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a completion queue in use: %v", err)
	}
	if err := h.DestroyPD(ctx, e.pd); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a protection domain in use: %v", err)
	}
	if err := h.DestroyQP(ctx, e.qp); err != nil {
		t.Error(err)
	}
	if err := send(); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("a queue pair that is gone: %v", err)
	}
	if err := h.DestroyCQ(ctx, e.cq); err != nil {
		t.Error(err)
	}
}

// TestSQD: work that has begun is finished, what was not waits for RTS (QPS-SQD-001, -002).
func TestSQD(t *testing.T) {
	l, hs, logs := logged(t)
	p := pair(t, hs, qp.TypeRC, 0, 1<<18, nil)
	a, b := p[0], p[1]
	write := wqe.SendRequest{Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: a.sge(0, 100_000), RemoteVA: b.va, RKey: b.key}
	a.post(write)
	write.ID = 1
	a.post(write)
	l.run(3000)
	drain := qp.Attr{Known: qp.KnowsSQDNotify, SQDNotify: true}
	if err := a.TransitionQP(ctx, a.qp, qp.SQD, drain); err != nil {
		t.Fatal(err)
	}
	l.run(1e6)
	a.poll()
	if len(a.got) != 1 || a.got[0].ID != 0 {
		t.Errorf("in SQD %+v complete", a.got)
	}
	if n := logs[0].count(cq.EvAsync, cq.AsyncSQDrained); n != 1 {
		t.Errorf("%d events of a drained send queue", n)
	}
	if err := a.TransitionQP(ctx, a.qp, qp.RTS, qp.Attr{}); err != nil {
		t.Fatal(err)
	}
	l.run(1e6)
	a.poll()
	if len(a.got) != 2 {
		t.Errorf("then %+v complete", a.got)
	}
	l.clean(t)
}

// TestFlush: ERR completes all that both queues hold, and what is posted then (QPS-ERR-002); nothing is sent any more (QPS-ERR-001).
func TestFlush(t *testing.T) {
	l, hs, _ := logged(t)
	p := pair(t, hs, qp.TypeRC, 0, 1<<18, nil)
	a, b := p[0], p[1]
	write := wqe.SendRequest{Op: wqe.OpWrite, Segments: a.sge(0, 100_000), RemoteVA: b.va, RKey: b.key}
	a.post(write)
	a.receive(receiveID, 0, 10)
	l.run(3000)
	if err := a.TransitionQP(ctx, a.qp, qp.Err, qp.Attr{}); err != nil {
		t.Fatal(err)
	}
	frames := len(l.taps[0].frames)
	write.ID = 1
	a.post(write)
	a.receive(receiveID+1, 0, 10)
	l.run(1e9)
	a.poll()
	if len(a.sends()) != 2 || len(a.receives()) != 2 {
		t.Errorf("%+v", a.got)
	}
	for _, c := range a.got {
		if c.Status != cq.WRFlushErr {
			t.Errorf("%+v", c)
		}
	}
	for _, f := range l.taps[0].frames[frames:] {
		if f.Data[11] == 0 { // from its port
			t.Error("a frame leaves in ERR")
		}
	}
}

// TestNotification: one event for one request, a solicited one only for SE or an error (CPL-SOL-001 to -003).
func TestNotification(t *testing.T) {
	l, hs, logs := logged(t)
	p := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
	a, b := p[0], p[1]
	told := 0
	step := func(what string, arm []cq.Arm, flags wqe.SendFlags, want int) {
		for _, x := range arm {
			if err := b.RequestNotification(ctx, b.cq, x); err != nil {
				t.Fatal(err)
			}
		}
		b.receive(receiveID, 0, 100)
		a.post(wqe.SendRequest{Op: wqe.OpSend, Flags: flags, Segments: a.sge(0, 10)})
		l.run(1e6)
		n := logs[1].count(cq.EvNotify, 0)
		if n-told != want {
			t.Errorf("%s: %d events, want %d", what, n-told, want)
		}
		told = n
	}
	next, solicited := cq.ArmNext, cq.ArmSolicited
	step("not armed", nil, wqe.Solicited, 0)
	step("armed for the next", []cq.Arm{next}, 0, 1)
	step("one event", nil, 0, 0)
	step("solicited, none comes", []cq.Arm{solicited}, 0, 0)
	step("solicited", nil, wqe.Solicited, 1)
	step("not weakened", []cq.Arm{next, solicited}, 0, 1)
}

// TestOverrun: a completion queue that overruns is of no use any more, and its queue pairs go to ERR (CPL-CQ-001).
func TestOverrun(t *testing.T) {
	l, hs, logs := logged(t)
	p := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
	a, b := p[0], p[1]
	if err := a.ResizeCQ(ctx, a.cq, 3); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		a.post(wqe.SendRequest{ID: uint64(i), Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: a.sge(0, 10), RemoteVA: b.va, RKey: b.key})
	}
	l.run(1e6)
	if _, s, _ := a.QueryQP(ctx, a.qp); s != qp.Err || logs[0].count(cq.EvAsync, cq.AsyncCQError) != 1 {
		t.Errorf("state %v, %d events", s, logs[0].count(cq.EvAsync, cq.AsyncCQError))
	}
	a.poll()
	if len(a.got) != 3 {
		t.Errorf("%+v", a.got)
	}
}

// TestSharedReceives: queue pairs take from one queue, its limit is told once (CPL-SRQ-003), and it is not flushed (CPL-SRQ-002).
func TestSharedReceives(t *testing.T) {
	l, hs, logs := logged(t)
	b := hs[1]
	pd := must(b.CreatePD(ctx))(t)
	srq := must(b.CreateSRQ(ctx, pd, 20, 1))(t)
	_, key, _, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: pd, VA: 5 << 20, Length: 4096, Access: wqe.LocalWrite})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := b.PostSharedReceive(ctx, srq, wqe.ReceiveRequest{ID: receiveID + uint64(i), Segments: []wqe.Segment{{VA: 5 << 20, Length: 64, LKey: key}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.ModifySRQ(ctx, srq, 8); err != nil {
		t.Fatal(err)
	}
	var ends [2][2]*end
	for i := range ends {
		x := newEnd(t, hs[0], qp.InitAttr{Type: qp.TypeRC}, uint64(10+i)<<20, 4096)
		y := newEnd(t, hs[1], qp.InitAttr{Type: qp.TypeRC, SRQ: srq}, uint64(20+i)<<20, 4096)
		x.attr.SQPSN = packet.PSN(77777 * (i + 1))
		connect(x, y)
		ends[i] = [2]*end{x, y}
		if err := y.PostReceive(ctx, y.qp, wqe.ReceiveRequest{}); err == nil {
			t.Error("CPL-SRQ-004: a receive request for a queue pair with a shared queue")
		}
		for range 3 {
			x.post(wqe.SendRequest{Op: wqe.OpSend, Segments: x.sge(0, 32)})
		}
	}
	l.run(1e6)
	n := 0
	for i := range ends {
		if err := ends[i][1].TransitionQP(ctx, ends[i][1].qp, qp.Err, qp.Attr{}); err != nil {
			t.Fatal(err)
		}
		ends[i][1].poll()
		n += len(ends[i][1].got)
	}
	if n != 6 {
		t.Errorf("%d completions of 6 messages", n)
	}
	if n := logs[1].count(cq.EvAsync, cq.AsyncSRQLimit); n != 1 {
		t.Errorf("%d limit events", n)
	}
	if n := logs[1].count(cq.EvAsync, cq.AsyncLastWQE); n != 2 {
		t.Errorf("%d last WQE events", n)
	}
	l.clean(t)
}

// TestBringUp: each type of queue pair gets to RTS with what table T7 requires, and what was named besides.
func TestBringUp(t *testing.T) {
	for _, typ := range []qp.Type{
		qp.TypeRC, qp.TypeUC, qp.TypeUD, qp.TypeXRCInitiator, qp.TypeXRCTarget,
	} {
		_, hs, _ := logged(t)
		h := hs[0]
		pd := must(h.CreatePD(ctx))(t)
		cq := must(h.CreateCQ(ctx, 1))(t)
		q := must(h.CreateQP(ctx, qp.InitAttr{Type: typ, PD: pd, SendCQ: cq, RecvCQ: cq}))(t)
		attr := qp.Attr{Known: qp.KnowsHopLimit, HopLimit: 9, PKey: 0xFFFF, Port: 1, PMTU: 512, DestAddr: addrs[1], DestQPN: 3, SQPSN: 5}
		if err := h.BringUp(ctx, q, attr); err != nil {
			t.Errorf("%v: %v", typ, err)
		}
		got, state, err := h.QueryQP(ctx, q)
		if err != nil || state != qp.RTS || got.PKey != 0xFFFF || typ != qp.TypeUD && (got.PMTU != 512 || got.HopLimit != 9) {
			t.Errorf("%v: %v %+v %v", typ, state, got, err)
		}
		if err := h.BringUp(ctx, q, attr); err == nil {
			t.Errorf("%v: from RTS", typ)
		}
	}
}
