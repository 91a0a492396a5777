package remote_test

import (
	"context"
	"errors"
	"hash/crc32"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestSoft has two adapters in software do what any devices do.
func TestSoft(t *testing.T) {
	a, b := pair(t)
	suite(t, a, b)
}

// suite has two devices do all that verbs can have them do. What a driver does not support it may refuse, by an error that says so.
func suite(t *testing.T, a, b *end) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b *end)
	}{
		{"connection", traffic},
		{"unreliable", unreliable},
		{"RoCEv1", roce1},
		{"datagram", datagrams},
		{"multicast", multicast},
		{"shared receive queue", shared},
		{"windows", windows},
		{"overrun", overrun},
		{"drain", drain},
		{"errors", kinds},
		{"many", many},
		{"XRC", xrc},
	} {
		t.Run(c.name, func(t *testing.T) {
			a.t, b.t = t, t
			c.run(t, a, b)
		})
	}
}

// rxe is a driver that departs from the specification; docs/dut.md says how.
const rxe = "rdma_rxe"

// unsupported skips the rest of a test where a driver says that it does not support something.
func unsupported(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unreliable has a UC connection SEND and WRITE.
func unreliable(t *testing.T, a, b *end) {
	p, q := a.queuePair(qp.TypeUC), b.queuePair(qp.TypeUC)
	a.up(qp.TypeUC, p, attr(q))
	b.up(qp.TypeUC, q, attr(p))
	a.set(0, pattern(2000, 3))
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 1, Segments: b.segment(4096, 64)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpWriteImm, Imm: 7, Flags: wqe.Signaled, RemoteVA: base + 512, RKey: b.rkey, Segments: a.segment(0, 2000)}))
	a.completes(2, cq.Success, cq.DoneWrite)
	if c := b.completes(1, cq.Success, cq.DoneRecvWriteImm); c.Imm != 7 || c.ByteLen != 2000 {
		t.Errorf("%+v", c)
	}
	b.holds(512, pattern(2000, 3))
	a.destroy(p)
	b.destroy(q)
}

func (e *end) destroy(q wqe.QP) {
	e.t.Helper()
	e.check(e.DestroyQP(ctx, q))
}

// group is a multicast group.
var group = packet.IPv4Addr([]byte{239, 1, 2, 3})

// datagrams has UD queue pairs send by an address handle, and by an address.
func datagrams(t *testing.T, a, b *end) {
	p, q := a.queuePair(qp.TypeUD), b.queuePair(qp.TypeUD)
	a.up(qp.TypeUD, p, attr(q))
	b.up(qp.TypeUD, q, attr(p))
	v := wqe.AddressVector{Dest: b.Info().Addr, HopLimit: 33, TClass: 0x20}
	ah, err := a.CreateAH(ctx, a.pd, v)
	a.check(err)
	if got, err := a.QueryAH(ctx, ah); err != nil || got != v {
		t.Errorf("QueryAH: %+v, %v", got, err)
	}
	v.HopLimit = 44
	a.check(a.ModifyAH(ctx, ah, v))
	data := pattern(200, 8)
	a.set(0, data)
	for id, r := range []wqe.SendRequest{{Op: wqe.OpSend, AH: ah, Dest: wqe.QP{QPN: q.QPN}}, {Op: wqe.OpSendImm, Imm: 9, Dest: q}} {
		b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: uint64(id), Segments: b.segment(0, 1000)}))
		r.ID, r.Flags, r.QKey, r.Segments = uint64(id), wqe.Signaled, 0x1234, a.segment(0, 200)
		a.check(a.PostSend(ctx, p, &r))
		a.completes(uint64(id), cq.Success, cq.DoneSend)
		c := b.completes(uint64(id), cq.Success, cq.DoneRecv)
		if c.ByteLen != 240 || c.SrcQP != p.QPN || !c.Summed || c.Sum != crc32.ChecksumIEEE(data) || len(c.Head) != 40 || r.Op == wqe.OpSendImm && c.Imm != 9 {
			t.Errorf("%+v", c)
		}
		if b.Info().Addr.IsIPv4() && c.Head[20] != 0x45 {
			t.Errorf("GRH %x", c.Head)
		}
	}
	a.check(a.DestroyAH(ctx, ah))
	a.destroy(p)
	b.destroy(q)
}

