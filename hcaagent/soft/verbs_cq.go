package soft

import (
	"context"
	"fmt"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// CreateCQ makes a completion queue of depth elements.
func (h *HCA) CreateCQ(ctx context.Context, depth int) (id wqe.CQ, err error) {
	if err = ctx.Err(); err != nil {
		return 0, err
	}
	if depth <= 0 {
		return 0, fmt.Errorf("soft: completion queue of %d elements: give at least 1", depth)
	}
	id = wqe.CQ(h.object())
	h.cqs[id] = &completionQueue{id: id, depth: depth}
	return id, nil
}

// ResizeCQ changes the depth of a completion queue.
func (h *HCA) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	if depth <= 0 || len(c.queue) > depth {
		return fmt.Errorf("soft: completion queue %d holds %d completions, %d is too few: %w", number, len(c.queue), depth, hcaagent.ErrFull)
	}
	c.depth = depth
	return nil
}

// DestroyCQ destroys a completion queue that no queue pair uses.
func (h *HCA) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	if c.users > 0 && !h.breaks("destroys-used-queue") {
		return fmt.Errorf("soft: completion queue %d: %w", number, hcaagent.ErrBusy)
	}
	delete(h.cqs, number)
	return nil
}

// Poll moves completions out of the queue.
func (h *HCA) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (int, error) {
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return 0, err
	}
	n := min(len(into), len(c.queue))
	for i := range n {
		into[i] = c.queue[i].Completion
	}
	if h.opt.Event != nil {
		c.polled = append(c.polled, c.queue[:n]...)
		if most := max(c.depth, 1024); len(c.polled) > 2*most {
			c.polled = append(c.polled[:0], c.polled[len(c.polled)-most:]...)
		}
	}
	c.queue = append(c.queue[:0], c.queue[n:]...)
	return n, nil
}

// RequestNotification arms the queue. A request for the next completion is not weakened by one for a solicited event (C11-31).
func (h *HCA) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	if !c.armed || arm == cq.ArmNext || h.has("arming-weakened") {
		c.arm = arm
	}
	c.armed = true
	return nil
}
