package soft_test

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// create is how the queue pairs are made that a fault needs.
func create(n soft.Need) func(q *qp.InitAttr) {
	return func(q *qp.InitAttr) {
		q.SignalAll = n == soft.SignalAll
		if n == soft.Abuse {
			q.MaxSendSegments = 2
		}
		if n == soft.Shared || n == soft.SharedFew || n == soft.SharedInError {
			q.SRQ = ownQueue
		}
	}
}

// scene changes the work to what a fault needs.
func (s *stage) scene(n soft.Need, work []wqe.SendRequest) []wqe.SendRequest {
	a, b := s.ends[0], s.ends[1]
	switch n {
	case soft.ZeroLength:
		if a.typ == qp.TypeUC {
			work[6].Segments, work[6].RKey = nil, 0x55000
		}
	case soft.Segments:
		for i := range work {
			if q := &work[i]; q.Op == wqe.OpSend {
				x := q.Segments[0]
				half := (x.Length + 1) / 2
				q.Segments = []wqe.Segment{{VA: x.VA, Length: half, LKey: x.LKey}, {VA: x.VA + 1024 + uint64(half), Length: x.Length - half, LKey: x.LKey}}
			}
		}
	case soft.SignalAll:
		for i := range work {
			work[i].Flags &^= wqe.Signaled
		}
	case soft.LostMiddle, soft.LostFirst, soft.Plain:
	case soft.Looks:
		for at := int64(3_000); at < 1_500_000; at += 10_000 {
			s.link.After(at, func() {
				for _, n := range []int{8, 128, 200, 256, 900} {
					b.bytes(1024, n)
				}
			})
		}
		for i := range work {
			if work[i].Op == wqe.OpWrite { // each writes something else
				work[i].Segments = a.sge(100*i+7, int(work[i].Segments[0].Length))
			}
		}
	case soft.Multicast:
		group := packet.IPv4Addr([]byte{239, 1, 1, 1})
		if err := b.AttachMulticast(ctx, b.qp, group); err != nil {
			s.t.Fatal(err)
		}
		for i := range work {
			work[i].Dest = wqe.QP{Addr: group, QPN: wqe.MulticastQPN}
		}
		s.bystander()
	case soft.Handle:
		ah := must(a.CreateAH(ctx, a.pd, wqe.AddressVector{Dest: b.qp.Addr, TClass: 0x20, HopLimit: 33}))(s.t)
		for i := range work {
			work[i].AH = ah
		}
	case soft.Privileged:
		work[2].QKey |= 1 << 31
	case soft.NothingToInvalidate:
		for i := range work {
			if work[i].Op == wqe.OpSendInv {
				work[i].InvKey += 0x550000
			}
		}
	case soft.NoPersistence, soft.NoAtomicWrite:
		_, _, key, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: b.va + 4096, Length: 1024, Access: wqe.RemoteRead | wqe.RemoteFlush})
		if err != nil {
			s.t.Fatal(err)
		}
		q := wqe.SendRequest{Op: wqe.OpFlush, RemoteVA: b.va + 4096, RKey: key, Flush: wqe.FlushRequest{Length: 64, Placement: 1}}
		work[4] = q
		if q.Flush.Placement = 2; n == soft.NoAtomicWrite {
			q.Op, q.Segments = wqe.OpAtomicWrite, a.sge(0, 8)
		}
		work[7] = q
	case soft.TooLong:
		if a.typ == qp.TypeUD { // of both kinds: for the port, and for the receive request
			work[3].Segments, work[5].Segments = a.sge(0, 5000), a.sge(0, 4090)
			return work
		}
		work[7] = wqe.SendRequest{Op: wqe.OpSend, Segments: a.sge(0, 5000)}
	case soft.BadSend:
		work[7].Segments = a.sge(4096, 100)
		work[7].Segments[0].LKey ^= 0x55000
	case soft.Beyond:
		work[7].RemoteVA, work[7].Op = b.va+b.length-100, wqe.OpRead
		work[7].Segments = a.sge(16384, 900)
	case soft.ReadOnly:
		_, _, key, err := b.RegisterMR(ctx, hcaagent.NewMR{PD: b.pd, VA: b.va + 4096, Length: 1024, Access: wqe.RemoteRead})
		if err != nil {
			s.t.Fatal(err)
		}
		work[4].RemoteVA, work[4].RKey = b.va+4096, key
	case soft.GivenUp:
		for i := range work {
			if work[i].Op == wqe.OpSendInv {
				work[i+1] = wqe.SendRequest{Op: wqe.OpRead, Segments: a.sge(16384, 64), RKey: work[i].InvKey, RemoteVA: b.va + 2048}
				break
			}
		}
	case soft.Abuse:
		s.abuse()
	case soft.Refused:
		if a.typ == qp.TypeUC {
			work[6].RKey ^= 0x55000
		}
		s.link.After(1_900_000, func() { _, _, _ = a.QueryQP(ctx, a.qp) })
	case soft.InError:
		s.link.After(110_000, func() { _ = b.TransitionQP(ctx, b.qp, qp.Err, qp.Attr{}) })
	case soft.ReadyOnly:
		s.link.After(2_000_000, func() {
			s.again(a)
			_ = a.PostSend(ctx, a.qp, wqe.SendRequest{ID: 900, Op: wqe.OpWrite, Segments: a.sge(0, 64), RKey: b.key, RemoteVA: b.va})
		})
	case soft.Drained, soft.DrainedUnasked:
		s.link.After(110_000, func() {
			_ = a.TransitionQP(ctx, a.qp, qp.SQD, qp.Attr{Known: qp.KnowsSQDNotify, SQDNotify: n == soft.Drained})
		})
		s.link.After(410_000, func() { _ = a.TransitionQP(ctx, a.qp, qp.RTS, qp.Attr{}) })
		s.link.After(150_000_000, func() { _, _, _ = a.QueryQP(ctx, a.qp) })
	case soft.Fenced:
		for i := range work[1:] {
			if work[i].Op == wqe.OpRead {
				work[i+1].Flags |= wqe.Fence
			}
		}
	case soft.NotPermitted:
		b.attr.Access = wqe.RemoteWrite
		s.again(b)
		work = []wqe.SendRequest{work[3], work[7]}
	case soft.WrongQKey:
		work[2].QKey++
	case soft.Armed:
		for at := int64(0); at < 1_000_000; at += 50_000 {
			s.link.After(at, func() { _ = a.RequestNotification(ctx, a.cq, cq.ArmNext) })
		}
	}
	s.extendedScene(n, work)
	return s.otherScene(n, work)
}