// multicast has a UD queue pair receive what is sent to a group.
func multicast(t *testing.T, a, b *end) {
	p, q := a.queuePair(qp.TypeUD), b.queuePair(qp.TypeUD)
	a.up(qp.TypeUD, p, attr(q))
	b.up(qp.TypeUD, q, attr(p))
	unsupported(t, b.AttachMulticast(ctx, q, group))
	if err := b.DestroyQP(ctx, q); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a queue pair in a group is destroyed: %v", err)
	}
	b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 1, Segments: b.segment(0, 1000)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{
		ID: 2, Op: wqe.OpSend, Flags: wqe.Signaled, QKey: 0x1234, Dest: wqe.QP{Addr: group, QPN: wqe.MulticastQPN}, Segments: a.segment(0, 20),
	}))
	a.completes(2, cq.Success, cq.DoneSend)
	b.completes(1, cq.Success, cq.DoneRecv)
	b.check(b.DetachMulticast(ctx, q, group))
	a.destroy(p)
	b.destroy(q)
}

// shared has a queue pair receive by a shared receive queue, whose limit tells.
func shared(t *testing.T, a, b *end) {
	srq, err := b.CreateSRQ(ctx, b.pd, 16, 1)
	unsupported(t, err)
	q, err := b.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: b.pd, SendCQ: b.cq, RecvCQ: b.cq, SRQ: srq, MaxSend: 4, MaxSendSegments: 1})
	b.check(err)
	p := a.queuePair(qp.TypeRC)
	a.up(qp.TypeRC, p, attr(q))
	b.up(qp.TypeRC, q, attr(p))
	for id := range uint64(3) {
		b.check(b.PostSharedReceive(ctx, srq, &wqe.ReceiveRequest{ID: id, Segments: b.segment(id*4096, 4096)}))
	}
	b.check(b.ModifySRQ(ctx, srq, 2))
	for id := range uint64(2) {
		a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: id, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.segment(0, 100)}))
		a.completes(id, cq.Success, cq.DoneSend)
		if c := b.completes(id, cq.Success, cq.DoneRecv); !c.Summed || c.ByteLen != 100 {
			t.Errorf("%+v", c)
		}
	}
	b.event("limit", func(e *cq.Event) bool { return e.Kind == cq.EvAsync && e.Async == cq.AsyncSRQLimit && e.SRQ == srq })
	if err := b.DestroySRQ(ctx, srq); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a shared receive queue in use is destroyed: %v", err)
	}
	b.destroy(q)
	a.destroy(p)
	b.check(b.DestroySRQ(ctx, srq))
}

// windows binds memory windows of both types, writes by them, and takes one back.
func windows(t *testing.T, a, b *end) {
	mr, lkey, _, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: base + size, Length: 8192, Access: everything | wqe.BindWindow})
	unsupported(t, err)
	p, q := connect(a, b, nil)
	data := pattern(100, 4)
	a.set(0, data)
	for kind := 1; kind <= 2; kind++ {
		mw, rkey, err := b.AllocateMW(ctx, b.pd, kind)
		unsupported(t, err)
		bind := wqe.Bind{MW: mw, MR: mr, RKey: rkey&^0xFF | (rkey+1)&0xFF, VA: base + size + 4096, Length: 1000, Access: wqe.RemoteWrite | wqe.RemoteRead}
		b.check(b.PostSend(ctx, q, &wqe.SendRequest{ID: 1, Op: wqe.OpBindMW, Flags: wqe.Signaled, Window: &bind}))
		b.completes(1, cq.Success, cq.DoneBindMW)
		a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: base + size + 4096, RKey: bind.RKey, Segments: a.segment(0, 100)}))
		a.completes(2, cq.Success, cq.DoneWrite)
		got := make([]byte, 100)
		if n, err := b.MemoryData(ctx, wqe.Memory{Key: wqe.Key{Key: bind.RKey}, VA: base + size + 4096, Length: 100}, got); err != nil || n != 100 || string(got) != string(data) {
			t.Errorf("type %d: %d bytes, %v", kind, n, err)
		}
		b.check(b.MemoryAccess(ctx, q, wqe.Memory{Key: wqe.Key{Key: bind.RKey}, VA: base + size + 4096, Length: 1000}, wqe.RemoteRead))
		if kind == 2 {
			b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 3, Segments: []wqe.Segment{{VA: base + size, Length: 64, LKey: lkey}}}))
			a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 4, Op: wqe.OpSendInv, Flags: wqe.Signaled, InvKey: bind.RKey, Segments: a.segment(0, 10)}))
			a.completes(4, cq.Success, cq.DoneSend)
			c := b.completes(3, cq.Success, cq.DoneRecv)
			if b.Info().Driver == rxe { // its completions do not say so
				continue
			}
			if c.Flags&cq.WithInv == 0 || c.InvKey != bind.RKey {
				t.Errorf("SEND with Invalidate: %+v", c)
			}
			if err := b.MemoryAccess(ctx, q, wqe.Memory{Key: wqe.Key{Key: bind.RKey}, VA: base + size + 4096, Length: 8}, 0); err == nil {
				t.Error("an R_Key that was invalidated opens memory")
			}
		}
		b.check(b.DeallocateMW(ctx, mw))
	}
	a.destroy(p)
	b.destroy(q)
	b.check(b.DeregisterMR(ctx, mr))
}

