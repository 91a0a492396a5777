package scenario

import (
	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// sharedQueue is a shared receive queue with its place.
type sharedQueue struct {
	*SRQ
	*device
	id wqe.SRQ
}

// queuePair is a queue pair with its place.
type queuePair struct {
	*QP
	*device
	id wqe.QP

	spare uint32 // R_Key of the region that its peer has registered for it; 0: none, or none any more
}

// buildQueues creates all queues.
func (r *Run) buildQueues() error {
	for i := range r.SRQs {
		s := &r.SRQs[i]
		d := r.devices[s.HCA]
		domain, err := d.domain(s.Domain)
		var id wqe.SRQ
		switch {
		case err != nil:
		case domain != 0:
			id, err = d.CreateXRCSRQ(ctx, d.pd, domain, s.Depth, 8)
		default:
			id, err = d.CreateSRQ(ctx, d.pd, s.Depth, 8)
		}
		if err == nil && s.Limit > 0 {
			err = d.ModifySRQ(ctx, id, s.Limit)
		}
		if err != nil {
			return r.wrong(s.Line, err)
		}
		r.srqs[s.Name] = &sharedQueue{s, d, id}
	}
	for i := range r.QPs {
		if err := r.buildQP(&r.QPs[i]); err != nil {
			return r.wrong(r.QPs[i].Line, err)
		}
	}
	return nil
}

func (r *Run) buildQP(q *QP) error {
	d := r.devices[q.HCA]
	x := &queuePair{QP: q, device: d}
	r.qps[q.Name] = x
	number, err := d.CreateCQ(ctx, q.Depth)
	if err != nil {
		return err
	}
	if q.Poll {
		d.polling[number] = func() { r.poll(d, number) }
	}
	n := qp.InitAttr{
		Type: q.Type, PD: d.pd, SendCQ: number, RecvCQ: number, MaxSend: defaultDepth, MaxReceive: defaultDepth, MaxSendSegments: 8, MaxRecvSegments: 8,
		MaxInline: 1024, SignalAll: q.SignalAll,
	}
	switch q.Type {
	case qp.TypeXRCInitiator:
		n.RecvCQ, n.MaxReceive = 0, 0
	case qp.TypeXRCTarget:
		n.SendCQ, n.MaxSend, n.MaxReceive = 0, 0, 0
	}
	if n.XRCD, err = d.domain(q.Domain); err != nil {
		return err
	}
	if s := r.srqs[q.SRQ]; s != nil {
		n.SRQ, n.MaxReceive = s.id, 0
	}
	if x.id, err = d.CreateQP(ctx, n); err != nil || !q.Poll {
		return err
	}
	return d.RequestNotification(ctx, number, cq.ArmNext)
}

// domain is the domain of XRC with a name, made when it is named first; 0: none.
func (d *device) domain(name string) (id wqe.XRCD, err error) {
	if name == "" {
		return 0, nil
	}
	if id = d.domains[name]; id == 0 {
		id, err = d.CreateXRCD(ctx)
		d.domains[name] = id
	}
	return id, err
}

// connect brings all queue pairs to RTS, in step with each other.
func (r *Run) connect() error {
	for _, to := range []qp.State{qp.Init, qp.RTR, qp.RTS} {
		for i := range r.QPs {
			if err := r.modify(r.qps[r.QPs[i].Name], to); err != nil {
				return r.wrong(r.QPs[i].Line, err)
			}
		}
	}
	for i := range r.QPs {
		for _, group := range r.QPs[i].Groups {
			q := r.qps[r.QPs[i].Name]
			if err := q.AttachMulticast(ctx, q.id, group); err != nil {
				return r.wrong(r.QPs[i].Line, err)
			}
		}
	}
	return nil
}

// modify brings a queue pair to a state, with the attributes that this takes.
func (r *Run) modify(q *queuePair, to qp.State) error {
	a := q.Attr
	if peer := r.qps[q.Peer]; peer != nil {
		a.DestQPN, a.DestAddr, a.RQPSN = peer.id.QPN, peer.Addr, peer.Attr.SQPSN
	}
	now, err := r.state(q)
	if err != nil {
		return err
	}
	if to > now && now < qp.RTS {
		required, optional := qp.Takes(q.Type, now, to)
		given := qp.KnowsTClass | qp.KnowsHopLimit
		if r.link != nil {
			given = qp.KnowsSL
		}
		a.Known = required | optional&given
	}
	return q.TransitionQP(ctx, q.id, to, a)
}

func (r *Run) state(q *queuePair) (qp.State, error) {
	_, s, err := q.QueryQP(ctx, q.id)
	return s, err
}
