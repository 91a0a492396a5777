package soft_test

import (
	"time"

	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// targetQueues gives the target of an XRC connection the shared receive queues that messages name.
func (r *random) targetQueues(e *end) {
	for range 1 + r.more.IntN(3) {
		e.targets = append(e.targets, must(e.CreateXRCSRQ(ctx, e.pd, e.domain, 256, 4))(r.t))
	}
}

// otherOp is another operation in place of one, now and then; on XRC there is neither FLUSH nor ATOMIC WRITE.
func (r *random) otherOp(w *way, op wqe.SendOp) wqe.SendOp {
	switch n := r.more.IntN(10); {
	case n == 0 && op == wqe.OpSend:
		return wqe.OpSendInv
	case n > 2 || len(w.to.targets) > 0:
		return op
	case n == 1:
		return wqe.OpFlush
	default:
		return wqe.OpAtomicWrite
	}
}

// spare is the R_Key of a region that is there to be taken back.
func (r *random) spare(e *end) uint32 {
	_, _, key, err := e.RegisterMR(ctx, hcaagent.NewMR{PD: e.pd, VA: e.va, Length: 64, Access: wqe.RemoteRead})
	if err != nil {
		r.t.Fatal(err)
	}
	return key
}

// name has a message on XRC name one of the target's shared receive queues.
func (r *random) name(w *way, q *wqe.SendRequest) {
	srq := w.to.targets[r.more.IntN(len(w.to.targets))]
	q.XRCSRQ = uint32(srq)
	switch q.Op {
	case wqe.OpSend, wqe.OpSendImm, wqe.OpSendInv, wqe.OpWriteImm:
		w.received[len(w.received)-1].srq = srq
	}
}

// receiveBy posts a receive request to a shared receive queue; 0: to that of the end.
func (e *end) receiveBy(srq wqe.SRQ, id uint64, off, n int) {
	if srq == 0 {
		e.receive(id, off, n)
		return
	}
	err := e.PostSharedReceive(ctx, srq, wqe.ReceiveRequest{ID: id, Segments: e.sge(off, n)})
	if err != nil && !e.lenient {
		e.t.Fatal(err)
	}
}

// congestion has devices send CNPs, and says how to the verifier, now and then.
func (r *random) congestion() (c soft.Congestion, p verifier.Profile) {
	if r.more == nil || r.more.IntN(2) == 0 {
		return c, p
	}
	c = soft.Congestion{CNPs: soft.Pacing(1 + r.more.IntN(3)), Every: 4000 + r.more.Int64N(100_000), TClass: uint8(r.more.IntN(64)<<2 | r.more.IntN(3))}
	if r.more.IntN(4) > 0 {
		by := map[soft.Pacing]verifier.PacedBy{soft.PerQP: verifier.PacedByQP, soft.PerAddress: verifier.PacedByAddress, soft.PerPort: verifier.PacedByPort}
		p.CNPs = verifier.Pacing{By: by[c.CNPs], Every: time.Duration(c.Every)}
	}
	if r.more.IntN(4) > 0 {
		p.HasDSCP, p.DSCP = true, c.TClass>>2
	}
	return c, p
}

// crowd has the network mark packets: some of all, or those of the rush.
func (r *random) crowd(p verifier.Profile) {
	for i := range r.link.taps {
		r.link.taps[i].profile = p
	}
	if r.more == nil || r.more.IntN(3) == 0 {
		return
	}
	chance, last := r.more.Float64()*0.3, int64(0)
	rush := r.more.IntN(2) == 0
	r.link.mark = func([]byte) bool {
		gap := r.link.now - last
		last = r.link.now
		return r.more.Float64() < chance && (!rush || gap < 500)
	}
}

// ecn is the ECN field of what a queue pair sends.
func (r *random) ecn() uint8 {
	if r.more == nil {
		return 0
	}
	return uint8(r.more.IntN(3))
}
