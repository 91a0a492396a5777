package soft

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// CreateQP makes a queue pair in RESET.
func (h *HCA) CreateQP(ctx context.Context, n qp.InitAttr) (id wqe.QP, err error) {
	if err = ctx.Err(); err != nil {
		return id, err
	}
	service, ok := n.Type.Service()
	if !ok || service == packet.RD || n.Type == qp.TypeSMI {
		return wqe.QP{}, fmt.Errorf("soft: %v queue pairs are not made; take RC, UC, UD, XRC or GSI", n.Type)
	}
	q := &queuePair{h: h, new: n, service: service, pd: n.PD, sendCQ: h.cqs[n.SendCQ], recvCQ: h.cqs[n.RecvCQ], srq: h.srqs[n.SRQ]}
	q.attr.Service = service
	if err = q.validQueues(); err != nil {
		return id, err
	}
	if q.num = 1; n.Type != qp.TypeGSI {
		h.lastQP++
		q.num = h.lastQP
	}
	q.srcPort = uint16(0xC000 | h.rng.Uint32N(0x4000))
	q.locate()
	h.qps[q.num] = q
	q.users(1)
	h.inXRCD(n.XRCD, 1)
	return wqe.QP{Addr: h.opt.Addr, QPN: q.num}, nil
}

// validQueues checks that the device has the queues and domains of a new queue pair, and takes a place in its protection domain.
func (q *queuePair) validQueues() error {
	h, n := q.h, &q.new
	switch {
	case q.sendCQ == nil && n.Type != qp.TypeXRCTarget:
		return notFound("completion queue", uint32(n.SendCQ))
	case q.recvCQ == nil && n.Type != qp.TypeXRCInitiator:
		return notFound("completion queue", uint32(n.RecvCQ))
	case q.srq == nil && n.SRQ != 0:
		return notFound("shared receive queue", uint32(n.SRQ))
	case n.XRCD != 0 && (n.Type != qp.TypeXRCTarget || !h.hasXRCD(n.XRCD)):
		return notFound("XRC domain", uint32(n.XRCD))
	case n.Type == qp.TypeGSI && h.qps[1] != nil:
		return fmt.Errorf("soft: QP 1: %w", hcaagent.ErrBusy)
	}
	return h.inPD(n.PD)
}

// users counts the queue pair in or out of the queues that it uses.
func (q *queuePair) users(n int) {
	for _, c := range []*completionQueue{q.sendCQ, q.recvCQ} {
		if c != nil {
			c.users += n
		}
	}
	if q.srq != nil {
		q.srq.users += n
	}
}

// DestroyQP destroys a queue pair, whatever its state.
func (h *HCA) DestroyQP(ctx context.Context, handle wqe.QP) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	if q.service == packet.UD && q.attached() && !h.breaks("destroys-attached") { // o10-2.2.3
		return fmt.Errorf("soft: queue pair %#x is attached to a multicast group: %w", q.num, hcaagent.ErrBusy)
	}
	q.state = qp.Reset
	q.req, q.rsp = requester{}, responder{}
	q.users(-1)
	h.inXRCD(q.new.XRCD, -1)
	h.pds[q.pd]--
	delete(h.qps, q.num)
	h.recent = recent{}
	return nil
}

// find returns a queue pair.
func (h *HCA) find(ctx context.Context, handle wqe.QP) (*queuePair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q := h.queuePair(handle.QPN); q != nil && (handle.Addr == packet.Addr{} || h.owns(handle.Addr)) {
		return q, nil
	}
	return nil, notFound("queue pair", handle.QPN)
}

// ModifyQP sets attributes that the state lets change, and does not change the state.
func (h *HCA) ModifyQP(ctx context.Context, handle wqe.QP, attr qp.Attr) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	return h.TransitionQP(ctx, handle, q.state, attr)
}

// TransitionQP brings a queue pair to another state (table T7).
func (h *HCA) TransitionQP(ctx context.Context, handle wqe.QP, to qp.State, attr qp.Attr) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	if err = qp.ValidTransition(q.new.Type, q.state, to, attr.Known); err != nil && !h.permits(err) {
		return fmt.Errorf("soft: queue pair %#x: %w", q.num, err)
	}
	if err = h.refusesAgain(h.validAttr(q, &attr)); err != nil {
		return fmt.Errorf("soft: queue pair %#x: %w", q.num, err)
	}
	err = nil
	q.attr.Update(&attr)
	q.locate()
	if attr.Known&qp.KnowsPKey != 0 && attr.PKey == 0 {
		q.attr.PKey = defaultPKey
	}
	if attr.Known&qp.KnowsPort != 0 {
		q.attr.Port = attr.Port
	}
	if attr.Known&qp.KnowsSQDNotify != 0 {
		q.attr.SQDNotify = attr.SQDNotify
	}
	if to != q.state || to == qp.Reset {
		q.become(to)
	}
	return nil
}

