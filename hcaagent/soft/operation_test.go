package soft_test

import (
	"bytes"
	"errors"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// clean fails if any tap shows something wrong.
func (l *link) clean(t *testing.T) {
	t.Helper()
	for i := range l.taps {
		if len(l.taps[i].frames) == 0 {
			t.Errorf("tap %d saw nothing", i)
			continue
		}
		if bad := accusations(l.taps[i].verify(t), rule.Violation); len(bad) > 0 {
			t.Errorf("tap %d: %q", i, bad)
		}
	}
}

// TestUC: whole messages arrive, those of which a packet is lost do not, and nobody answers.
func TestUC(t *testing.T) {
	arrived := 0
	for seed := range uint64(40) {
		l, hs := devices(t, seed, addrs, nil)
		l.loss = 0.02
		p := pair(t, hs, qp.TypeUC, 0, 1<<18, func(a, b *end) { a.attr.PMTU, b.attr.PMTU = 256, 256 })
		a, b := p[0], p[1]
		src := make([]byte, 4096)
		for i := range src {
			src[i] = byte(l.Uint32())
		}
		a.set(0, src)
		for i := range 20 {
			b.receive(receiveID+uint64(i), 8192+i*2048, 2048)
			op := wqe.SendOp(i % 2)
			if i%5 == 4 {
				op = wqe.OpWriteImm
			}
			a.post(wqe.SendRequest{ID: uint64(i), Op: op, Flags: wqe.Signaled, Imm: uint32(i), Segments: a.sge(i, 1+i*90), RemoteVA: b.va + 4096, RKey: b.key})
		}
		l.run(1e9)
		a.poll()
		b.poll()
		if got := a.sends(); len(got) != 20 {
			t.Errorf("seed %d: %d of 20 requests complete", seed, len(got))
		}
		for _, c := range b.receives() {
			arrived++
			i := int(c.ID - receiveID)
			n := int(c.ByteLen)
			sent := (n - 1) / 90
			at := 8192 + i*2048
			if c.Op == cq.DoneRecvWriteImm {
				at = 4096
				if c.Imm != uint32(sent) {
					t.Errorf("seed %d: %+v", seed, c)
				}
				continue
			}
			if c.Status != cq.Success || !bytes.Equal(b.bytes(at, n), src[sent:sent+n]) {
				t.Errorf("seed %d: %+v, other data", seed, c)
			}
		}
		l.clean(t)
	}
	if arrived < 200 {
		t.Errorf("%d of 800 messages arrived", arrived)
	}
}

// TestUD: datagrams arrive with a GRH before them; those with another Q_Key do not.
func TestUD(t *testing.T) {
	l, hs := devices(t, 1, addrs, nil)
	p := pair(t, hs, qp.TypeUD, 0, 1<<16, nil)
	a, b := p[0], p[1]
	a.set(0, []byte("a datagram"))
	ah, err := a.CreateAH(ctx, a.pd, wqe.AddressVector{Dest: b.qp.Addr, HopLimit: 17, TClass: 8})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		b.receive(receiveID+uint64(i), 4096*(i+1), 200)
	}
	a.post(wqe.SendRequest{ID: 1, Op: wqe.OpSend, Segments: a.sge(0, 10), Dest: b.qp, QKey: 0x1234})
	a.post(wqe.SendRequest{ID: 2, Op: wqe.OpSendImm, Imm: 77, Segments: a.sge(0, 10), Dest: wqe.QP{QPN: b.qp.QPN}, AH: ah, QKey: 0x1234})
	l.run(1e6)
	a.post(wqe.SendRequest{ID: 3, Op: wqe.OpSend, Segments: a.sge(0, 10), Dest: b.qp, QKey: 0x9999})
	a.post(wqe.SendRequest{ID: 4, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.sge(0, 5000), Dest: b.qp, QKey: 0x1234})
	l.run(1e6)
	a.poll()
	b.poll()
	got := b.receives()
	if len(got) != 2 {
		t.Fatalf("%d datagrams arrived: %+v", len(got), got)
	}
	for i, c := range got {
		at := 4096 * (i + 1)
		if c.ByteLen != 50 || c.SrcQP != a.qp.QPN || c.Flags&cq.WithGRH == 0 || string(b.bytes(at+40, 10)) != "a datagram" || b.bytes(at+20, 1)[0] != 0x45 {
			t.Errorf("%+v, %x", c, b.bytes(at, 50))
		}
	}
	if got[1].Imm != 77 || got[1].Flags&cq.WithImm == 0 {
		t.Errorf("%+v", got[1])
	}
	if b.hca.Counters().QKeyViolations != 1 {
		t.Errorf("%+v", b.hca.Counters())
	}
	if s := a.sends(); len(s) != 1 || s[0].ID != 4 || s[0].Status != cq.Success {
		t.Errorf("a message longer than the MTU completes with %+v", s)
	}
	segments := a.sge(0, 50)
	segments[0].LKey ^= 0x55000
	a.post(wqe.SendRequest{ID: 5, Op: wqe.OpSend, Segments: segments, Dest: b.qp, QKey: 0x1234})
	l.run(1e6)
	if _, state, _ := a.QueryQP(ctx, a.qp); state != qp.SQE {
		t.Errorf("after a request with a wrong L_Key the state is %v", state)
	}
}

