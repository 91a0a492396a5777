package exercise

import (
	"encoding/binary"
	"slices"

	"ibwitness/link"
	"ibwitness/packet"
)

// state is that of the link layer of the port (7.2.7).
type state uint8

const (
	down state = iota
	initialize
	armed
	active
)

// out is a packet that is to leave.
type out struct {
	kind   link.Kind
	mark   link.Mark
	data   []byte
	vl     uint8
	ignore bool // credits
	early  bool // it may leave before the port is active
	flow   *Flow
	lpcrc  checksum
	of     *player
	order  uint64
}

// port is the exerciser's port on a native link: credits, flow control packets and sinks. It is a pure state machine.
type port struct {
	lanes    []lane // operational data lanes
	state    state
	interval int64 // after which a lane is told of at the latest
	silent   bool
	urgent   []*out // that leave whatever the credits are, and those of VL 15
	order    uint64

	damaged uint64 // packets that came and were wrong
}

// lane is a data lane: of the port as sender, and its sink.
type lane struct {
	vl     uint8
	queue  []*out
	sent   uint16 // FCTBS
	credit uint16 // FCCL of the other port
	may    bool   // it has given one

	sink    Sink
	abr     uint16
	used    int // blocks
	leaving []leave
	fccl    uint16 // newest offer
	offered bool
	told    int64 // when
	due     bool

	taken, discarded, blocks uint64
}

// leave is when blocks leave a sink.
type leave struct {
	at     int64
	blocks int
}

// newPort returns a port whose link is down.
func newPort(lanes int, e *Exerciser, interval int64) *port {
	p := &port{interval: interval, silent: e.Silent}
	for vl := range lanes {
		p.lanes = append(p.lanes, lane{vl: uint8(vl), sink: e.Sinks[vl]})
	}
	return p
}

// become brings the port to a state. Its counts begin again where it was down.
func (p *port) become(now int64, s state) {
	p.state = s
	for i := range p.lanes {
		l := &p.lanes[i]
		if s == down {
			*l = lane{vl: l.vl, queue: l.queue, sink: l.sink, taken: l.taken, discarded: l.discarded, blocks: l.blocks}
			continue
		}
		l.due = true
		l.told = now
	}
}

// send has a packet wait for its turn, and for credits unless it ignores them.
func (p *port) send(o *out) {
	p.order++
	o.order = p.order
	if o.ignore || o.kind == link.Packet || int(o.vl) >= len(p.lanes) {
		p.urgent = append(p.urgent, o)
		return
	}
	l := &p.lanes[o.vl]
	l.queue = append(l.queue, o)
}

// waiting is how many packets of a stream wait.
func (p *port) waiting(of *player) (n int) {
	count := func(list []*out) {
		for _, o := range list {
			if o.of == of {
				n++
			}
		}
	}
	count(p.urgent)
	for i := range p.lanes {
		count(p.lanes[i].queue)
	}
	return n
}

// next is what the port sends now: what the link is to be told first, then what has waited longest of that which may leave. It is nil where nothing may.
func (p *port) next(now int64) *out {
	if p.state == down {
		return nil
	}
	p.settle(now)
	for i := range p.lanes {
		if l := &p.lanes[i]; l.due && !p.silent {
			return p.tell(now, l)
		}
	}
	queue, at := &p.urgent, slices.IndexFunc(p.urgent, p.mayLeave)
	for i := range p.lanes {
		if l := &p.lanes[i]; len(l.queue) > 0 && p.maySend(l) && (at < 0 || l.queue[0].order < (*queue)[at].order) {
			queue, at = &l.queue, 0
		}
	}
	if at < 0 {
		return nil
	}
	o := (*queue)[at]
	*queue = slices.Delete(*queue, at, at+1)
	p.leaves(now, o)
	return o
}

// mayLeave reports whether a packet may leave that needs no credits: one of a data lane when the port is active.
func (p *port) mayLeave(o *out) bool {
	return p.state == active || o.early || o.kind == link.Packet || o.vl == vl15
}

// waits reports whether packets are in the port.
func (p *port) waits() bool {
	for i := range p.lanes {
		if len(p.lanes[i].queue) > 0 {
			return true
		}
	}
	return len(p.urgent) > 0
}

// maySend is the sender's right to transmit the first packet of a lane (7.9.4).
func (p *port) maySend(l *lane) bool {
	if p.state != active || !l.may {
		return false
	}
	return ahead(l.credit, l.sent+uint16(link.Blocks(len(l.queue[0].data)-vcrcSize))) <= link.Window
}

const vcrcSize = 2

// ahead is how far count a is ahead of b.
func ahead(a, b uint16) uint16 { return (a - b) & (link.Modulus - 1) }

// leaves counts what leaves, and fills in the counts of a flow control packet.
func (p *port) leaves(now int64, o *out) {
	switch {
	case o.flow != nil:
		p.byHand(now, o)
	case o.kind == link.Data && int(o.vl) < len(p.lanes) && len(o.data) > vcrcSize:
		p.lanes[o.vl].sent += uint16(link.Blocks(len(o.data) - vcrcSize))
	}
}

