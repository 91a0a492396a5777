package conform

import (
	"context"
	"errors"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent/remote"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// driven is the adapter as a test drives it. A verb whose order among packets counts is called when all that was sent before it has left, and what it says is told after all
// that passed before it was said.
type driven struct {
	Consumer
	l *line
}

// Receive is not called: frames go by the network.
func (d *driven) Receive([]byte) {}

// said takes what has passed until now.
func (d *driven) said() { d.l.reach(time.Now().UnixNano()) }

// Poll polls, when what was sent has left.
func (d *driven) Poll(ctx context.Context, q wqe.CQ, into []cq.Completion) (int, error) {
	n, err := d.Consumer.Poll(ctx, q, into)
	if n > 0 {
		d.said()
	}
	return n, d.gone(err)
}

// gone ends the test where the device does not answer.
func (d *driven) gone(err error) error {
	if errors.Is(err, remote.ErrGone) {
		d.l.r.halt("%v", err)
	}
	return err
}

// PostSend posts.
func (d *driven) PostSend(ctx context.Context, q wqe.QP, w *wqe.SendRequest) error {
	d.l.departed()
	return d.gone(d.Consumer.PostSend(ctx, q, w))
}

// PostReceive posts.
func (d *driven) PostReceive(ctx context.Context, q wqe.QP, w *wqe.ReceiveRequest) error {
	d.l.departed()
	return d.gone(d.Consumer.PostReceive(ctx, q, w))
}

// PostSharedReceive posts.
func (d *driven) PostSharedReceive(ctx context.Context, q wqe.SRQ, w *wqe.ReceiveRequest) error {
	d.l.departed()
	return d.gone(d.Consumer.PostSharedReceive(ctx, q, w))
}

// TransitionQP brings a queue pair to another state. Of one from which less is allowed than before, the device may have made use until it was there.
func (d *driven) TransitionQP(ctx context.Context, q wqe.QP, to qp.State, a qp.Attr) error {
	d.l.departed()
	err := d.gone(d.Consumer.TransitionQP(ctx, q, to, a))
	if to != qp.Init && to != qp.RTR && to != qp.RTS {
		d.said()
	}
	return err
}

// QueryQP asks.
func (d *driven) QueryQP(ctx context.Context, q wqe.QP) (qp.Attr, qp.State, error) {
	d.l.departed()
	a, s, err := d.Consumer.QueryQP(ctx, q)
	d.said()
	return a, s, d.gone(err)
}

// DestroyQP destroys.
func (d *driven) DestroyQP(ctx context.Context, q wqe.QP) error {
	return d.withdraw(func() error { return d.Consumer.DestroyQP(ctx, q) })
}

// DeregisterMR deregisters.
func (d *driven) DeregisterMR(ctx context.Context, m wqe.MR) error {
	return d.withdraw(func() error { return d.Consumer.DeregisterMR(ctx, m) })
}

// DeallocateMW deallocates.
func (d *driven) DeallocateMW(ctx context.Context, m wqe.MW) error {
	return d.withdraw(func() error { return d.Consumer.DeallocateMW(ctx, m) })
}

// withdraw calls a verb after which less is allowed than before: the device may have made use of it until then.
func (d *driven) withdraw(verb func() error) error {
	d.l.departed()
	err := d.gone(verb())
	d.said()
	return err
}

// MemoryData reads memory, when all that was sent has left.
func (d *driven) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	d.l.departed()
	n, err := d.Consumer.MemoryData(ctx, m, into)
	return n, d.gone(err)
}
