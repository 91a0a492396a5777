//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queuePair is a queue pair.
type queuePair struct {
	qp.InitAttr
	qp      *C.struct_ibv_qp
	service packet.Service
	attr    qp.Attr // as they were set

	sends, receives requests
	shared          *sharedQueue
	groups          map[packet.Addr]membership
}

// mostRequests is how many requests a queue holds where the consumer does not say.
const mostRequests = 1 << 14

// types are the types of queue pairs that libibverbs makes.
var types = map[qp.Type]uint32{
	qp.TypeRC: C.IBV_QPT_RC, qp.TypeUC: C.IBV_QPT_UC, qp.TypeUD: C.IBV_QPT_UD, qp.TypeXRCInitiator: C.IBV_QPT_XRC_SEND, qp.TypeXRCTarget: C.IBV_QPT_XRC_RECV,
}

// atLeast is a size that the consumer asks for, or one that does for a test where it does not say.
func atLeast(asked, otherwise int) C.uint32_t {
	if asked <= 0 {
		asked = otherwise
	}
	return count(asked)
}

// count is a number as libibverbs takes it. One that it cannot take is too great for any device.
func count(n int) C.uint32_t { return C.uint32_t(min(max(n, 0), math.MaxInt32)) }

// CreateQP makes a queue pair in RESET.
func (d *Device) CreateQP(ctx context.Context, n qp.InitAttr) (wqe.QP, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return wqe.QP{}, err
	}
	defer leave()
	kind, ok := types[n.Type]
	if !ok {
		return wqe.QP{}, fmt.Errorf("verbs: %v queue pairs: libibverbs makes RC, UC, UD and XRC: %w", n.Type, errors.ErrUnsupported)
	}
	q := &queuePair{InitAttr: n, groups: map[packet.Addr]membership{}}
	q.service, _ = n.Type.Service()
	if kind == C.IBV_QPT_XRC_RECV {
		err = d.createTarget(q)
	} else {
		err = d.create(q, kind)
	}
	if err != nil {
		return wqe.QP{}, err
	}
	number := uint32(q.qp.qp_num)
	d.qps[number] = q
	return wqe.QP{Addr: d.addr(), QPN: number}, nil
}

// create makes a queue pair that has queues.
func (d *Device) create(q *queuePair, kind uint32) error {
	p, err := lookUp(d.pds, "protection domain", q.PD)
	if err != nil {
		return err
	}
	send, err := lookUp(d.cqs, "completion queue", q.SendCQ)
	if err != nil {
		return err
	}
	init := C.struct_ibv_qp_init_attr{qp_type: kind, send_cq: send.cq}
	if kind != C.IBV_QPT_XRC_SEND {
		receive, err := lookUp(d.cqs, "completion queue", q.RecvCQ)
		if err != nil {
			return err
		}
		init.recv_cq = receive.cq
		init.cap.max_recv_wr, init.cap.max_recv_sge = atLeast(q.MaxReceive, 64), atLeast(q.MaxRecvSegments, 1)
	}
	if q.SRQ != 0 {
		if q.shared, err = lookUp(d.srqs, "shared receive queue", q.SRQ); err != nil {
			return err
		}
		init.srq = q.shared.srq
		init.cap.max_recv_wr, init.cap.max_recv_sge = 0, 0
	}
	init.cap.max_send_wr, init.cap.max_send_sge, init.cap.max_inline_data = atLeast(q.MaxSend, 64), atLeast(q.MaxSendSegments, 1), count(q.MaxInline)
	if q.SignalAll {
		init.sq_sig_all = 1
	}
	if q.qp, err = C.ibv_create_qp(p, &init); q.qp == nil {
		return failed(fmt.Sprintf("ibv_create_qp, %v", q.Type), err)
	}
	q.sends.most, q.receives.most = int(init.cap.max_send_wr), int(init.cap.max_recv_wr)
	return nil
}

// createTarget makes a target of XRC, which has no queues.
func (d *Device) createTarget(q *queuePair) error {
	x, err := lookUp(d.xrcds, "XRC domain", q.XRCD)
	if err != nil {
		return err
	}
	if q.qp, err = C.shim_create_xrc_target(d.ctx, x); q.qp == nil {
		return failed("ibv_create_qp_ex, XRC target", err)
	}
	return nil
}