// byHand makes the flow control packet of a stream.
func (p *port) byHand(now int64, o *out) {
	f := link.FlowControl{Op: p.operand(), VL: o.flow.VL}
	if int(f.VL) < len(p.lanes) {
		l := &p.lanes[f.VL]
		f.FCTBS, f.FCCL = l.sent&(link.Modulus-1), l.offer()
		if l.told = now; o.flow.FCCL == (count{}) {
			l.fccl, l.offered = f.FCCL, true
		}
	}
	if o.flow.OpSet {
		f.Op = o.flow.Op
	}
	f.FCTBS, f.FCCL = o.flow.FCTBS.of(f.FCTBS), o.flow.FCCL.of(f.FCCL)
	o.data = f.Append(nil)
	o.lpcrc.put(o.data[4:])
}

// operand is what flow control packets say of the state of the port.
func (p *port) operand() link.Op {
	if p.state == initialize {
		return link.Init
	}
	return link.Normal
}

// tell is the flow control packet of a lane.
func (p *port) tell(now int64, l *lane) *out {
	l.fccl, l.offered, l.told, l.due = l.offer(), true, now, false
	f := link.FlowControl{Op: p.operand(), FCTBS: l.sent & (link.Modulus - 1), VL: l.vl, FCCL: l.fccl}
	return &out{kind: link.Packet, data: f.Append(nil), vl: l.vl}
}

// offer is the FCCL of a lane: ABR and 2048 where 2048 or more blocks are free, else ABR and the free blocks. What was offered is never taken back.
func (l *lane) offer() uint16 {
	free := min(max(l.sink.Capacity-l.used, 0), link.Window)
	v := (l.abr + uint16(free)) & (link.Modulus - 1)
	if l.offered && ahead(v, l.fccl) > link.Window && ahead(l.fccl, l.abr) <= link.Window {
		return l.fccl
	}
	return v
}

// deadline is when next is to be called, though nothing comes; never: not at all.
func (p *port) deadline() int64 {
	at := int64(never)
	if p.state == down {
		return at
	}
	for i := range p.lanes {
		l := &p.lanes[i]
		if !p.silent {
			at = min(at, l.told+p.interval)
		}
		if len(l.leaving) > 0 {
			at = min(at, l.leaving[0].at)
		}
	}
	return at
}

// settle has blocks leave the sinks whose time has come, and sees which lanes are to be told of.
func (p *port) settle(now int64) {
	for i := range p.lanes {
		l := &p.lanes[i]
		for len(l.leaving) > 0 && l.leaving[0].at <= now {
			l.used -= l.leaving[0].blocks
			l.leaving = l.leaving[1:]
			l.due = l.due || int(ahead(l.offer(), l.fccl)) >= max(l.sink.Capacity/4, 1)
		}
		l.due = l.due || now-l.told >= p.interval
	}
}

// change changes a sink. Blocks that are in it stay as long as they were to.
func (p *port) change(c *SinkChange) {
	if int(c.VL) < len(p.lanes) {
		l := &p.lanes[c.VL]
		l.sink, l.due = c.Sink, true
	}
}

// hear takes what comes: credits, or a packet into the sink of its lane.
func (p *port) hear(now int64, h *Heard) {
	p.settle(now)
	switch {
	case p.state == down:
	case h.Kind == link.Packet:
		p.credits(h)
	case h.Kind == link.Data:
		p.take(now, h)
	}
}

// credits takes a flow control packet: it sets the ABR of the lane to FCTBS.
func (p *port) credits(h *Heard) {
	f := h.Flow
	if f == nil || !f.Good || f.Op > link.Init {
		p.damaged++
		return
	}
	if int(f.VL) < len(p.lanes) {
		l := &p.lanes[f.VL]
		l.fccl = (l.fccl + f.FCTBS - l.abr) & (link.Modulus - 1) // so many blocks as before are on offer
		l.abr, l.credit, l.may = f.FCTBS, f.FCCL, true
	}
}

// take takes a data packet into its sink. One that is damaged, or for which there is no room, does not count (7.9.4).
func (p *port) take(now int64, h *Heard) {
	b := h.Data
	if h.Mark.Bad || len(b) < 8+vcrcSize || binary.LittleEndian.Uint16(b[len(b)-vcrcSize:]) != packet.VCRC(b[:len(b)-vcrcSize]) ||
		int(binary.BigEndian.Uint16(b[4:])&0x7FF)*4 != len(b)-vcrcSize {
		p.damaged++
		return
	}
	vl := int(b[0] >> 4)
	if vl >= len(p.lanes) || p.state == initialize {
		return
	}
	p.state = active // (7.2.7)
	l := &p.lanes[vl]
	blocks := link.Blocks(len(b) - vcrcSize)
	within := l.offered && ahead(l.fccl, l.abr+uint16(blocks)) <= link.Window
	if l.used+blocks > l.sink.Capacity && !within {
		l.discarded++
		return
	}
	l.taken++
	l.blocks += uint64(blocks)
	l.abr = (l.abr + uint16(blocks)) & (link.Modulus - 1)
	l.used += blocks
	at := now
	if n := len(l.leaving); n > 0 {
		at = max(at, l.leaving[n-1].at)
	}
	l.leaving = append(l.leaving, leave{at + l.sink.Drain*int64(blocks), blocks})
}
