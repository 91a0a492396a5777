package soft_test

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// unsignaled reports whether a request is not signalled because the fault needs that.
func (s *stage) unsignaled(n soft.Need, q *wqe.SendRequest) bool {
	switch n {
	case soft.RefusedUnsignaled:
		return q.RKey != s.ends[1].key && q.Op == wqe.OpWrite
	case soft.LocalInvalidate:
		return q.Op != wqe.OpLocalInv
	}
	return false
}

// shorten has READ responses of one packet arrive too short.
func (s *stage) shorten() {
	deliver := s.link.ends[0]
	s.link.ends[0] = func(frame []byte) {
		var p packet.Packet
		packet.DecodeIP(&p, frame[14:], len(frame)-14)
		if p.Opcode.Fn() == packet.ReadRespOnly {
			p.Payload = p.Payload[:8]
			p.Fit()
			p.SealIPv4()
			p.SealICRC()
			frame = p.AppendEthernet(nil, [6]byte(frame[6:12]), [6]byte(frame[:6]))
			c := &s.link.taps[0]
			c.replace(frame)
			if s.verbs {
				s.events[len(s.events)-1] = c.frames[len(c.frames)-1]
			}
		}
		deliver(frame)
	}
}

// otherScene changes the work to what a fault of queues, windows or events needs.
func (s *stage) otherScene(n soft.Need, work []wqe.SendRequest) []wqe.SendRequest {
	a, b := s.ends[0], s.ends[1]
	refused := func(op wqe.SendOp) {
		work[7] = wqe.SendRequest{Op: op, Segments: a.sge(0, 64), RKey: b.key ^ 0x55000, RemoteVA: b.va}
	}
	switch n {
	case soft.ArmedSolicited, soft.ArmedTwice:
		for at := int64(0); at < 1_000_000; at += 30_000 {
			s.link.After(at, func() {
				if n == soft.ArmedTwice {
					_ = b.RequestNotification(ctx, b.cq, cq.ArmNext)
				}
				_ = b.RequestNotification(ctx, b.cq, cq.ArmSolicited)
			})
		}
	case soft.Overrun:
		if err := a.ResizeCQ(ctx, a.cq, 4); err != nil {
			s.t.Fatal(err)
		}
	case soft.SharedFew:
		for i := range work {
			if op := work[i].Op; op <= wqe.OpSendInv || op == wqe.OpWriteImm {
				b.receive(receiveID+uint64(i), 8192, 4096)
			}
		}
	case soft.SharedInError:
		s.link.After(110_000, func() { _ = b.TransitionQP(ctx, b.qp, qp.Err, qp.Attr{}) })
	case soft.Windows:
		s.windows()
	case soft.RefusedImmediate:
		refused(wqe.OpWriteImm)
	case soft.RefusedUnsignaled:
		refused(wqe.OpWrite)
	case soft.LocalInvalidate:
		_, _, key, err := a.RegisterMR(ctx, hcaagent.NewMR{PD: a.pd, VA: a.va + 2048, Length: 64, Access: wqe.RemoteRead})
		if err != nil {
			s.t.Fatal(err)
		}
		work[4] = wqe.SendRequest{Op: wqe.OpLocalInv, InvKey: key}
	case soft.ForeignHandle:
		pd := must(a.CreatePD(ctx))(s.t)
		ah := must(a.CreateAH(ctx, pd, wqe.AddressVector{Dest: b.qp.Addr, HopLimit: 64}))(s.t)
		s.link.After(1_000_000, func() {
			_ = a.PostSend(ctx, a.qp, wqe.SendRequest{ID: 900, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: a.sge(0, 64), AH: ah, Dest: b.qp, QKey: 0x1234})
		})
	case soft.ReadyLate:
		s.again(b)
		for i := range 64 {
			b.receive(receiveID+100+uint64(i), 8192, 4096)
		}
		s.link.After(100_000, func() { s.complete(b) })
	case soft.ReadyThenSending:
		s.link.After(2_000_000, func() {
			a.attr.SQPSN, a.attr.RQPSN, b.attr.SQPSN, b.attr.RQPSN = 0, 0, 0, 0
			s.again(a)
			s.again(b)
			s.complete(b)
			_ = a.PostSend(ctx, a.qp, wqe.SendRequest{ID: 900, Op: wqe.OpWrite, Segments: a.sge(0, 64), RKey: b.key, RemoteVA: b.va})
		})
		s.link.After(2_050_000, func() { s.complete(a) })
	case soft.Broken:
		work[4].Segments[0].LKey ^= 0x55000
		work = work[:6]
	case soft.Restarted:
		s.link.After(1_900_000, func() {
			_ = a.TransitionQP(ctx, a.qp, qp.Reset, qp.Attr{})
			attr := a.attr
			attr.Known, _ = qp.Takes(a.typ, qp.Reset, qp.Init)
			_ = a.TransitionQP(ctx, a.qp, qp.Init, attr)
		})
	case soft.Attached:
		group := packet.IPv4Addr([]byte{239, 0, 0, 9})
		q := must(a.CreateQP(ctx, qp.InitAttr{Type: qp.TypeUD, PD: a.pd, SendCQ: a.cq, RecvCQ: a.cq}))(s.t)
		if err := a.AttachMulticast(ctx, q, group); err != nil {
			s.t.Fatal(err)
		}
		if a.DestroyQP(ctx, q) != nil {
			_ = a.DetachMulticast(ctx, q, group)
			_ = a.DestroyQP(ctx, q)
		}
	}
	return work
}

