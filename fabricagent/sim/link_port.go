package sim

import (
	"encoding/binary"
	"math/rand/v2"

	"ibwitness/link"
	"ibwitness/packet"
)

// linkPort is a port of a link: what it sends, and what it has received and not passed on yet.
type linkPort struct {
	LinkPort
	link    *Link
	index   uint8
	chance  *rand.Rand
	send    func(frame []byte)
	deliver func(data []byte)
	hand    func(k link.Kind, m link.Mark, data []byte) // plays the port; nil: it plays itself
	admit   func(m link.Mark, data []byte) bool         // judges what comes in place of the port; nil: it does itself
	again   func()                                      // the device may send

	state   int
	epoch   int // how often it has been down
	sending bool
	current []byte // the data packet that is being sent
	lost    int64  // until when what comes was sent before the link went down
	ticking bool
	next    int      // the lane whose turn it is
	arb     *arbiter // among the data lanes; nil: they take turns
	life    int64    // nanoseconds that a packet may wait on a data lane; 0: without end
	expired func()   // is told of each that has
	mtu     uint32   // of the link
	waiting int      // packets on all lanes
	lanes   [link.Lanes]linkLane
	manage  packets // on VL 15
	drained int64   // when the receive buffers have passed on what is in them

	fault *LinkFault
	left  int    // occasions to let pass
	made  uint64 // how often the fault was shown
	show  bool   // the next frame shows it
	told  bool   // it has told what lanes it has for its service levels
	long  []byte // a packet longer than the MTU, which it sends
}

// linkLane is a data lane: of the port as sender, and of it as receiver.
type linkLane struct {
	queue  packets
	sent   uint16 // FCTBS
	credit uint16 // FCCL of the other port
	may    bool   // it has given one

	abr  uint16
	used int   // blocks
	told int64 // when a flow control packet was sent
	fccl uint16
	due  bool  // one is to be sent
	hush int64 // but not before
}

// packets is a queue.
type packets struct {
	list [][]byte
	at   int
}

func (q *packets) empty() bool   { return q.at == len(q.list) }
func (q *packets) first() []byte { return q.list[q.at] }
func (q *packets) push(b []byte) { q.list = append(q.list, b) }

// remove takes out a packet, and reports whether it is there.
func (q *packets) remove(b []byte) bool {
	for i := q.at; i < len(q.list); i++ {
		if &q.list[i][0] != &b[0] {
			continue
		}
		copy(q.list[q.at+1:i+1], q.list[q.at:i])
		q.pop()
		return true
	}
	return false
}

func (q *packets) pop() []byte {
	b := q.list[q.at]
	q.list[q.at] = nil
	if q.at++; q.at == len(q.list) {
		q.list, q.at = q.list[:0], 0
	}
	return b
}

// Physical states (PortPhysicalState, table T12).
const physicalPolling = 2

// physical has the taps see the physical state of the port.
func (p *linkPort) physical(state uint8) {
	if p.link.opt.Mute {
		return
	}
	if p.shows("physical-state") {
		state = 9
	}
	p.leave(append(p.header(link.Physical), state))
}

// become brings the port to a state.
func (p *linkPort) become(state int) {
	p.state = state
	if state == portInitialize {
		p.physical(link.LinkUp)
		p.beat()
	}
	for vl := range p.link.opt.Lanes {
		l := &p.lanes[vl]
		if l.due = true; state == portActive && !l.queue.empty() && p.breaks("waiting-lost") {
			p.waiting -= len(l.queue.list) - l.queue.at
			l.queue = packets{}
		}
	}
	p.start()
}

// down takes the port down. What waits stays, and all counts begin again.
func (p *linkPort) down() {
	if p.current != nil { // it ends as a bad packet
		bad := append(p.bad(link.Data), p.current[link.HeaderSize:]...)
		p.current = nil
		p.leave(bad)
	}
	p.lost = p.link.clock.now + max(p.link.opt.Delay, 0)
	p.state = portDown
	p.epoch++
	for vl := range p.lanes {
		p.lanes[vl] = linkLane{queue: p.lanes[vl].queue}
	}
	p.physical(physicalPolling)
	if p.breaks("sends-while-down") {
		p.link.clock.After(training/2, func() {
			p.show = true
			p.leave(p.flowControl(0))
		})
	}
}

// beat sees to it that no lane is silent for too long.
func (p *linkPort) beat() {
	if p.ticking || p.hand != nil {
		return
	}
	p.ticking = true
	every := p.link.update()
	var look func()
	look = func() {
		p.ticking = p.state != portDown
		if !p.ticking {
			return
		}
		now := p.link.clock.now
		wait := every
		for vl := range p.link.opt.Lanes {
			l := &p.lanes[vl]
			if now-l.told >= every {
				l.due = true
				if p.breaks("silent-lane") {
					l.hush = now + every
				}
			} else {
				wait = min(wait, l.told+every-now)
			}
		}
		p.link.clock.After(wait, look)
		p.start()
	}
	p.link.clock.After(every, look)
}

// enqueue takes a packet of the device.
func (p *linkPort) enqueue(data []byte) {
	p.link.busy = p.link.clock.now
	if len(data) < lrhSize+vcrcSize {
		return
	}
	sl := data[1] >> 4
	vl := p.SLtoVL[sl]
	if data[0]>>4 == vl15 {
		vl = vl15
	}
	p.queue(data, vl)
}