// overrun fills a completion queue.
func overrun(t *testing.T, a, b *end) {
	small, err := b.CreateCQ(ctx, 1)
	b.check(err)
	if err := b.ResizeCQ(ctx, small, 2); !errors.Is(err, errors.ErrUnsupported) {
		b.check(err)
	}
	q, err := b.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: b.pd, SendCQ: b.cq, RecvCQ: small, MaxSend: 4, MaxReceive: 16, MaxSendSegments: 1, MaxRecvSegments: 1})
	b.check(err)
	if err := b.DestroyCQ(ctx, small); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a completion queue in use is destroyed: %v", err)
	}
	p := a.queuePair(qp.TypeRC)
	x := attr(q)
	x.RetryCnt, x.Timeout = 1, 10
	a.up(qp.TypeRC, p, x)
	b.up(qp.TypeRC, q, attr(p))
	for range 8 {
		b.check(b.PostReceive(ctx, q, &wqe.ReceiveRequest{ID: 1, Segments: b.segment(0, 64)}))
		a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpSend, Segments: a.segment(0, 8)}))
	}
	b.event("overrun", func(e *cq.Event) bool { return e.Kind == cq.EvAsync && e.Async == cq.AsyncCQError && e.CQ == small })
	a.destroy(p)
	b.destroy(q)
	b.check(b.DestroyCQ(ctx, small))
	a.empty()
}

// empty takes what is left in the completion queue.
func (e *end) empty() {
	e.t.Helper()
	into := make([]cq.Completion, 32)
	for {
		n, err := e.Poll(ctx, e.cq, into)
		e.check(err)
		if n == 0 {
			return
		}
		_, err = e.Completions(ctx, e.cq, make([]hcaagent.Completed, 32))
		e.check(err)
	}
}

// drain has a send queue drain.
func drain(t *testing.T, a, b *end) {
	p, q := connect(a, b, nil)
	a.check(a.TransitionQP(ctx, p, qp.SQD, qp.Attr{Known: qp.KnowsSQDNotify, SQDNotify: true}))
	a.event("drained", func(e *cq.Event) bool { return e.Kind == cq.EvAsync && e.Async == cq.AsyncSQDrained && e.QP == p })
	a.check(a.TransitionQP(ctx, p, qp.RTS, qp.Attr{}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: base, RKey: b.rkey, Segments: a.segment(0, 8)}))
	a.completes(2, cq.Success, cq.DoneWrite)
	a.destroy(p)
	b.destroy(q)
}

