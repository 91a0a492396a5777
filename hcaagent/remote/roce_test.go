package remote_test

import (
	"testing"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// roce1 has a connection of RoCEv1, where the devices have GIDs of it.
func roce1(t *testing.T, a, b *end) {
	gid := func(e *end) wqe.GID {
		for _, g := range e.Info().GIDs {
			if g.RoCEv1 {
				return g.GID
			}
		}
		t.Skip("the port has no GID of RoCEv1")
		return wqe.GID{}
	}
	from, to := gid(a), gid(b)
	p, q := a.queuePair(qp.TypeRC), b.queuePair(qp.TypeRC)
	for _, x := range []struct {
		*end
		q, peer  wqe.QP
		from, to wqe.GID
	}{{a, p, q, from, to}, {b, q, p, to, from}} {
		at := attr(wqe.QP{Addr: x.to.Addr, QPN: x.peer.QPN})
		at.SourceAddr, at.RoCEv1, at.GRH = x.from.Addr, true, true
		for _, to := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
			at.Known, _ = qp.Takes(qp.TypeRC, to-1, to)
			if to == qp.RTR {
				at.Known |= qp.KnowsSourceAddr | qp.KnowsHopLimit
			}
			x.check(x.TransitionQP(ctx, x.q, to, at))
		}
	}
	a.check(a.PostSend(ctx, p, &wqe.SendRequest{ID: 1, Op: wqe.OpWrite, Flags: wqe.Signaled, RemoteVA: base, RKey: b.rkey, Segments: a.segment(0, 100)}))
	a.completes(1, cq.Success, cq.DoneWrite)
	if x, _, err := a.QueryQP(ctx, p); err != nil || !x.RoCEv1 || x.SourceAddr != from.Addr {
		t.Errorf("%+v, %v", x, err)
	}
	bad := attr(q)
	bad.SourceAddr, bad.Known = group, qp.KnowsSourceAddr|qp.KnowsDestAddr
	if err := a.ModifyQP(ctx, p, bad); err == nil {
		t.Error("a GID that the port does not have is taken")
	}
	a.destroy(p)
	b.destroy(q)
}