// TestWindows: what a window or a SEND with Invalidate permits and takes back (section 10.6.6, rules CPL-MW and CPL-INV).
func TestWindows(t *testing.T) {
	l, hs := devices(t, 1, addrs, nil)
	p := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
	a, b := p[0], p[1]
	mr, lkey, _, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: b.va + 4096, Length: 4096, Access: wqe.LocalWrite | wqe.BindWindow})
	if err != nil {
		t.Fatal(err)
	}
	mw, rkey, err := b.AllocateMW(ctx, b.pd, 2)
	if err != nil {
		t.Fatal(err)
	}
	bind := wqe.Bind{MW: mw, MR: mr, RKey: rkey + 1, VA: b.va + 4096, Length: 512, Access: wqe.RemoteWrite}
	b.post(wqe.SendRequest{ID: 1, Op: wqe.OpBindMW, Flags: wqe.Signaled, Window: &bind})
	l.run(1000)
	if err := b.DeregisterMR(ctx, mr); !errors.Is(err, hcaagent.ErrBusy) {
		t.Errorf("a region with a window bound to it: %v", err)
	}
	a.set(0, []byte("through the window"))
	a.post(wqe.SendRequest{ID: 2, Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: a.sge(0, 18), RemoteVA: b.va + 4096, RKey: rkey + 1})
	b.receive(receiveID, 8192, 64)
	a.post(wqe.SendRequest{ID: 3, Op: wqe.OpSendInv, Flags: wqe.Signaled, InvKey: rkey + 1, Segments: a.sge(0, 4)})
	l.run(1e6)
	if string(b.bytes(4096, 18)) != "through the window" {
		t.Error("nothing came through the window")
	}
	a.poll()
	b.poll()
	if r := b.receives(); len(r) != 1 || r[0].Flags != cq.WithInv || r[0].InvKey != rkey+1 {
		t.Errorf("%+v", r)
	}
	l.clean(t)
	_ = lkey
	bind.RKey = rkey + 2
	b.post(wqe.SendRequest{ID: 4, Op: wqe.OpBindMW, Flags: wqe.Signaled, Window: &bind})
	b.post(wqe.SendRequest{ID: 5, Op: wqe.OpLocalInv, Flags: wqe.Signaled, InvKey: rkey + 2})
	l.run(1000)
	a.post(wqe.SendRequest{ID: 6, Op: wqe.OpWrite, Segments: a.sge(0, 18), RemoteVA: b.va + 4096, RKey: rkey + 2})
	l.run(1e6)
	a.poll()
	b.poll()
	if s := statuses(a.sends()); len(s) != 3 || s[2] != cq.RemAccessErr {
		t.Errorf("%v", s)
	}
	if s := b.sends(); len(s) != 3 || s[1].Op != cq.DoneBindMW || s[2].Op != cq.DoneLocalInv {
		t.Errorf("%+v", s)
	}
}

