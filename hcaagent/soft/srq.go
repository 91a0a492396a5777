package soft

import (
	"context"
	"fmt"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// sharedQueue is a shared receive queue.
type sharedQueue struct {
	id       wqe.SRQ
	pd       wqe.PD
	xrcd     wqe.XRCD
	depth    int
	segments int
	limit    int // 0: not armed
	users    int
	queue    []wqe.ReceiveRequest
}

// take removes the oldest receive request, and tells of a limit that is crossed (CPL-SRQ-003).
func (h *HCA) takeShared(s *sharedQueue) (wqe.ReceiveRequest, bool) {
	if len(s.queue) == 0 {
		return wqe.ReceiveRequest{}, false
	}
	if h.breaks("shared-lost") {
		s.queue = shift(s.queue)
		return h.takeShared(s)
	}
	r := s.queue[0]
	if !h.breaks("shared-twice") {
		s.queue = shift(s.queue)
	}
	if len(s.queue) < s.limit {
		if !h.has("limit-again") {
			s.limit = 0
		}
		h.tells("limit", cq.AsyncSRQLimit, 0, s.id)
	}
	return r, true
}

// CreateSRQ makes a shared receive queue.
func (h *HCA) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	return h.createSRQ(ctx, pd, 0, depth, segments)
}

func (h *HCA) createSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (id wqe.SRQ, err error) {
	if err = ctx.Err(); err != nil {
		return 0, err
	}
	if depth <= 0 {
		return 0, fmt.Errorf("soft: shared receive queue of %d requests: give at least 1", depth)
	}
	if err = h.inPD(pd); err != nil {
		return 0, err
	}
	id = wqe.SRQ(h.object())
	h.srqs[id] = &sharedQueue{id: id, pd: pd, xrcd: domain, depth: depth, segments: segments}
	h.inXRCD(domain, 1)
	return id, nil
}

// ModifySRQ arms the limit event.
func (h *HCA) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	s, err := lookUp(ctx, h.srqs, "shared receive queue", srq)
	if err != nil {
		return err
	}
	if limit < 0 || limit > s.depth {
		return fmt.Errorf("soft: limit %d of a shared receive queue of %d requests", limit, s.depth)
	}
	s.limit = limit
	return nil
}

// DestroySRQ destroys a shared receive queue that no queue pair uses.
func (h *HCA) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	s, err := lookUp(ctx, h.srqs, "shared receive queue", srq)
	if err != nil {
		return err
	}
	if s.users > 0 {
		return fmt.Errorf("soft: shared receive queue %d: %w", srq, hcaagent.ErrBusy)
	}
	h.pds[s.pd]--
	h.inXRCD(s.xrcd, -1)
	delete(h.srqs, srq)
	return nil
}

// PostSharedReceive posts a receive request to a shared receive queue.
func (h *HCA) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error {
	s, err := lookUp(ctx, h.srqs, "shared receive queue", srq)
	switch {
	case err != nil:
	case len(s.queue) >= s.depth:
		err = fmt.Errorf("soft: shared receive queue %d: %w", srq, hcaagent.ErrFull)
	case s.segments > 0 && len(r.Segments) > s.segments:
		err = fmt.Errorf("soft: %d data segments: shared receive queue %d takes %d", len(r.Segments), srq, s.segments)
	default:
		s.queue = append(s.queue, *r)
	}
	return err
}
