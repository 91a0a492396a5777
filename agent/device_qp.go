package agent

import (
	"context"
	"strconv"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

func hex(n uint32) string { return "0x" + strconv.FormatUint(uint64(n), 16) }

// CreateQP makes a queue pair in RESET.
func (d *Device) CreateQP(ctx context.Context, n qp.InitAttr) (wqe.QP, error) {
	id, err := d.control.CreateQP(ctx, n)
	d.tell(&cq.Event{Kind: cq.EvCreateQP, QP: id, New: &n}, err)
	return id, err
}

// DestroyQP destroys a queue pair.
func (d *Device) DestroyQP(ctx context.Context, q wqe.QP) error {
	if _, err := d.queuePair(q); !d.passes(err) {
		return err
	}
	err := d.control.DestroyQP(ctx, q)
	d.tell(&cq.Event{Kind: cq.EvDestroyQP, QP: q}, err)
	return err
}

// ModifyQP sets the attributes that attr.Known names and does not change the state.
func (d *Device) ModifyQP(ctx context.Context, q wqe.QP, attr qp.Attr) error {
	m, err := d.queuePair(q)
	state := qp.Reset
	if m != nil {
		state = m.state
		err = d.validAttributes(m, state, &attr)
	}
	if !d.passes(err) {
		return err
	}
	err = d.control.ModifyQP(ctx, q, attr)
	failed := m != nil && m.failed
	if d.tell(&cq.Event{Kind: cq.EvModifyQP, QP: q, State: state, Attr: &attr}, err); m != nil {
		m.failed = failed
	}
	return err
}

// TransitionQP brings a queue pair to another state, with the attributes that attr.Known names.
func (d *Device) TransitionQP(ctx context.Context, q wqe.QP, to qp.State, attr qp.Attr) error {
	m, err := d.queuePair(q)
	if err == nil {
		err = d.validAttributes(m, to, &attr)
	}
	if !d.passes(err) {
		return err
	}
	err = d.control.TransitionQP(ctx, q, to, attr)
	d.tell(&cq.Event{Kind: cq.EvModifyQP, QP: q, State: to, Attr: &attr}, err)
	return err
}

// validAttributes checks a transition and the values that are given along (validQpAttributes). A queue pair on which an error was seen may be in a state
// that it went to by itself.
func (d *device) validAttributes(m *deviceQP, to qp.State, attr *qp.Attr) error {
	err := d.validFrom(m, m.state, to, attr)
	for _, from := range [...]qp.State{qp.SQE, qp.Err} {
		if err != nil && (m.failed || attr.Has(qp.KnowsCurState)) && qp.DeviceTransition(m.Type, m.state, from) && d.validFrom(m, from, to, attr) == nil {
			return nil
		}
	}
	return err
}

func (d *device) validFrom(m *deviceQP, from, to qp.State, attr *qp.Attr) error {
	if err := qp.ValidTransition(m.Type, from, to, attr.Known); err != nil {
		return err
	}
	return attr.ValidValues(from, d.opt.Limits)
}

// QueryQP returns all attributes of a queue pair, and its state. Without a Control the attributes are those that Query knows, and the state is that which the
// verbs have led to; no event tells of it.
func (d *Device) QueryQP(ctx context.Context, q wqe.QP) (qp.Attr, qp.State, error) {
	m, err := d.queuePair(q)
	if !d.passes(err) {
		return qp.Attr{}, 0, err
	}
	if d.opt.Control == nil {
		if d.opt.Query == nil || m == nil {
			return qp.Attr{}, 0, &qp.UnknownError{What: "attributes of " + d.opt.Addr.String()}
		}
		attr, err := d.opt.Query.QPAttr(ctx, q)
		return attr, m.state, err
	}
	attr, state, err := d.control.QueryQP(ctx, q)
	if err == nil {
		told := attr
		d.tell(&cq.Event{Kind: cq.EvQueryQP, QP: q, State: state, Attr: &told}, nil)
	}
	return attr, state, err
}

// BringUp takes a queue pair from RESET to RTS. It gives each transition those attributes of attr that table T7 requires, set or not, and of the optional
// ones those that attr.Known names. The peer may send as soon as this queue pair is ready to receive.
func (d *Device) BringUp(ctx context.Context, q wqe.QP, attr qp.Attr) error {
	m, err := d.queuePair(q)
	if err != nil {
		return err
	}
	known := attr.Known
	for from := qp.Reset; from < qp.RTS; from++ {
		required, optional := qp.Takes(m.Type, from, from+1)
		attr.Known = required | known&optional
		if err := d.TransitionQP(ctx, q, from+1, attr); err != nil {
			return err
		}
	}
	return nil
}

// AttachMulticast has a queue pair of UD receive what is sent to a group.
func (d *Device) AttachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	if _, err := d.queuePair(q); !d.passes(err) {
		return err
	}
	err := d.control.AttachMulticast(ctx, q, group)
	d.tell(&cq.Event{Kind: cq.EvAttachGroup, QP: q, Group: &group}, err)
	return err
}

// DetachMulticast ends that.
func (d *Device) DetachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	if _, err := d.queuePair(q); !d.passes(err) {
		return err
	}
	err := d.control.DetachMulticast(ctx, q, group)
	d.tell(&cq.Event{Kind: cq.EvDetachGroup, QP: q, Group: &group}, err)
	return err
}
