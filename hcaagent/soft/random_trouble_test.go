package soft_test

import (
	"testing"

	"ibwitness/cq"
	"ibwitness/internal/testkit/sample"
	"ibwitness/qp"
	"ibwitness/rule"
)

// shared gives some queue pairs a shared receive queue.
func (r *random) shared(n *qp.InitAttr) {
	if r.side.IntN(4) == 0 {
		n.SRQ = ownQueue
	}
}

// consume has some consumers arm their queues, and poll them now and then.
func (r *random) consume(p [2]*end) {
	for _, e := range p {
		if e.srq != 0 {
			_ = e.ModifySRQ(ctx, e.srq, r.side.IntN(8))
		}
		if r.side.IntN(3) == 0 {
			continue
		}
		solicited, every := r.side.IntN(3), 1000+r.side.Int64N(60_000)
		for at := every; at < 100*every; at += every {
			r.link.After(at, func() {
				if r.side.IntN(2) == 0 {
					e.pollSome(1 + r.side.IntN(8))
				}
				if r.side.IntN(2) == 0 {
					arm := cq.ArmNext
					if r.side.IntN(3) < solicited {
						arm = cq.ArmSolicited
					}
					_ = e.RequestNotification(ctx, e.cq, arm)
				}
			})
		}
	}
}

// pollSome takes some of the completions that wait.
func (e *end) pollSome(n int) {
	c := make([]cq.Completion, n)
	n, err := e.Poll(ctx, e.cq, c)
	if err != nil {
		e.t.Fatal(err)
	}
	e.got = append(e.got, c[:n]...)
}

// trouble has queues overrun, and queue pairs brought to the error state, reset or destroyed.
func (r *random) trouble() {
	for _, w := range r.ways {
		e := w.from
		if r.side.IntN(2) == 0 {
			e = w.to
		}
		at := r.side.Int64N(300_000)
		switch r.side.IntN(4) {
		case 0:
			depth := 1 + r.side.IntN(6)
			r.link.After(at, func() { _ = e.ResizeCQ(ctx, e.cq, depth) })
		case 1:
			r.link.After(at, func() { _ = e.TransitionQP(ctx, e.qp, qp.Err, qp.Attr{}) })
		case 2:
			r.link.After(at, func() { _ = e.TransitionQP(ctx, e.qp, qp.Err, qp.Attr{}) })
			r.link.After(at+r.side.Int64N(100_000), func() { _ = e.TransitionQP(ctx, e.qp, qp.Reset, qp.Attr{}) })
		case 3:
			w.plan[len(w.plan)-1].RKey ^= 0x55000
		}
	}
}

// TestRandomTrouble has consumers do what ends connections, at any time: by the events of both what follows is right.
func TestRandomTrouble(t *testing.T) {
	failed := 0
	for seed := *first; seed < *first+uint64(*runs) && failed < *most; seed += uint64(sample.Stride(9)) {
		r := newRandom(t, seed, seed%2 == 0)
		for _, w := range r.ways {
			w.from.lenient, w.to.lenient = true, true
		}
		r.trouble()
		r.link.run(60e9)
		for _, w := range r.ways {
			w.from.poll()
			w.to.poll()
		}
		for i := range r.link.taps {
			c := &r.link.taps[i]
			res := c.verify(t, r.link.logs[:]...)
			for k := range res.Findings {
				if f := &res.Findings[k]; f.Class == rule.Violation && f.Rule.NeedsEvents() {
					t.Errorf("seed %d, tap %d, %d frames: %s", seed, i, len(c.frames), tell(f))
					failed++
				}
			}
		}
	}
}
