package agent

import (
	"context"
	"errors"
	"hash/crc32"
	"slices"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// CreateCQ makes a completion queue of at least depth elements.
func (d *Device) CreateCQ(ctx context.Context, depth int) (wqe.CQ, error) {
	id, err := d.control.CreateCQ(ctx, depth)
	d.tell(&cq.Event{Kind: cq.EvCreateCQ, CQ: id, Depth: d.given(ctx, id, depth, err)}, err)
	return id, err
}

// given is the depth that a completion queue has for which one was asked.
func (d *Device) given(ctx context.Context, number wqe.CQ, depth int, err error) int {
	if c, ok := d.control.(hcaagent.QueueDepths); ok && err == nil {
		if n, err := c.CQDepth(ctx, number); err == nil && n > 0 {
			return n
		}
	}
	return depth
}

// ResizeCQ changes the depth of a completion queue.
func (d *Device) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	err := d.control.ResizeCQ(ctx, number, depth)
	d.tell(&cq.Event{Kind: cq.EvResizeCQ, CQ: number, Depth: d.given(ctx, number, depth, err)}, err)
	return err
}

// DestroyCQ destroys a completion queue.
func (d *Device) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	err := d.control.DestroyCQ(ctx, number)
	d.tell(&cq.Event{Kind: cq.EvDestroyCQ, CQ: number}, err)
	return err
}

// RequestNotification arms a completion queue.
func (d *Device) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	err := d.control.RequestNotification(ctx, number, arm)
	if e := d.event(cq.EvArm); e != nil {
		e.CQ, e.Arm = number, arm
		d.push(e, err)
	}
	return err
}

// Poll moves completions out of the queue into into, oldest first, and returns how many. What their requests have put into memory is asked of Query: what
// that was when the completion was made, or else what it is now. Without a Control the completions are those that Query says another has polled.
func (d *Device) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (int, error) {
	var contents []hcaagent.Completed
	var n int
	var err error
	if d.opt.Control == nil {
		contents, err = d.polled(ctx, number, len(into))
		for n = range contents {
			into[n] = contents[n].Completion
		}
		n = len(contents)
	} else if n, err = d.control.Poll(ctx, number, into); n > 0 && d.opt.Event != nil && d.opt.Query != nil {
		contents, _ = d.polled(ctx, number, n)
	}
	if err != nil {
		return n, err
	}
	d.polls++
	for i := range into[:n] {
		c := &into[i]
		if d.opt.Event == nil {
			d.failure(c)
			continue
		}
		x := d.event(cq.EvCompletion)
		x.QP, x.CQ, x.Completion = c.QP, number, d.completions.Put(*c)
		x.Poll, x.Emptied = d.polls, i == n-1 && n < len(into)
		var held *hcaagent.Completed
		if i < len(contents) && contents[i].ID == c.ID {
			held = &contents[i]
		}
		d.completed(ctx, x, held)
		d.push(x, nil)
	}
	return n, nil
}

// polled returns up to n completions that Query says were polled from a queue. The list is valid until the next call.
func (d *device) polled(ctx context.Context, number wqe.CQ, n int) ([]hcaagent.Completed, error) {
	if d.opt.Query == nil {
		return nil, &qp.UnknownError{What: "completions of " + d.opt.Addr.String()}
	}
	d.contents = slices.Grow(d.contents[:0], n)[:n]
	n, err := d.opt.Query.Completions(ctx, number, d.contents)
	if err == nil && n > 0 && !d.observes {
		d.observes = true
		d.forget()
	}
	return d.contents[:n], err
}

// failure notes that a queue pair may have left its state by itself.
func (d *device) failure(c *cq.Completion) {
	if m := d.qps[c.QP.QPN]; m != nil && c.Status != cq.Success && c.Status != cq.WRFlushErr {
		m.failed = true
	}
}

