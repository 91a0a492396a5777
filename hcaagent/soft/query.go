package soft

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// QPAttr returns all attributes of a queue pair.
func (h *HCA) QPAttr(ctx context.Context, q wqe.QP) (qp.Attr, error) {
	a, _, err := h.QueryQP(ctx, q)
	return a, err
}

// Completions moves completions that were polled to an observer.
func (h *HCA) Completions(ctx context.Context, number wqe.CQ, into []hcaagent.Completed) (int, error) {
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return 0, err
	}
	n := copy(into, c.polled)
	c.polled = append(c.polled[:0], c.polled[n:]...)
	return n, nil
}

// memory returns the bytes of a range, whatever its key permits to whom.
func (h *HCA) memory(ctx context.Context, m wqe.Memory) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := h.keyed(m.Key.Key)
	if r == nil {
		return nil, fmt.Errorf("soft: %w", refuse(m.Key, "key %#x is not registered", m.Key.Key))
	}
	return h.open(r.pd, r.qp, m, 0)
}

// MemoryData copies what a range holds.
func (h *HCA) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	b, err := h.memory(ctx, m)
	return copy(into, b), err
}

// SetMemory is the consumer's store into a range.
func (h *HCA) SetMemory(ctx context.Context, m wqe.Memory, data []byte) error {
	b, err := h.memory(ctx, m)
	if err == nil && len(b) < len(data) {
		err = fmt.Errorf("soft: %d bytes into a range of %d", len(data), len(b))
	}
	if err == nil {
		copy(b, data)
	}
	return err
}

// MemoryAccess says whether a queue pair may access a range.
func (h *HCA) MemoryAccess(ctx context.Context, handle wqe.QP, m wqe.Memory, access wqe.Access) error {
	q, err := h.find(ctx, handle)
	if err != nil {
		return err
	}
	_, err = h.open(q.pd, q.num, m, access)
	return err
}

// Outstanding returns how many requests of the send queue of a queue pair have not completed, and how many of its receive queue.
func (h *HCA) Outstanding(ctx context.Context, handle wqe.QP) (sends, receives int, err error) {
	q, err := h.find(ctx, handle)
	if err != nil {
		return 0, 0, err
	}
	receives = len(q.receives)
	if q.rsp.taken != nil || q.ucr.taken != nil {
		receives++
	}
	return len(q.req.queue), receives, nil
}

// DataSegments returns the data segments of a send request that has not completed.
func (h *HCA) DataSegments(ctx context.Context, handle wqe.QP, id uint64) ([]wqe.Segment, error) {
	q, err := h.find(ctx, handle)
	if err != nil {
		return nil, err
	}
	for _, w := range q.req.queue {
		if w.ID == id {
			return w.Segments, nil
		}
	}
	return nil, fmt.Errorf("soft: queue pair %#x has no send request %d: %w", q.num, id, hcaagent.ErrNotFound)
}
