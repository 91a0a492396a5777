package agent

import (
	"context"
	"hash/crc32"
	"slices"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// CreateCQ makes a completion queue of at least depth elements.
func (d *Device) CreateCQ(ctx context.Context, depth int) (wqe.CQ, error) {
	id, err := d.Control.CreateCQ(ctx, depth)
	d.tell(&cq.Event{Kind: cq.EvCreateCQ, CQ: id, Depth: depth}, err)
	return id, err
}

// ResizeCQ changes the depth of a completion queue.
func (d *Device) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	err := d.Control.ResizeCQ(ctx, number, depth)
	d.tell(&cq.Event{Kind: cq.EvResizeCQ, CQ: number, Depth: depth}, err)
	return err
}

// DestroyCQ destroys a completion queue.
func (d *Device) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	err := d.Control.DestroyCQ(ctx, number)
	d.tell(&cq.Event{Kind: cq.EvDestroyCQ, CQ: number}, err)
	return err
}

// RequestNotification arms a completion queue.
func (d *Device) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	err := d.Control.RequestNotification(ctx, number, arm)
	if e := d.event(cq.EvArm); e != nil {
		e.CQ, e.Arm = number, arm
		d.push(e, err)
	}
	return err
}

// Poll moves completions out of the queue into into, oldest first, and returns how many. What their messages have put into memory is looked up there.
func (d *Device) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (int, error) {
	n, err := d.Control.Poll(ctx, number, into)
	d.polls++
	for i := range into[:n] {
		c := &into[i]
		r, ok := d.completed(c)
		x := d.event(cq.EvCompletion)
		if x == nil {
			continue
		}
		x.QP, x.CQ, x.Completion = c.QP, number, d.completions.Put(*c)
		x.Poll, x.Emptied = d.polls, i == n-1 && n < len(into)
		if ok && c.Status == cq.Success {
			d.found(ctx, x, c, r)
		}
		d.push(x, nil)
	}
	return n, err
}

// completed takes the request that a completion is of.
func (d *device) completed(c *cq.Completion) (postedRequest, bool) {
	m := d.qps[c.QP]
	if m == nil {
		return postedRequest{}, false
	}
	if c.Status != cq.Success && c.Status != cq.WRFlushErr {
		m.failed = true
	}
	if r, ok := m.send.take(c.ID); ok && c.Op < cq.DoneRecv {
		return r, true
	}
	if m.receives != nil {
		return m.receives.take(c.ID)
	}
	return postedRequest{}, false
}

// grhLength is how many bytes before a received datagram hold its GRH.
const grhLength = 40

// found has an event say what a completed request has put into memory.
func (d *device) found(ctx context.Context, x *cq.Event, c *cq.Completion, r postedRequest) {
	all := length(r.segments)
	switch {
	case c.Op < cq.DoneRecv:
		if r.op == wqe.OpRead || r.op == wqe.OpCmpSwap || r.op == wqe.OpFetchAdd {
			x.Sum, x.Summed = d.sum(ctx, r.segments, 0, all)
		}
	case c.Op != cq.DoneRecv:
	case !datagrams(d.qps[c.QP].Type):
		x.Sum, x.Summed = d.sum(ctx, r.segments, 0, min(uint64(c.ByteLen), all))
	case c.ByteLen >= grhLength && all >= grhLength:
		if x.Sum, x.Summed = d.sum(ctx, r.segments, grhLength, min(uint64(c.ByteLen), all)); x.Summed {
			x.Head = slices.Clone(d.into[:grhLength])
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

// sum returns the CRC-32 of the bytes of a list from one offset to another, and leaves all up to there in d.into; false where no agent can answer.
func (d *device) sum(ctx context.Context, list []wqe.Segment, from, to uint64) (uint32, bool) {
	if d.opt.Query == nil {
		return 0, false
	}
	d.into = slices.Grow(d.into[:0], int(to))
	for i := range list {
		g := list[i]
		if g.Length = uint32(min(uint64(g.Length), to-uint64(len(d.into)))); g.Length == 0 {
			continue
		}
		at := len(d.into)
		d.into = d.into[:at+int(g.Length)]
		if n, err := d.opt.Query.MemoryData(ctx, d.memory(&g), d.into[at:]); err != nil || n < int(g.Length) {
			return 0, false
		}
	}
	return crc32.ChecksumIEEE(d.into[from:]), true
}

// memory names the memory of a segment.
func (d *device) memory(g *wqe.Segment) wqe.Memory {
	return wqe.Memory{Key: wqe.Key{Addr: d.opt.Addr, Key: g.LKey, Local: true}, VA: g.VA, Length: uint64(g.Length)}
}