// withQP calls f with a queue pair.
func (d *Device) withQP(ctx context.Context, handle wqe.QP, f func(*queuePair) error) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	q := d.qps[handle.QPN]
	if q == nil || !handle.Addr.IsZero() && handle.Addr != d.addr() {
		return notFound("queue pair", handle.QPN)
	}
	return f(q)
}

// DestroyQP destroys a queue pair that is attached to no multicast group.
func (d *Device) DestroyQP(ctx context.Context, handle wqe.QP) error {
	return d.withQP(ctx, handle, func(q *queuePair) error {
		if err := returned("ibv_destroy_qp", C.ibv_destroy_qp(q.qp)); err != nil {
			return err
		}
		delete(d.qps, handle.QPN)
		return nil
	})
}

// ModifyQP sets attributes and does not change the state.
func (d *Device) ModifyQP(ctx context.Context, handle wqe.QP, attr qp.Attr) error {
	return d.withQP(ctx, handle, func(q *queuePair) error { return d.modify(q, nil, &attr) })
}

// TransitionQP brings a queue pair to another state.
func (d *Device) TransitionQP(ctx context.Context, handle wqe.QP, to qp.State, attr qp.Attr) error {
	return d.withQP(ctx, handle, func(q *queuePair) error { return d.modify(q, &to, &attr) })
}

// modify sets attributes and, where to is not nil, the state. The device says whether that is allowed; where it refuses, the error says whether the specification does too.
func (d *Device) modify(q *queuePair, to *qp.State, attr *qp.Attr) error {
	var a C.struct_ibv_qp_attr
	var mask C.int
	if to != nil {
		state, ok := states[*to]
		if !ok {
			return &qp.TransitionError{Type: q.Type, To: *to}
		}
		a.qp_state, mask = state, C.IBV_QP_STATE
	}
	given, err := d.fill(q, &a, attr)
	if err != nil {
		return err
	}
	code := C.ibv_modify_qp(q.qp, &a, mask|given)
	if code == 0 {
		q.attr.Update(attr)
		q.note(to, attr)
		return nil
	}
	err = returned("ibv_modify_qp", code)
	if _, from, failed := d.query(q); failed == nil {
		want := from
		if to != nil {
			want = *to
		}
		if illegal := qp.ValidTransition(q.Type, from, want, attr.Known); illegal != nil {
			return fmt.Errorf("%w: %w", err, illegal)
		}
	}
	return err
}

// note keeps the attributes that Update does not, and forgets what a RESET ends.
func (q *queuePair) note(to *qp.State, attr *qp.Attr) {
	if attr.Known&qp.KnowsPort != 0 {
		q.attr.Port = attr.Port
	}
	if attr.Known&qp.KnowsAltPath != 0 {
		q.attr.AltAddr = attr.AltAddr
	}
	if to != nil && *to == qp.Reset {
		q.attr = qp.Attr{}
		q.sends.list, q.receives.list = nil, nil
	}
}

// QueryQP returns the attributes and the state of a queue pair.
func (d *Device) QueryQP(ctx context.Context, handle wqe.QP) (attr qp.Attr, state qp.State, err error) {
	err = d.withQP(ctx, handle, func(q *queuePair) error {
		attr, state, err = d.query(q)
		return err
	})
	return attr, state, err
}

// QPAttr returns the attributes of a queue pair.
func (d *Device) QPAttr(ctx context.Context, handle wqe.QP) (qp.Attr, error) {
	a, _, err := d.QueryQP(ctx, handle)
	return a, err
}

// Outstanding returns how many requests of a queue pair have not completed, as far as the consumer knows: those of which it has polled no completion.
func (d *Device) Outstanding(ctx context.Context, handle wqe.QP) (sends, receives int, err error) {
	err = d.withQP(ctx, handle, func(q *queuePair) error {
		sends, receives = len(q.sends.list), len(q.receives.list)
		return nil
	})
	return sends, receives, err
}

// DataSegments returns the data segments of a send request that has not completed.
func (d *Device) DataSegments(ctx context.Context, handle wqe.QP, id uint64) (list []wqe.Segment, err error) {
	err = d.withQP(ctx, handle, func(q *queuePair) error {
		found := false
		if list, found = q.sends.find(id); !found {
			return fmt.Errorf("verbs: queue pair %#x has no send request %d: %w", handle.QPN, id, hcaagent.ErrNotFound)
		}
		return nil
	})
	return list, err
}