// complete brings a queue pair from RTR to RTS.
func (s *stage) complete(e *end) {
	attr := e.attr
	attr.Known, _ = qp.Takes(e.typ, qp.RTR, qp.RTS)
	if err := e.TransitionQP(ctx, e.qp, qp.RTS, attr); err != nil {
		s.t.Fatal(err)
	}
}

// windows binds memory windows in ways that must be refused, each by a queue pair of its own.
func (s *stage) windows() {
	e := s.ends[0]
	region := func(off uint64, access wqe.Access) wqe.MR {
		mr, _, _, err := e.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: e.va + off, Length: 1024, Access: access})
		if err != nil {
			s.t.Fatal(err)
		}
		return mr
	}
	all := region(0, everything|wqe.LocalWrite|wqe.BindWindow)
	none := region(1024, everything|wqe.LocalWrite)
	reads := region(2048, wqe.RemoteRead|wqe.BindWindow)
	other := must(e.CreatePD(ctx))(s.t)
	for i, c := range []struct {
		pd     wqe.PD
		kind   int
		mr     wqe.MR
		off, n uint64
		access wqe.Access
	}{
		{e.pd, 1, all, 0, 64, wqe.RemoteRead | wqe.ZeroBased},
		{other, 2, all, 0, 64, wqe.RemoteRead},
		{e.pd, 2, all, 0, 0, wqe.RemoteRead},
		{e.pd, 2, none, 1024, 64, wqe.RemoteRead},
		{e.pd, 2, reads, 2048, 64, wqe.RemoteWrite},
		{e.pd, 2, all, 1000, 64, wqe.RemoteRead},
		{e.pd, 2, all, 0, 64, wqe.RemoteRead | wqe.ZeroBased}, // right, and then bound again
	} {
		q := s.unpairedQP(e, uint32(0x700+i))
		mw, rkey, err := e.AllocateMW(ctx, c.pd, c.kind)
		if err != nil {
			s.t.Fatal(err)
		}
		for k := range uint32(1 + i/6) {
			_ = e.PostSend(ctx, q, wqe.SendRequest{
				ID: uint64(800+2*uint32(i)) + uint64(k), Op: wqe.OpBindMW, Flags: wqe.Signaled,
				Window: &wqe.Bind{MW: mw, MR: c.mr, RKey: rkey + 1 + k, VA: e.va + c.off, Length: c.n, Access: c.access},
			})
		}
	}
}

// unpairedQP makes a queue pair that is in RTS, with a peer that there is not.
func (s *stage) unpairedQP(e *end, peer uint32) wqe.QP {
	q := must(e.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: e.pd, SendCQ: e.cq, RecvCQ: e.cq}))(s.t)
	attr := e.attr
	attr.DestQPN = peer
	for from := qp.Reset; from < qp.RTS; from++ {
		attr.Known, _ = qp.Takes(qp.TypeRC, from, from+1)
		if err := e.TransitionQP(ctx, q, from+1, attr); err != nil {
			s.t.Fatal(err)
		}
	}
	return q
}