// TestBadBind: a window that may not be bound fails only its request and then the queue pair (rules CPL-MW-002 to -007).
func TestBadBind(t *testing.T) {
	for name, spoil := range map[string]func(e *end, b *wqe.Bind){
		"CPL-MW-004 length 0":     func(_ *end, b *wqe.Bind) { b.Length = 0 },
		"CPL-MW-007 out of range": func(_ *end, b *wqe.Bind) { b.Length = 1 << 20 },
		"no region":               func(_ *end, b *wqe.Bind) { b.MR = 99 },
		"other key":               func(_ *end, b *wqe.Bind) { b.RKey ^= 1 << 12 },
		"CPL-MW-003 other domain": func(e *end, b *wqe.Bind) {
			pd, _ := e.CreatePD(ctx)
			b.MW, b.RKey, _ = e.AllocateMW(ctx, pd, 2)
		},
	} {
		l, hs := devices(t, 1, addrs, nil)
		p := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
		a := p[0]
		mr, _, _, err := a.RegisterMR(ctx, hcaagent.NewMR{PD: a.pd, VA: a.va, Length: 4096, Access: wqe.BindWindow | wqe.LocalWrite})
		if err != nil {
			t.Fatal(err)
		}
		b := wqe.Bind{MR: mr, VA: a.va, Length: 10, Access: wqe.RemoteWrite}
		b.MW, b.RKey, _ = a.AllocateMW(ctx, a.pd, 2)
		spoil(a, &b)
		a.post(wqe.SendRequest{ID: 1, Op: wqe.OpBindMW, Window: &b})
		l.run(1e6)
		a.poll()
		if s := statuses(a.sends()); len(s) != 1 || s[0] != cq.MWBindErr {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// TestExtended: FLUSH and ATOMIC WRITE (annex A19).
func TestExtended(t *testing.T) {
	for seed := range uint64(20) {
		l, hs := devices(t, seed, addrs, nil)
		l.loss, l.twice = 0.03, 0.03
		p := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
		a, b := p[0], p[1]
		a.set(0, []byte("12345678"))
		for i := range 10 {
			a.post(wqe.SendRequest{ID: uint64(3 * i), Op: wqe.OpWrite, Flags: wqe.Signaled, Segments: a.sge(0, 2000), RemoteVA: b.va, RKey: b.key})
			a.post(wqe.SendRequest{ID: uint64(3*i + 1), Op: wqe.OpFlush, Flags: wqe.Signaled, RemoteVA: b.va, RKey: b.key, Flush: wqe.FlushRequest{Length: 2000, Placement: 1}})
			a.post(wqe.SendRequest{ID: uint64(3*i + 2), Op: wqe.OpAtomicWrite, Flags: wqe.Signaled, Segments: a.sge(0, 8), RemoteVA: b.va + 4096, RKey: b.key})
		}
		l.run(1e9)
		a.poll()
		for i, c := range a.sends() {
			if c.ID != uint64(i) || c.Status != cq.Success {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
		if len(a.sends()) != 30 || string(b.bytes(4096, 8)) != "12345678" {
			t.Errorf("seed %d: %d completions, %q", seed, len(a.sends()), b.bytes(4096, 8))
		}
		l.clean(t)
	}
}

// TestXRC: messages go to the shared receive queue that they name.
func TestXRC(t *testing.T) {
	l, hs := devices(t, 5, addrs, nil)
	l.loss = 0.02
	a := newEnd(t, hs[0], qp.InitAttr{Type: qp.TypeXRCInitiator}, 1<<20, 1<<16)
	b := newEnd(t, hs[1], qp.InitAttr{Type: qp.TypeXRCTarget}, 2<<20, 1<<16)
	connect(a, b)
	srq, err := b.CreateXRCSRQ(ctx, b.pd, b.domain, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	a.set(0, []byte("shared"))
	for i := range 50 {
		if err := b.PostSharedReceive(ctx, srq, wqe.ReceiveRequest{ID: receiveID + uint64(i), Segments: b.sge(4096+i*8, 8)}); err != nil {
			t.Fatal(err)
		}
		a.post(wqe.SendRequest{ID: uint64(i), Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.sge(0, 6), XRCSRQ: uint32(srq)})
	}
	l.run(1e9)
	a.poll()
	b.poll()
	if len(a.sends()) != 50 || len(b.receives()) != 50 || string(b.bytes(4096+49*8, 6)) != "shared" {
		t.Errorf("%d and %d completions", len(a.sends()), len(b.receives()))
	}
	for _, c := range append(a.got, b.got...) {
		if c.Status != cq.Success {
			t.Errorf("%+v", c)
		}
	}
}

// TestSpeed is how fast the devices and the link between them are; see BenchmarkDevices.
func BenchmarkDevices(b *testing.B) {
	l, hs := devices(b, 1, addrs, func(_ int, o *soft.Options) { o.Limits.Window = 32 })
	packets := 0
	for i := range hs {
		l.taps[i].near = nil
	}
	p := pair(b, hs, qp.TypeRC, 0, 1<<20, nil)
	b.ReportAllocs()
	b.ResetTimer()
	for packets < b.N {
		for i := range 32 {
			p[0].post(wqe.SendRequest{ID: uint64(i), Op: wqe.OpWrite, Segments: p[0].sge(0, 4096), RemoteVA: p[1].va, RKey: p[1].key})
		}
		l.run(1e6)
		for i := range l.taps {
			packets += len(l.taps[i].frames) / 3
			l.taps[i].frames = l.taps[i].frames[:0]
		}
	}
}

// TestMulticast: each queue pair that has joined the group receives one copy, the sender's own only from its device.
func TestMulticast(t *testing.T) {
	l, hs := devices(t, 1, addrs, nil)
	ends := pair(t, hs, qp.TypeUD, 0, 1<<16, nil)
	group := packet.IPv4Addr([]byte{239, 1, 1, 1})
	for i, e := range ends {
		e.receive(receiveID, 4096, 1000)
		e.receive(receiveID+1, 8192, 1000)
		if err := e.AttachMulticast(ctx, e.qp, group); err != nil {
			t.Fatal(i, err)
		}
	}
	a, b := ends[0], ends[1]
	a.set(0, []byte("to all"))
	a.post(wqe.SendRequest{
		ID: 1, Op: wqe.OpSend, Segments: a.sge(0, 6), Dest: wqe.QP{Addr: group, QPN: wqe.MulticastQPN}, QKey: 0x1234,
	})
	l.run(1e6)
	last := l.taps[0].frames[len(l.taps[0].frames)-1].Data
	hs[0].hca.Receive(last) // a copy from the fabric
	l.run(1e6)
	for i, e := range ends {
		e.poll()
		if got := e.receives(); len(got) != 1 || got[0].SrcQP != a.qp.QPN || string(e.bytes(4096+40, 6)) != "to all" {
			t.Errorf("end %d received %+v", i, got)
		}
	}
	if err := b.DetachMulticast(ctx, b.qp, group); err != nil {
		t.Error(err)
	}
	hs[1].hca.Receive(last)
	if b.poll(); len(b.receives()) != 1 {
		t.Errorf("%d datagrams after leaving the group", len(b.receives()))
	}
}

// TestUnsolicitedCredits: a responder that had no credit left tells of new receive requests, once, and not after a NAK.
func TestUnsolicitedCredits(t *testing.T) {
	l, hs := devices(t, 1, addrs, func(_ int, o *soft.Options) { o.Credits = true })
	ends := pair(t, hs, qp.TypeRC, 0, 1<<16, nil)
	a, b := ends[0], ends[1]
	b.receive(receiveID, 4096, 100)
	a.post(wqe.SendRequest{ID: 1, Op: wqe.OpSend, Segments: a.sge(0, 6)})
	l.run(1e6)
	frames := len(l.taps[0].frames)
	for i := range 3 {
		b.receive(receiveID+1+uint64(i), 4096, 100)
		l.run(1e6)
	}
	if n := len(l.taps[0].frames) - frames; n != 1 {
		t.Errorf("%d frames after receive requests were posted", n)
	}
	a.post(wqe.SendRequest{ID: 2, Op: wqe.OpSend, Segments: a.sge(0, 6), Flags: wqe.Signaled})
	l.run(1e6)
	a.poll()
	if len(a.sends()) != 1 {
		t.Errorf("%+v", a.sends())
	}
}
