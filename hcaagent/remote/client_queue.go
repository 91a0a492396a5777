package remote

import (
	"context"
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queue is completions that the device has given.
type queue struct {
	waiting []hcaagent.Completed // that Poll has not returned yet
	polled  []hcaagent.Completed // that Completions has not returned yet
	unknown bool                 // what requests have put into memory is not known
}

// mostKept is how many completions are kept for Completions.
const mostKept = 1 << 14

// Ready is a queue with completions, and how many.
type Ready struct {
	CQ          wqe.CQ
	Completions int
}

// Await takes up to most completions, 1 to 1024, out of each of these queues in one call: where all are empty it waits at the device for the first one, for wait at most, a
// minute or less. It returns the queues of which Poll has any. A Poll that asks for just as many as there are takes no round trip.
func (c *Client) Await(ctx context.Context, queues []wqe.CQ, most int, wait time.Duration) ([]Ready, error) {
	if ready := c.ready(queues); len(ready) > 0 {
		wait = 0 // what has come is returned at once, with what there is besides
	}
	if err := c.take(ctx, poll{queues, most, int64(max(wait, 0))}); err != nil {
		return nil, err
	}
	return c.ready(queues), nil
}

// ready returns which queues have completions that Poll has not returned.
func (c *Client) ready(queues []wqe.CQ) (list []Ready) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, number := range queues {
		if q := c.queues[number]; q != nil && len(q.waiting) > 0 {
			list = append(list, Ready{number, len(q.waiting)})
		}
	}
	return list
}

// take polls queues of the device. Where the context ends meanwhile, what the device gives is kept all the same.
func (c *Client) take(ctx context.Context, p poll) error {
	done := make(chan error, 1)
	go func() {
		wait := time.Duration(p.Wait)
		list, err := callFor[[]polled](context.WithoutCancel(ctx), c, min(wait, mostWait), "Poll", p)
		c.keep(list)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep keeps completions that the device has given.
func (c *Client) keep(list []polled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range list {
		if q := c.queues[list[i].CQ]; q != nil {
			q.waiting = append(q.waiting, list[i].Completions...)
			q.unknown = q.unknown || list[i].Unknown
		}
	}
}

// CreateCQ makes a completion queue of at least depth elements.
func (c *Client) CreateCQ(ctx context.Context, depth int) (wqe.CQ, error) {
	number, err := call[wqe.CQ](ctx, c, "CreateCQ", ofCQ{Depth: depth})
	if err == nil {
		c.mu.Lock()
		c.queues[number] = &queue{}
		c.mu.Unlock()
	}
	return number, err
}

// ResizeCQ changes the depth of a completion queue.
func (c *Client) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	_, err := call[none](ctx, c, "ResizeCQ", ofCQ{CQ: number, Depth: depth})
	return err
}

// CQDepth implements hcaagent.QueueDepths.
func (c *Client) CQDepth(ctx context.Context, number wqe.CQ) (int, error) {
	return call[int](ctx, c, "CQDepth", ofCQ{CQ: number})
}

// DestroyCQ destroys a completion queue.
func (c *Client) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	_, err := call[none](ctx, c, "DestroyCQ", ofCQ{CQ: number})
	if err == nil {
		c.mu.Lock()
		delete(c.queues, number)
		c.mu.Unlock()
	}
	return err
}

// Poll moves completions out of the queue: those that Await has brought, and, where into has more room, those at the device.
func (c *Client) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (int, error) {
	if len(into) == 0 {
		return 0, ctx.Err()
	}
	n := c.hand(number, into)
	if n == len(into) {
		return n, nil
	}
	err := c.take(ctx, poll{[]wqe.CQ{number}, min(len(into)-n, mostPolled), 0})
	n += c.hand(number, into[n:])
	if n > 0 {
		err = nil // it comes the next time too
	}
	return n, err
}

// hand hands completions over that the device has given.
func (c *Client) hand(number wqe.CQ, into []cq.Completion) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[number]
	if q == nil {
		return 0
	}
	n := min(len(into), len(q.waiting))
	for i := range n {
		into[i] = q.waiting[i].Completion
	}
	if !q.unknown {
		q.polled = append(q.polled, q.waiting[:n]...)
		if len(q.polled) > 2*mostKept {
			q.polled = append(q.polled[:0], q.polled[len(q.polled)-mostKept:]...)
		}
	}
	q.waiting = append(q.waiting[:0], q.waiting[n:]...)
	return n
}

// Completions moves completions that Poll has returned into into. It takes no round trip.
func (c *Client) Completions(ctx context.Context, number wqe.CQ, into []hcaagent.Completed) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[number]
	switch {
	case q == nil:
		return 0, fmt.Errorf("remote: completion queue %d: %w", number, hcaagent.ErrNotFound)
	case q.unknown:
		return 0, &qp.UnknownError{What: "what requests have put into memory at " + c.address}
	}
	n := copy(into, q.polled)
	q.polled = append(q.polled[:0], q.polled[n:]...)
	return n, nil
}

// RequestNotification arms the queue.
func (c *Client) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	_, err := call[none](ctx, c, "RequestNotification", ofCQ{CQ: number, Arm: arm})
	return err
}