// again brings a queue pair to RTR again, and no further.
func (s *stage) again(e *end) {
	attr := e.attr
	attr.Known = 0
	err := e.TransitionQP(ctx, e.qp, qp.Reset, attr)
	for from := qp.Reset; err == nil && from < qp.RTR; from++ {
		attr.Known, _ = qp.Takes(e.typ, from, from+1)
		err = e.TransitionQP(ctx, e.qp, from+1, attr)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// first brings a queue pair to a state: with the attributes changed in one way, in the next if that is refused, and at last as they are.
func (e *end) first(q wqe.QP, to qp.State, attr qp.Attr, changes ...func(x *qp.Attr)) {
	for _, change := range append(changes, func(*qp.Attr) {}) {
		x := attr
		if change(&x); e.TransitionQP(ctx, q, to, x) == nil {
			return
		}
	}
}

// abuse has the consumer of a queue pair of its own do what must be refused.
func (s *stage) abuse() {
	e := s.ends[0]
	cq := must(e.CreateCQ(ctx, 16))(s.t)
	srq := must(e.CreateSRQ(ctx, e.pd, 4, 1))(s.t)
	receive := wqe.ReceiveRequest{ID: 700, Segments: e.sge(0, 64)}
	send := wqe.SendRequest{ID: 701, Op: wqe.OpSend, Segments: e.sge(0, 64)}
	for _, shared := range []wqe.SRQ{0, srq} {
		q := must(e.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: e.pd, SendCQ: cq, RecvCQ: cq, SRQ: shared}))(s.t)
		attr := e.attr
		attr.DestQPN = 0x777
		if shared == 0 {
			_ = e.PostReceive(ctx, q, receive)
		}
		attr.Known, _ = qp.Takes(qp.TypeRC, qp.Reset, qp.Init)
		e.first(q, qp.Init, attr, func(x *qp.Attr) { x.Port = 2 }, func(x *qp.Attr) { x.PKey, x.PKeyIndex = 0, 5 })
		if shared != 0 {
			_ = e.PostReceive(ctx, q, receive)
			continue
		}
		_ = e.PostSend(ctx, q, send)
		attr.Known, _ = qp.Takes(qp.TypeRC, qp.Init, qp.RTR)
		e.first(q, qp.RTR, attr, func(x *qp.Attr) { x.MaxDestRdAtomic = 200 })
		attr.Known, _ = qp.Takes(qp.TypeRC, qp.RTR, qp.RTS)
		e.first(q, qp.RTS, attr,
			func(x *qp.Attr) { x.Known |= qp.KnowsCurState; x.CurState = qp.SQD },
			func(x *qp.Attr) { x.SQPSN = 1<<24 + 5 }, func(x *qp.Attr) { x.RetryCnt = 9 },
			func(x *qp.Attr) { x.MaxRdAtomic = 200 })
	}
	_ = e.DestroyCQ(ctx, cq)
	_ = e.PostSend(ctx, e.qp, wqe.SendRequest{ID: 702, Op: wqe.OpRead, Flags: wqe.Inline, Segments: e.sge(0, 64)})
	_ = e.PostSend(ctx, e.qp, wqe.SendRequest{ID: 703, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: append(e.sge(0, 64), append(e.sge(64, 64), e.sge(128, 64)...)...)})
}

// consumers reports whether a finding is on what the consumer of the scene has asked for.
func consumers(n soft.Need, x *rule.Finding) bool {
	return n == soft.ShortResponse && x.Rule == rule.RCRES002 || n == soft.GivenUp && x.Rule == rule.RCINV001 || n == soft.WrongQKey && (x.Rule == rule.UDQKEY001 || x.Rule == rule.RCLEN010)
}

// shared posts the i-th receive request to each of two shared receive queues.
func (s *stage) shared(i int) {
	b := s.ends[1]
	for k := range s.srqs {
		if i == 0 {
			s.srqs[k] = must(b.CreateXRCSRQ(ctx, b.pd, b.domain, 64, 1))(s.t)
		}
		id := receiveID + uint64(k*1000+i)
		if err := b.PostSharedReceive(ctx, s.srqs[k], wqe.ReceiveRequest{ID: id, Segments: b.sge(8192, 4096)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// bystander is a datagram queue pair beside that of the second end, which has joined no group.
func (s *stage) bystander() {
	e := newEnd(s.t, s.ends[1].adapter, qp.InitAttr{Type: qp.TypeUD}, 0x30000000, 1<<16)
	for i := range 8 {
		e.receive(receiveID+uint64(i), 4096*i, 4096)
	}
	for _, to := range []qp.State{qp.RTR, qp.RTS} {
		if e.attr.Known = 0; to == qp.RTS {
			e.attr.Known = qp.KnowsSQPSN
		}
		if err := e.TransitionQP(ctx, e.qp, to, e.attr); err != nil {
			s.t.Fatal(err)
		}
	}
	s.link.After(2_900_000, e.poll)
}
