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
	defer func() { h.emit(&cq.Event{Kind: cq.EvCreateCQ, CQ: id, Depth: depth}, err) }()
	if err = ctx.Err(); err != nil {
		return 0, err
	}
	if depth <= 0 {
		err = fmt.Errorf("soft: completion queue of %d elements: give at least 1", depth)
		return 0, err
	}
	id = wqe.CQ(h.object())
	h.cqs[id] = &completionQueue{id: id, depth: depth}
	return id, nil
}

// ResizeCQ changes the depth of a completion queue.
func (h *HCA) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) (err error) {
	defer func() { h.emit(&cq.Event{Kind: cq.EvResizeCQ, CQ: number, Depth: depth}, err) }()
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	if depth <= 0 || len(c.queue) > depth {
		err = fmt.Errorf("soft: completion queue %d holds %d completions, %d is too few: %w", number, len(c.queue), depth, hcaagent.ErrFull)
		return err
	}
	c.depth = depth
	return nil
}

// DestroyCQ destroys a completion queue that no queue pair uses.
func (h *HCA) DestroyCQ(ctx context.Context, number wqe.CQ) (err error) {
	defer func() { h.emit(&cq.Event{Kind: cq.EvDestroyCQ, CQ: number}, err) }()
	c, err := lookUp(ctx, h.cqs, "completion queue", number)
	if err != nil {
		return err
	}
	if c.users > 0 && !h.breaks("destroys-used-queue") {
		err = fmt.Errorf("soft: completion queue %d: %w", number, hcaagent.ErrBusy)
		return err
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
	n := copy(into, c.queue)
	h.polls++
	for i := range n {
		e := c.queue[i]
		if x := h.event(cq.EvCompletion); x != nil {
			s := &c.sums[i]
			x.QP, x.CQ, x.Completion = e.QP, number, h.completions.Put(e)
			x.Sum, x.Summed, x.Head = s.crc, s.ok, s.head
			x.Poll, x.Emptied = h.polls, i == n-1 && n < len(into)
			h.tell(x, nil)
		}
		c.polled = append(c.polled, e)
	}
	c.queue, c.sums = append(c.queue[:0], c.queue[n:]...), append(c.sums[:0], c.sums[n:]...)
	if most := max(c.depth, 1024); len(c.polled) > 2*most {
		c.polled = append(c.polled[:0], c.polled[len(c.polled)-most:]...)
	}
	return n, nil
}

// RequestNotification arms the queue. A request for the next completion is not weakened by one for a solicited event (C11-31).
func (h *HCA) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) (err error) {
	if e := h.event(cq.EvArm); e != nil {
		e.CQ, e.Arm = number, arm
		defer func() { h.tell(e, err) }()
	}
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