// completed takes the request that a completion is of, and has the event say what the request has put into memory: as held says, or as it is now.
func (d *device) completed(ctx context.Context, x *cq.Event, held *hcaagent.Completed) {
	c := x.Completion
	if d.failure(c); held != nil {
		x.Sum, x.Summed, x.Head = held.Sum, held.Summed, held.Head
		return
	}
	m := d.qps[c.QP.QPN]
	if m == nil || x.Summed {
		return
	}
	failed, receive := c.Status != cq.Success, c.Op >= cq.DoneRecv
	var r postedRequest
	ok := false
	if failed || !receive {
		r, ok = m.send.take(c.ID, failed)
	}
	if !ok && (failed || receive) { // a completion in error does not say what it is of
		r, ok = d.receiveQueue(m, m.SRQ).take(c.ID, true)
	}
	if ok && !failed {
		d.found(ctx, x, m, r)
	}
}

// grhLength is how many bytes before a received datagram hold its GRH.
const grhLength = 40

// found has an event say what memory holds that a request was to fill.
func (d *device) found(ctx context.Context, x *cq.Event, m *deviceQP, r postedRequest) {
	c, all := x.Completion, length(r.segments)
	switch {
	case c.Op < cq.DoneRecv:
		if r.op == wqe.OpRead || r.op == wqe.OpCmpSwap || r.op == wqe.OpFetchAdd {
			x.Sum, x.Summed = d.sum(ctx, r.segments, 0, all)
		}
	case c.Op != cq.DoneRecv:
	case !datagrams(m.Type):
		x.Sum, x.Summed = d.sum(ctx, r.segments, 0, min(uint64(c.ByteLen), all))
	case c.ByteLen >= grhLength && all >= grhLength:
		if x.Sum, x.Summed = d.sum(ctx, r.segments, grhLength, min(uint64(c.ByteLen), all)); x.Summed {
			x.Head = make([]byte, 0, grhLength)
			d.read(ctx, r.segments, 0, grhLength, func(b []byte) { x.Head = append(x.Head, b...) })
		}
	}
}

func datagrams(t qp.Type) bool { return t == qp.TypeUD || t == qp.TypeGSI || t == qp.TypeSMI }

func length(list []wqe.Segment) (n uint64) {
	for i := range list {
		n += uint64(list[i].Length)
	}
	return n
}

// sum returns the CRC-32 of the bytes of a list from one offset to another; false where no agent can answer.
func (d *device) sum(ctx context.Context, list []wqe.Segment, from, to uint64) (sum uint32, ok bool) {
	ok = d.read(ctx, list, from, to, func(b []byte) { sum = crc32.Update(sum, crc32.IEEETable, b) })
	return sum, ok
}

// mostRead is how many bytes of memory are asked for at once: those stay in the cache.
const mostRead = 16 << 10

// read hands over the bytes of a list from one offset to another, part by part; false where no agent can answer. A part is valid until part returns.
func (d *device) read(ctx context.Context, list []wqe.Segment, from, to uint64, part func([]byte)) bool {
	if d.opt.Query == nil {
		return false
	}
	if d.into == nil {
		d.into = make([]byte, mostRead)
	}
	at := uint64(0)
	for i := range list {
		begin, end := max(at, from), min(at+uint64(list[i].Length), to)
		for begin < end {
			g := list[i]
			g.VA += begin - at
			g.Length = uint32(min(end-begin, mostRead))
			n, err := d.opt.Query.MemoryData(ctx, d.memory(&g), d.into[:g.Length])
			if err != nil || n < int(g.Length) {
				return false
			}
			part(d.into[:n])
			begin += uint64(n)
		}
		at += uint64(list[i].Length)
	}
	return true
}

// unknown reports whether an agent cannot answer.
func unknown(err error) bool { return errors.Is(err, qp.ErrUnknown) }

// memory names the memory of a segment.
func (d *device) memory(g *wqe.Segment) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Addr: d.opt.Addr, Key: g.LKey, Local: true}, VA: g.VA, Length: uint64(g.Length)}
}
