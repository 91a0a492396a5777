package agent

import (
	"context"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Tell takes an event of the device that no verb of its consumer has caused: an asynchronous event, or the notification of a completion queue. With a Control all other
// kinds are ignored, as the verbs tell them.
//
// Without a Control Tell takes all kinds: objects that another program has created, with the numbers that the device gave them, and completions that another program has
// polled; Query is asked for the data of a completion that comes without them. An event without a time is of the time at which Tell is called. The caller gives the event
// away: it may be kept.
func (d *device) Tell(e *cq.Event) {
	if d.opt.Control != nil && e.Kind != cq.EvAsync && e.Kind != cq.EvNotify {
		return
	}
	if e.Time == 0 {
		e.Time = d.opt.Now()
	}
	if !e.Failed {
		d.follow(e)
	}
	if d.opt.Event != nil {
		e.QP.Addr = d.opt.Addr
		d.opt.Event(e)
	}
}

// follow has the model follow what the device has done.
func (d *device) follow(e *cq.Event) {
	m := d.qps[e.QP.QPN]
	switch e.Kind {
	case cq.EvCreateQP:
		m = &deviceQP{InitAttr: *e.New}
		m.send.most, m.receive.most = e.New.MaxSend, e.New.MaxReceive
		d.qps[e.QP.QPN] = m
	case cq.EvDestroyQP:
		delete(d.qps, e.QP.QPN)
	case cq.EvModifyQP, cq.EvQueryQP:
		if m == nil {
			return
		}
		if m.state, m.failed = e.State, false; e.State == qp.Reset {
			m.send.clear()
			m.receive.clear()
		}
	case cq.EvCreateSRQ:
		d.srqs[e.SRQ] = &deviceSRQ{receive: postedQueue{most: e.Depth}}
	case cq.EvDestroySRQ:
		delete(d.srqs, e.SRQ)
	case cq.EvRegisterMR:
		d.mrs[e.Region.MR], d.lkeys[e.Region.LKey] = e.Region, e.Region
	case cq.EvDeregisterMR:
		if e.Region != nil {
			delete(d.mrs, e.Region.MR)
			delete(d.lkeys, e.Region.LKey)
		}
	case cq.EvAllocateMW:
		now := *e.Region
		d.mws[now.MW] = &now
	case cq.EvDeallocateMW:
		if e.Region != nil {
			delete(d.mws, e.Region.MW)
		}
	case cq.EvPostSend:
		d.posted(m, e.Send)
	case cq.EvPostReceive:
		d.postedReceive(d.receiveQueue(m, e.SRQ), e.Receive)
	case cq.EvCompletion:
		d.completed(context.Background(), e, nil)
	case cq.EvAsync:
		switch e.Async {
		case cq.AsyncQPFatal, cq.AsyncQPRequest, cq.AsyncQPAccess:
			if m != nil {
				m.failed = true
			}
		}
	}
}

// elsewhere is the device that another drives: what it is asked to do has been done, or will be.
type elsewhere struct{}

var _ hcaagent.Control = elsewhere{}

func (elsewhere) CreateQP(context.Context, qp.InitAttr) (wqe.QP, error) {
	return wqe.QP{}, ErrNoControl
}
func (elsewhere) ModifyQP(ctx context.Context, _ wqe.QP, _ qp.Attr) error { return ctx.Err() }
func (elsewhere) TransitionQP(ctx context.Context, _ wqe.QP, _ qp.State, _ qp.Attr) error {
	return ctx.Err()
}

func (elsewhere) QueryQP(context.Context, wqe.QP) (qp.Attr, qp.State, error) {
	return qp.Attr{}, 0, ErrNoControl
}

func (elsewhere) DestroyQP(ctx context.Context, _ wqe.QP) error { return ctx.Err() }

func (elsewhere) PostSend(ctx context.Context, _ wqe.QP, _ *wqe.SendRequest) error { return ctx.Err() }

func (elsewhere) PostReceive(ctx context.Context, _ wqe.QP, _ *wqe.ReceiveRequest) error {
	return ctx.Err()
}

func (elsewhere) CreateCQ(context.Context, int) (wqe.CQ, error) { return 0, ErrNoControl }

func (elsewhere) ResizeCQ(ctx context.Context, _ wqe.CQ, _ int) error { return ctx.Err() }

func (elsewhere) DestroyCQ(ctx context.Context, _ wqe.CQ) error { return ctx.Err() }

func (elsewhere) Poll(context.Context, wqe.CQ, []cq.Completion) (int, error) { return 0, ErrNoControl }

func (elsewhere) RequestNotification(ctx context.Context, _ wqe.CQ, _ cq.Arm) error { return ctx.Err() }

func (elsewhere) CreateSRQ(context.Context, wqe.PD, int, int) (wqe.SRQ, error) {
	return 0, ErrNoControl
}
func (elsewhere) CreateXRCD(context.Context) (wqe.XRCD, error)      { return 0, ErrNoControl }
func (elsewhere) DestroyXRCD(ctx context.Context, _ wqe.XRCD) error { return ctx.Err() }
func (elsewhere) CreateXRCSRQ(context.Context, wqe.PD, wqe.XRCD, int, int) (wqe.SRQ, error) {
	return 0, ErrNoControl
}
func (elsewhere) ModifySRQ(ctx context.Context, _ wqe.SRQ, _ int) error { return ctx.Err() }
func (elsewhere) DestroySRQ(ctx context.Context, _ wqe.SRQ) error       { return ctx.Err() }
func (elsewhere) PostSharedReceive(ctx context.Context, _ wqe.SRQ, _ *wqe.ReceiveRequest) error {
	return ctx.Err()
}
func (elsewhere) CreatePD(context.Context) (wqe.PD, error)         { return 0, ErrNoControl }
func (elsewhere) DestroyPD(ctx context.Context, _ wqe.PD) error    { return ctx.Err() }
func (elsewhere) DeregisterMR(ctx context.Context, _ wqe.MR) error { return ctx.Err() }
func (elsewhere) RegisterMR(context.Context, hcaagent.NewMR) (wqe.MR, uint32, uint32, error) {
	return 0, 0, 0, ErrNoControl
}

func (elsewhere) AllocateMW(context.Context, wqe.PD, int) (wqe.MW, uint32, error) {
	return 0, 0, ErrNoControl
}
func (elsewhere) DeallocateMW(ctx context.Context, _ wqe.MW) error { return ctx.Err() }
func (elsewhere) AttachMulticast(ctx context.Context, _ wqe.QP, _ packet.Addr) error {
	return ctx.Err()
}

func (elsewhere) DetachMulticast(ctx context.Context, _ wqe.QP, _ packet.Addr) error {
	return ctx.Err()
}

func (elsewhere) CreateAH(context.Context, wqe.PD, wqe.AddressVector) (wqe.AH, error) {
	return 0, ErrNoControl
}

func (elsewhere) ModifyAH(ctx context.Context, _ wqe.AH, _ wqe.AddressVector) error { return ctx.Err() }

func (elsewhere) QueryAH(context.Context, wqe.AH) (wqe.AddressVector, error) {
	return wqe.AddressVector{}, ErrNoControl
}
func (elsewhere) DestroyAH(ctx context.Context, _ wqe.AH) error               { return ctx.Err() }
func (elsewhere) SetMemory(ctx context.Context, _ wqe.Memory, _ []byte) error { return ctx.Err() }