// queue has a packet wait for its turn on a lane.
func (p *linkPort) queue(data []byte, vl uint8) {
	words := int(binary.BigEndian.Uint16(data[4:]) & 0x7FF)
	switch {
	case vl == vl15 && data[0]>>4 != vl15, int(vl) >= p.link.opt.Lanes && vl != vl15:
		return // the table has no lane for it (7.6.6)
	case words*4 > int(p.mtu)+124:
		if !p.told || p.long != nil || !p.breaks("longer-than-mtu") {
			return
		}
		p.long = data
	case p.fault != nil && p.fault.told && tooLong(data, p.mtu):
		return
	}
	onLane(data, vl)
	p.waiting++
	if vl == vl15 {
		p.manage.push(data)
	} else {
		p.lanes[vl].queue.push(data)
		p.age(&p.lanes[vl].queue, data)
	}
	p.start()
}

// tooLong reports whether the payload of a packet is longer than an MTU.
func tooLong(data []byte, mtu uint32) bool {
	var p packet.Packet
	return packet.DecodeInfiniBand(&p, data, len(data)) && p.PayloadLen > int(mtu)
}

const (
	lrhSize  = 8
	vcrcSize = 2
	vl15     = 15
)

// onLane gives a packet its lane and its VCRC.
func onLane(data []byte, vl uint8) {
	data[0] = vl<<4 | data[0]&0xF
	end := len(data) - vcrcSize
	binary.LittleEndian.PutUint16(data[end:], packet.VCRC(data[:end]))
}

// loses reports whether what comes is lost: the link went down while it was on its way.
func (p *linkPort) loses(frame []byte) bool {
	kind, _, _ := link.DecodeHeader(frame)
	return kind != link.Physical && p.link.clock.now <= p.lost
}

// receive takes what arrives on the link.
func (p *linkPort) receive(frame []byte) {
	kind, mark, _ := link.DecodeHeader(frame)
	data := frame[link.HeaderSize:]
	switch {
	case p.hand != nil:
		p.hand(kind, mark, data)
	case p.state == portDown:
	case kind == link.Packet:
		p.credits(data)
	case kind == link.Data && (!mark.Bad || p.admit != nil):
		p.data(mark, data)
	}
}

// credits takes a link packet.
func (p *linkPort) credits(data []byte) {
	f, ok := link.DecodeFlowControl(data)
	if !ok || int(f.VL) >= p.link.opt.Lanes || (!f.Good || f.Op > link.Init) && !p.breaks("bad-fcp-taken") {
		return
	}
	l := &p.lanes[f.VL]
	if !p.breaks("fctbs-ignored") {
		l.abr = f.FCTBS
	}
	if !l.may || !p.breaks("credits-forgotten") {
		l.credit, l.may = f.FCCL, true
	}
	p.start()
}

// whole reports whether a packet is as it should be.
func (p *linkPort) whole(m link.Mark, data []byte) bool {
	if p.admit != nil {
		return p.admit(m, data)
	}
	end := len(data) - vcrcSize
	return int(binary.BigEndian.Uint16(data[4:])&0x7FF)*4 == end && binary.LittleEndian.Uint16(data[end:]) == packet.VCRC(data[:end])
}

// closed reports whether a port drops all data packets of a lane.
func (p *linkPort) closed(vl uint8) bool {
	return int(vl) >= p.link.opt.Lanes && !p.breaks("lane-taken") || p.state == portInitialize && !p.breaks("data-in-initialize-taken")
}

// data takes a data packet: into the receive buffer of its lane, which it leaves a while later.
func (p *linkPort) data(m link.Mark, data []byte) {
	p.link.busy = p.link.clock.now
	if len(data) < lrhSize+vcrcSize {
		return
	}
	vl, words := data[0]>>4, int(binary.BigEndian.Uint16(data[4:])&0x7FF)
	blocks := p.link.blocks(words)
	if vl == vl15 {
		if p.whole(m, data) && !p.answer(data) {
			p.pass(data)
		}
		return
	}
	if p.closed(vl) {
		return
	}
	l := &p.lanes[vl]
	if !p.whole(m, data) || l.used+blocks > p.Buffer {
		if p.breaks("discards-counted") {
			l.abr += uint16(blocks)
			l.due = true
			p.start()
		}
		return
	}
	if p.admit == nil { // else subnet management says it
		p.state = portActive
	}
	if !p.breaks("arrivals-uncounted") {
		l.abr += uint16(blocks)
	}
	l.used += blocks
	wait := int64(0)
	if p.Drain > 0 {
		wait = p.chance.Int64N(2*p.Drain*int64(blocks) + 1)
	}
	now, epoch := p.link.clock.now, p.epoch
	p.drained = max(p.drained, now) + wait
	p.link.clock.After(p.drained-now, func() {
		if p.epoch == epoch {
			l.used -= blocks
			if p.link.ahead(p.offer(l), l.fccl) >= max(p.Buffer/4, 1) {
				l.due = true
				p.start()
			}
		}
		p.pass(data)
	})
}

// pass gives a packet to the device.
func (p *linkPort) pass(data []byte) {
	p.link.busy = p.link.clock.now
	if p.deliver != nil {
		p.deliver(data)
	}
}

// offer is the FCCL of a lane: ABR, and the blocks that are free.
func (p *linkPort) offer(l *linkLane) uint16 {
	return (l.abr + uint16(min(p.Buffer-l.used, link.Window))) & (link.Modulus - 1)
}

// ahead is how far count a is ahead of b.
func (*Link) ahead(a, b uint16) int { return int((a - b) & (link.Modulus - 1)) }
