package agent

import (
	"context"
	"fmt"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// PostSend posts a send request. Without a Control, the data segments of one that has none are those that Query says.
func (d *Device) PostSend(ctx context.Context, q wqe.QP, r wqe.SendRequest) error {
	m, err := d.queuePair(q)
	if gathers(r.Op) && len(r.Segments) == 0 && d.opt.Control == nil && d.opt.Query != nil {
		r.Segments, _ = d.opt.Query.DataSegments(ctx, q, r.ID)
	}
	opens := error(nil)
	if err == nil {
		opens = d.opens(ctx, m, q, &r)
		err = d.validSend(m, &r, opens)
	}
	if !d.passes(err) {
		return err
	}
	p := d.sends.Put(r)
	p.Segments = d.segments.List(r.Segments)
	e := d.event(cq.EvPostSend)
	if e != nil {
		if e.QP, e.Send = q, p; m != nil && opens == nil && gathers(p.Op) {
			d.gathered(ctx, e)
		}
	}
	if err = d.control.PostSend(ctx, q, p); err == nil {
		d.posted(m, p)
	} else if e != nil {
		e.Sum, e.Summed, e.Data = 0, false, nil
	}
	d.push(e, err)
	return err
}

// keptRoom is how many bytes of messages are allocated at once.
const keptRoom = 16 << 10

// gathered adds to the event of a send request the checksum of its data, and as much of that as is asked for.
func (d *device) gathered(ctx context.Context, e *cq.Event) {
	all := length(e.Send.Segments)
	most := int(min(all, uint64(d.opt.Payload)))
	if most > len(d.kept) {
		d.kept = make([]byte, max(keptRoom, most))
	}
	room := d.kept[:most:most]
	if most == int(all) {
		if e.Summed = d.copied(ctx, e.Send.Segments, room); e.Summed {
			e.Sum = crc32.ChecksumIEEE(room)
		}
	} else {
		n := 0
		e.Summed = d.read(ctx, e.Send.Segments, 0, all, func(b []byte) {
			e.Sum = crc32.Update(e.Sum, crc32.IEEETable, b)
			n += copy(room[n:], b)
		})
	}
	if e.Summed && most > 0 {
		e.Data, d.kept = room, d.kept[most:]
	}
}

// copied copies what a list holds into room for all of it; false where no agent can answer.
func (d *device) copied(ctx context.Context, list []wqe.Segment, room []byte) bool {
	if d.opt.Query == nil {
		return false
	}
	for i := range list {
		g := &list[i]
		if n, err := d.opt.Query.MemoryData(ctx, d.memory(g), room[:g.Length]); err != nil || n < int(g.Length) {
			return false
		}
		room = room[g.Length:]
	}
	return true
}

// gathers reports whether an operation sends what its segments hold.
func gathers(op wqe.SendOp) bool { return op <= wqe.OpWriteImm || op == wqe.OpAtomicWrite }

// posted notes a request that the device has taken.
func (d *device) posted(m *deviceQP, r *wqe.SendRequest) {
	if m == nil {
		return
	}
	if d.keeps() {
		m.send.add(postedRequest{id: r.ID, op: r.Op, signaled: m.SignalAll || r.Flags&wqe.Signaled != 0, segments: r.Segments})
	}
	if w := r.Window; w != nil && w.RKey != 0 && d.mws[w.MW] != nil {
		d.mws[w.MW].RKey = w.RKey
	}
}

// opens checks that a queue pair may access the memory that a send request names.
func (d *device) opens(ctx context.Context, m *deviceQP, q wqe.QP, r *wqe.SendRequest) error {
	access := wqe.Access(0)
	if r.Op == wqe.OpRead || r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd {
		access = wqe.LocalWrite
	}
	return d.validList(ctx, &q, m.PD, r.Segments, access)
}

// validSend checks a send request (validSendWqe), of which opens says whether its memory may be accessed.
func (d *device) validSend(m *deviceQP, r *wqe.SendRequest, opens error) error {
	state := m.state
	if m.failed {
		state = qp.Err // requests are accepted there, and flushed
	}
	if err := m.ValidSend(state, r); err != nil || r.Flags&wqe.Inline != 0 {
		return err
	}
	return opens
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
	p := d.receive(&r)
	if err = d.control.PostReceive(ctx, q, p); err == nil {
		d.postedReceive(d.receiveQueue(m, 0), p)
	}
	if e := d.event(cq.EvPostReceive); e != nil {
		e.QP, e.Receive = q, p
		d.push(e, err)
	}
	return err
}

// receive returns a copy of a request that is nobody's to change.
func (d *device) receive(r *wqe.ReceiveRequest) *wqe.ReceiveRequest {
	p := d.receives.New()
	p.ID, p.Segments = r.ID, d.segments.List(r.Segments)
	return p
}

// receiveQueue is a shared receive queue, or else that of a queue pair; nil: it is not known.
func (d *device) receiveQueue(m *deviceQP, srq wqe.SRQ) *postedQueue {
	if srq != 0 {
		if s := d.srqs[srq]; s != nil {
			return &s.receive
		}
		return nil
	}
	if m != nil {
		return &m.receive
	}
	return nil
}

// postedReceive notes a receive request that the device has taken.
func (d *device) postedReceive(q *postedQueue, r *wqe.ReceiveRequest) {
	if q != nil && d.keeps() {
		q.add(postedRequest{id: r.ID, signaled: true, segments: r.Segments})
	}
}

// validReceive checks a receive request (validRecvWqe).
func (d *device) validReceive(ctx context.Context, m *deviceQP, q wqe.QP, r *wqe.ReceiveRequest) error {
	if err := m.ValidReceive(m.state, r); err != nil {
		return err
	}
	return d.validList(ctx, &q, m.PD, r.Segments, wqe.LocalWrite)
}

// PostSharedReceive posts a receive request to a shared receive queue.
func (d *Device) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r wqe.ReceiveRequest) error {
	if err := d.validShared(ctx, srq, &r); !d.passes(err) {
		return err
	}
	p := d.receive(&r)
	err := d.control.PostSharedReceive(ctx, srq, p)
	if err == nil {
		d.postedReceive(d.receiveQueue(nil, srq), p)
	}
	if e := d.event(cq.EvPostReceive); e != nil {
		e.SRQ, e.Receive = srq, p
		d.push(e, err)
	}
	return err
}

// validList checks that the segments of a list may be accessed: by Query where that can tell of a queue pair, else by the regions that were registered.
func (d *device) validList(ctx context.Context, q *wqe.QP, pd wqe.PD, list []wqe.Segment, access wqe.Access) error {
	for i := range list {
		g := &list[i]
		if g.Length == 0 {
			continue
		}
		if err := d.mayAccess(ctx, q, pd, g, access); err != nil {
			return &qp.InvalidError{Rule: rule.CPLSTS010, Reason: fmt.Sprintf("data segment %d: %v", i, err)}
		}
	}
	return nil
}

// mayAccess checks one segment. Without a Control, memory may have been registered before the Device was there.
func (d *device) mayAccess(ctx context.Context, q *wqe.QP, pd wqe.PD, g *wqe.Segment, access wqe.Access) error {
	if d.opt.Query != nil && q != nil {
		err := d.opt.Query.MemoryAccess(ctx, *q, d.memory(g), access)
		if err == nil || !unknown(err) {
			return err
		}
	}
	r := d.lkeys[g.LKey]
	switch {
	case r == nil && d.opt.Control == nil:
		return nil
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
