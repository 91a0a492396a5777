package agent

import (
	"context"
	"errors"
	"fmt"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// postedQueue is the requests of a queue whose completion the consumer has not polled.
type postedQueue struct {
	list []postedRequest
	most int // that the queue holds; 0: not known
}

// postedRequest is a work request. Its segments are nobody's to change.
type postedRequest struct {
	id       uint64
	op       wqe.SendOp
	segments []wqe.Segment
	done     bool
}

// mostPosted is how many requests are kept of a queue that does not say how many it holds.
const mostPosted = 1 << 14

// add adds a request. Where the queue was full, its oldest request has completed: the device took another one.
func (p *postedQueue) add(r postedRequest) {
	most := p.most
	if most <= 0 {
		most = mostPosted
	}
	if len(p.list) >= most {
		p.list = p.list[1:]
	}
	p.list = append(p.list, r)
}

// take takes the oldest request with an ID that has not completed, with those that have completed before it.
func (p *postedQueue) take(id uint64) (r postedRequest, ok bool) {
	for i := range p.list {
		if p.list[i].id == id && !p.list[i].done {
			r, ok, p.list[i].done = p.list[i], true, true
			break
		}
	}
	for len(p.list) > 0 && p.list[0].done {
		p.list = p.list[1:]
	}
	return r, ok
}

func (p *postedQueue) clear() { p.list = nil }

// PostSend posts a send request.
func (d *Device) PostSend(ctx context.Context, q wqe.QP, r wqe.SendRequest) error {
	m, err := d.queuePair(q)
	if err == nil {
		err = d.validSend(ctx, m, q, &r)
	}
	if !d.passes(err) {
		return err
	}
	r.Segments = d.segments.List(r.Segments)
	e := d.event(cq.EvPostSend)
	if e != nil {
		e.QP, e.Send = q, d.sends.Put(r)
		if r.Op <= wqe.OpWriteImm || r.Op == wqe.OpAtomicWrite {
			e.Sum, e.Summed = d.sum(ctx, r.Segments, 0, length(r.Segments))
		}
	}
	err = d.Control.PostSend(ctx, q, r)
	d.push(e, err)
	if err == nil && m != nil {
		m.send.add(postedRequest{id: r.ID, op: r.Op, segments: r.Segments})
		if w := r.Window; w != nil && w.RKey != 0 && d.mws[w.MW] != nil {
			d.mws[w.MW].RKey = w.RKey
		}
	}
	return err
}

// validSend checks a send request (validSendWqe).
func (d *device) validSend(ctx context.Context, m *deviceQP, q wqe.QP, r *wqe.SendRequest) error {
	state := m.state
	if m.failed {
		state = qp.Err // requests are accepted there, and flushed
	}
	if err := m.ValidSend(state, r); err != nil || r.Flags&wqe.Inline != 0 {
		return err
	}
	access := wqe.Access(0)
	if r.Op == wqe.OpRead || r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd {
		access = wqe.LocalWrite
	}
	return d.validList(ctx, q, m.PD, r.Segments, access)
}

// PostReceive posts a receive request.
func (d *Device) PostReceive(ctx context.Context, q wqe.QP, r wqe.ReceiveRequest) error {
	m, err := d.queuePair(q)
	if err == nil {
		err = d.validReceive(ctx, m, q, &r)
	}
	if !d.passes(err) {
		return err
	}
	r.Segments = d.segments.List(r.Segments)
	err = d.Control.PostReceive(ctx, q, r)
	if e := d.event(cq.EvPostReceive); e != nil {
		e.QP, e.Receive = q, d.receives.Put(r)
		d.push(e, err)
	}
	if err == nil && m != nil {
		m.receive.add(postedRequest{id: r.ID, segments: r.Segments})
	}
	return err
}

// validReceive checks a receive request (validRecvWqe).
func (d *device) validReceive(ctx context.Context, m *deviceQP, q wqe.QP, r *wqe.ReceiveRequest) error {
	if err := m.ValidReceive(m.state, r); err != nil {
		return err
	}
	return d.validList(ctx, q, m.PD, r.Segments, wqe.LocalWrite)
}

// PostSharedReceive posts a receive request to a shared receive queue.
func (d *Device) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r wqe.ReceiveRequest) error {
	r.Segments = d.segments.List(r.Segments)
	err := d.Control.PostSharedReceive(ctx, srq, r)
	if e := d.event(cq.EvPostReceive); e != nil {
		e.SRQ, e.Receive = srq, d.receives.Put(r)
		d.push(e, err)
	}
	if p := d.srqs[srq]; err == nil && p != nil {
		p.add(postedRequest{id: r.ID, segments: r.Segments})
	}
	return err
}

// CreateSRQ makes a shared receive queue.
func (d *Device) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	id, err := d.Control.CreateSRQ(ctx, pd, depth, segments)
	d.madeSRQ(id, 0, depth, err)
	return id, err
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC.
func (d *Device) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	id, err := d.Control.CreateXRCSRQ(ctx, pd, domain, depth, segments)
	d.madeSRQ(id, domain, depth, err)
	return id, err
}

func (d *device) madeSRQ(id wqe.SRQ, domain wqe.XRCD, depth int, err error) {
	d.tell(&cq.Event{Kind: cq.EvCreateSRQ, SRQ: id, XRCD: domain, Depth: depth}, err)
	if err == nil {
		d.srqs[id] = &postedQueue{most: depth}
	}
}

// ModifySRQ arms the limit.
func (d *Device) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	err := d.Control.ModifySRQ(ctx, srq, limit)
	d.tell(&cq.Event{Kind: cq.EvModifySRQ, SRQ: srq, Depth: limit}, err)
	return err
}

// DestroySRQ destroys a shared receive queue.
func (d *Device) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	err := d.Control.DestroySRQ(ctx, srq)
	d.tell(&cq.Event{Kind: cq.EvDestroySRQ, SRQ: srq}, err)
	if err == nil {
		delete(d.srqs, srq)
	}
	return err
}

// validList checks that a queue pair may access the segments of a list: by Query where that can tell, else by the regions that were registered.
func (d *device) validList(ctx context.Context, q wqe.QP, pd wqe.PD, list []wqe.Segment, access wqe.Access) error {
	for i := range list {
		g := &list[i]
		if g.Length == 0 {
			continue
		}
		err := d.mayAccess(ctx, q, pd, g, access)
		if err != nil {
			return &qp.InvalidError{Rule: rule.CPLSTS010, Reason: fmt.Sprintf("data segment %d: %v", i, err)}
		}
	}
	return nil
}

func (d *device) mayAccess(ctx context.Context, q wqe.QP, pd wqe.PD, g *wqe.Segment, access wqe.Access) error {
	if d.opt.Query != nil {
		err := d.opt.Query.MemoryAccess(ctx, q, d.memory(g), access)
		if err == nil || !errors.Is(err, qp.ErrUnknown) {
			return err
		}
	}
	r := d.lkeys[g.LKey]
	switch {
	case r == nil:
		return fmt.Errorf("L_Key %#x is not registered", g.LKey)
	case r.PD != pd:
		return fmt.Errorf("L_Key %#x belongs to another protection domain", g.LKey)
	case g.VA < r.VA || uint64(g.Length) > r.Length || g.VA-r.VA > r.Length-uint64(g.Length):
		return fmt.Errorf("%#x, %d bytes, is not within %#x, %d bytes", g.VA, g.Length, r.VA, r.Length)
	case r.Access&access != access:
		return fmt.Errorf("L_Key %#x does not permit the device to write", g.LKey)
	}
	return nil
}