// kinds checks that errors keep their kind.
func kinds(t *testing.T, a, _ *end) {
	nowhere := wqe.QP{QPN: 0xABCDEF}
	if err := a.DestroyQP(ctx, nowhere); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("no queue pair: %v", err)
	}
	if err := a.DestroyPD(ctx, a.pd); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a protection domain in use: %v", err)
	}
	p := a.queuePair(qp.TypeRC)
	began := time.Now()
	for range 20 {
		_, _, err := a.Outstanding(ctx, p)
		a.check(err)
	}
	t.Logf("a round trip takes %v", time.Since(began)/20)
	illegal := (*qp.TransitionError)(nil)
	if err := a.TransitionQP(ctx, p, qp.RTS, qp.Attr{}); !errors.As(err, &illegal) || illegal.From != qp.Reset || illegal.To != qp.RTS || illegal.Exists {
		t.Errorf("RESET to RTS: %v", err)
	}
	if err := a.TransitionQP(ctx, p, qp.Init, qp.Attr{Known: qp.KnowsPort, Port: 1}); !errors.As(err, &illegal) || illegal.Missing != qp.KnowsPKey|qp.KnowsAccess {
		t.Errorf("RESET to INIT without a P_Key: %v", err)
	}
	a.check(a.to(qp.TypeRC, p, qp.Init, attr(p)))
	full := error(nil)
	for range 256 {
		if full = a.PostReceive(ctx, p, &wqe.ReceiveRequest{Segments: a.segment(0, 8)}); full != nil {
			break
		}
	}
	if !errors.Is(full, hcaagent.ErrFull) {
		t.Errorf("a queue that is full: %v", full)
	}
	access := (*hcaagent.AccessError)(nil)
	m := a.memory(0, 8)
	m.Key.Key ^= 0xFF00
	if err := a.MemoryAccess(ctx, p, m, 0); !errors.As(err, &access) || access.Key != m.Key || access.Reason == "" {
		t.Errorf("an L_Key that is none: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if err := a.DestroyQP(over, p); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
	if s, r, err := a.Outstanding(ctx, p); err != nil || s != 0 || r < 8 {
		t.Errorf("%d and %d outstanding, %v", s, r, err)
	}
	if _, err := a.DataSegments(ctx, p, 5); !errors.Is(err, hcaagent.ErrNotFound) {
		t.Errorf("no such request: %v", err)
	}
	a.destroy(p)
}

// many posts many requests, and says how long they took.
func many(t *testing.T, a, b *end) {
	p, q := connect(a, b, nil)
	began := time.Now()
	const n, window = 200, 8
	into := make([]cq.Completion, window)
	for posted, done := 0, 0; done < n; {
		for ; posted < n && posted-done < window; posted++ {
			a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: uint64(posted), Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: base, RKey: b.rkey, Segments: a.segment(0, 8)}))
		}
		ready, err := a.Await(ctx, []wqe.CQ{a.cq}, window, time.Second)
		a.check(err)
		for _, r := range ready {
			k, err := a.Poll(ctx, r.CQ, into[:r.Completions])
			a.check(err)
			if n, err := a.Completions(ctx, r.CQ, make([]hcaagent.Completed, k)); err != nil || n != k {
				t.Errorf("%d of %d completions, %v", n, k, err)
			}
			for _, c := range into[:k] {
				if c.ID != uint64(done) || c.Status != cq.Success {
					t.Fatalf("completion %d: %+v", done, c)
				}
				done++
			}
		}
		if time.Since(began) > 3*patience {
			t.Fatalf("%d of %d completions after %v", done, n, time.Since(began))
		}
	}
	t.Logf("%d requests posted and completed in %v", n, time.Since(began))
	a.empty()
	a.destroy(p)
	b.destroy(q)
}

// xrc has an initiator send to a shared receive queue of a target's domain.
func xrc(t *testing.T, a, b *end) {
	domain, err := b.CreateXRCD(ctx)
	unsupported(t, err)
	q, err := b.CreateQP(ctx, qp.InitAttr{Type: qp.TypeXRCTarget, PD: b.pd, RecvCQ: b.cq, XRCD: domain})
	b.check(err)
	srq, err := b.CreateXRCSRQ(ctx, b.pd, domain, 8, 1)
	b.check(err)
	p, err := a.CreateQP(ctx, qp.InitAttr{Type: qp.TypeXRCInitiator, PD: a.pd, SendCQ: a.cq, MaxSend: 8, MaxSendSegments: 1})
	a.check(err)
	a.up(qp.TypeXRCInitiator, p, attr(q))
	b.up(qp.TypeXRCTarget, q, attr(p))
	b.check(b.PostSharedReceive(ctx, srq, &wqe.ReceiveRequest{ID: 1, Segments: b.segment(0, 64)}))
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 2, Op: wqe.OpSend, Flags: wqe.Signaled, XRCSRQ: uint32(srq), Segments: a.segment(0, 8)}))
	a.completes(2, cq.Success, cq.DoneSend)
	b.completes(1, cq.Success, cq.DoneRecv)
	a.destroy(p)
	b.destroy(q)
	b.check(b.DestroySRQ(ctx, srq))
	b.check(b.DestroyXRCD(ctx, domain))
}