// refuses reports whether an attribute is given and not valid, and its check is not left out on purpose.
func (h *HCA) refuses(a *qp.Attr, k qp.Known, valid bool) bool {
	return a.Known&k != 0 && !valid && !h.unchecked(k)
}

// validAttr checks the values of attributes (rules QPS-ATT-001 to 006, QPS-TRN-005).
func (h *HCA) validAttr(q *queuePair, a *qp.Attr) error {
	bad := func(k qp.Known, ok bool) bool { return h.refuses(a, k, ok) }
	switch {
	case bad(qp.KnowsPMTU, a.PMTU >= 256 && a.PMTU <= h.opt.Limits.MTU && a.PMTU&(a.PMTU-1) == 0):
		return fmt.Errorf("path MTU %d: give 256, 512, 1024, 2048 or 4096, at most the port's %d", a.PMTU, h.opt.Limits.MTU)
	case bad(qp.KnowsMaxRdAtomic, a.MaxRdAtomic <= h.opt.Limits.MaxRdAtomic):
		return fmt.Errorf("initiator depth %d: the device has %d", a.MaxRdAtomic, h.opt.Limits.MaxRdAtomic)
	case bad(qp.KnowsMaxDestRdAtomic, a.MaxDestRdAtomic <= h.opt.Limits.MaxDestRdAtomic):
		return fmt.Errorf("responder resources %d: the device has %d", a.MaxDestRdAtomic, h.opt.Limits.MaxDestRdAtomic)
	case bad(qp.KnowsTimeout, a.Timeout < 32), bad(qp.KnowsMinRNRTimer, a.MinRNRTimer < 32):
		return fmt.Errorf("timer code %d or %d: give 0 to 31", a.Timeout, a.MinRNRTimer)
	case bad(qp.KnowsRetryCnt, a.RetryCnt < 8), bad(qp.KnowsRNRRetry, a.RNRRetry < 8):
		return fmt.Errorf("retry count %d or %d: give 0 to 7", a.RetryCnt, a.RNRRetry)
	case bad(qp.KnowsPort, a.Port == 1):
		return fmt.Errorf("port %d: the device has only port 1", a.Port)
	case bad(qp.KnowsSQPSN, a.SQPSN <= packet.PSNMask), bad(qp.KnowsRQPSN, a.RQPSN <= packet.PSNMask):
		return fmt.Errorf("PSN %#x or %#x: PSNs have 24 bits", uint32(a.SQPSN), uint32(a.RQPSN))
	case bad(qp.KnowsDestQPN, a.DestQPN <= packet.PSNMask):
		return fmt.Errorf("destination QPN %#x: QPNs have 24 bits", a.DestQPN)
	case bad(qp.KnowsPKey, a.PKey&0x7FFF != 0 || a.PKey == 0 && int(a.PKeyIndex) < h.opt.Limits.PKeys):
		return fmt.Errorf("P_Key %#x, index %d: it is invalid, or the table has no such entry", a.PKey, a.PKeyIndex)
	case bad(qp.KnowsCurState, a.CurState == q.state):
		return fmt.Errorf("current state %v: it is %v", a.CurState, q.state)
	}
	return h.validSource(a)
}

// defaultPKey fills the P_Key table.
const defaultPKey = 0xFFFF

// QueryQP returns the attributes and the state of a queue pair.
func (h *HCA) QueryQP(ctx context.Context, handle wqe.QP) (qp.Attr, qp.State, error) {
	q, err := h.find(ctx, handle)
	if err != nil {
		return qp.Attr{}, 0, err
	}
	state := q.state
	switch {
	case state == qp.Err && h.has("rc-in-sqe"):
		state = qp.SQE
	case state == qp.RTS && q.service == packet.UC && h.has("uc-says-error"):
		state = qp.Err
	}
	return q.attr, state, nil
}
