package agent

import (
	"context"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// CreateSRQ makes a shared receive queue.
func (d *Device) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	id, err := d.control.CreateSRQ(ctx, pd, depth, segments)
	d.madeSRQ(id, pd, 0, depth, segments, err)
	return id, err
}

// CreateXRCD makes a domain of XRC.
func (d *Device) CreateXRCD(ctx context.Context) (wqe.XRCD, error) { return d.control.CreateXRCD(ctx) }

// DestroyXRCD destroys a domain that nothing belongs to.
func (d *Device) DestroyXRCD(ctx context.Context, domain wqe.XRCD) error {
	return d.control.DestroyXRCD(ctx, domain)
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC.
func (d *Device) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	id, err := d.control.CreateXRCSRQ(ctx, pd, domain, depth, segments)
	d.madeSRQ(id, pd, domain, depth, segments, err)
	return id, err
}

func (d *device) madeSRQ(id wqe.SRQ, pd wqe.PD, domain wqe.XRCD, depth, segments int, err error) {
	d.tell(&cq.Event{Kind: cq.EvCreateSRQ, SRQ: id, XRCD: domain, Depth: depth}, err)
	if s := d.srqs[id]; err == nil && s != nil {
		s.pd, s.segments = pd, segments
	}
}

// ModifySRQ arms the limit.
func (d *Device) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	err := d.control.ModifySRQ(ctx, srq, limit)
	d.tell(&cq.Event{Kind: cq.EvModifySRQ, SRQ: srq, Depth: limit}, err)
	return err
}

// DestroySRQ destroys a shared receive queue.
func (d *Device) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	err := d.control.DestroySRQ(ctx, srq)
	d.tell(&cq.Event{Kind: cq.EvDestroySRQ, SRQ: srq}, err)
	return err
}

// validShared checks a request for a shared receive queue (validRecvWqe).
func (d *device) validShared(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error {
	s := d.srqs[srq]
	if s == nil {
		return &srqNumberError{srq}
	}
	if err := qp.ValidSharedReceive(s.segments, r); err != nil || s.pd == 0 {
		return err
	}
	return d.validList(ctx, nil, s.pd, r.Segments, wqe.LocalWrite)
}

// srqNumberError says that there is no shared receive queue with a number.
type srqNumberError struct{ srq wqe.SRQ }

func (e *srqNumberError) Error() string {
	return "agent: there is no shared receive queue " + hex(uint32(e.srq)) + ": create it first"
}

// Unwrap makes errors.Is(err, hcaagent.ErrNotFound) hold.
func (e *srqNumberError) Unwrap() error { return hcaagent.ErrNotFound }
