package scenario

import (
	"ibwitness/hcaagent"
)

// sharedQueue is a shared receive queue with its place.
type sharedQueue struct {
	*SRQ
	*device
	id hcaagent.SRQ
}

// queuePair is a queue pair with its place.
type queuePair struct {
	*QP
	*device
	id hcaagent.QP
}

// buildQueues creates all queues.
func (r *Run) buildQueues() error {
	for i := range r.SRQs {
		s := &r.SRQs[i]
		d := r.devices[s.HCA]
		id, err := d.dev.CreateSRQ(ctx, d.pd, s.Depth, 8)
		if err == nil && s.Limit > 0 {
			err = d.dev.ModifySRQ(ctx, id, s.Limit)
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
	cq, err := d.dev.CreateCQ(ctx, q.Depth)
	if err != nil {
		return err
	}
	d.polling[cq] = q.Poll
	n := hcaagent.NewQP{
		Type: q.Type, PD: d.pd, SendCQ: cq, RecvCQ: cq, MaxSend: defaultDepth, MaxReceive: defaultDepth, MaxSendSegments: 8, MaxRecvSegments: 8,
		MaxInline: 1024, SignalAll: q.SignalAll,
	}
	switch q.Type {
	case hcaagent.TypeXRCInitiator:
		n.RecvCQ, n.MaxReceive = 0, 0
	case hcaagent.TypeXRCTarget:
		n.SendCQ, n.MaxSend, n.MaxReceive = 0, 0, 0
	}
	if s := r.srqs[q.SRQ]; s != nil {
		n.SRQ, n.MaxReceive = s.id, 0
	}
	if x.id, err = d.dev.CreateQP(ctx, n); err != nil || !q.Poll {
		return err
	}
	return d.dev.RequestNotification(ctx, cq, hcaagent.ArmNext)
}

// Attributes that the transitions of table T7 take.
const (
	connectedInit = hcaagent.KnowsPKey | hcaagent.KnowsPort | hcaagent.KnowsAccess
	datagramInit  = hcaagent.KnowsPKey | hcaagent.KnowsPort | hcaagent.KnowsQKey
	connectedRTR  = hcaagent.KnowsDestAddr | hcaagent.KnowsTClass | hcaagent.KnowsHopLimit | hcaagent.KnowsPMTU | hcaagent.KnowsDestQPN | hcaagent.KnowsRQPSN
	responderRTR  = connectedRTR | hcaagent.KnowsMaxDestRdAtomic | hcaagent.KnowsMinRNRTimer
	requesterRTS  = hcaagent.KnowsTimeout | hcaagent.KnowsRetryCnt | hcaagent.KnowsRNRRetry | hcaagent.KnowsSQPSN | hcaagent.KnowsMaxRdAtomic
)

// takes is what a type of queue pair takes on its way to RTS.
var takes = map[hcaagent.QPType]map[hcaagent.State]hcaagent.Known{
	hcaagent.TypeRC:           {hcaagent.Init: connectedInit, hcaagent.RTR: responderRTR, hcaagent.RTS: requesterRTS},
	hcaagent.TypeUC:           {hcaagent.Init: connectedInit, hcaagent.RTR: connectedRTR, hcaagent.RTS: hcaagent.KnowsSQPSN},
	hcaagent.TypeUD:           {hcaagent.Init: datagramInit, hcaagent.RTS: hcaagent.KnowsSQPSN},
	hcaagent.TypeXRCInitiator: {hcaagent.Init: connectedInit, hcaagent.RTR: connectedRTR, hcaagent.RTS: requesterRTS},
	hcaagent.TypeXRCTarget: {
		hcaagent.Init: connectedInit, hcaagent.RTR: responderRTR, hcaagent.RTS: hcaagent.KnowsTimeout | hcaagent.KnowsSQPSN,
	},
}

// connect brings all queue pairs to RTS, in step with each other.
func (r *Run) connect() error {
	for _, to := range []hcaagent.State{hcaagent.Init, hcaagent.RTR, hcaagent.RTS} {
		for i := range r.QPs {
			if err := r.modify(r.qps[r.QPs[i].Name], to); err != nil {
				return r.wrong(r.QPs[i].Line, err)
			}
		}
	}
	return nil
}

// modify brings a queue pair to a state, with the attributes that this takes.
func (r *Run) modify(q *queuePair, to hcaagent.State) error {
	a := q.Attr
	if peer := r.qps[q.Peer]; peer != nil {
		a.DestQPN, a.DestAddr, a.RQPSN = peer.id.QPN, peer.Addr, peer.Attr.SQPSN
	}
	now, err := r.state(q)
	if err != nil {
		return err
	}
	if to > now && now < hcaagent.RTS {
		a.Known = takes[q.Type][to]
	}
	return q.dev.TransitionQP(ctx, q.id, to, a)
}

func (r *Run) state(q *queuePair) (hcaagent.State, error) {
	_, s, err := q.dev.QueryQP(ctx, q.id)
	return s, err
}
