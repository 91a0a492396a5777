package fabricagent

import (
	"fmt"

	"ibwitness/packet"
)

// run appends the packets of enhanced packet blocks, as long as they are wholly read and nothing is odd about them. It is
// step for nearly every block of nearly every file.
func (p *pcapngReader) run(l *lot) {
	b, n := p.buf[p.r:p.w], len(l.Frames)
	for n < BatchSize && len(b) >= 32 {
		size := p.u32(b[4:])
		if p.u32(b) != blockEnhancedPacket || size < 32 || size%4 != 0 || uint64(size) > uint64(len(b)) {
			break
		}
		id, got, wire := p.u32(b[8:]), p.u32(b[20:]), p.u32(b[24:])
		if uint64(id) >= uint64(len(p.ifaces)) || got > size-32 || wire > maxWire || p.u32(b[size-4:]) != size {
			break
		}
		i := &p.ifaces[id]
		p.number++
		f := &l.space[n]
		n++
		f.Time = i.clock.nanoseconds(uint64(p.u32(b[12:]))<<32 | uint64(p.u32(b[16:])))
		f.Number = p.number
		f.Tap = i.tap
		f.Link = i.link
		f.Way = packet.WayUnknown
		f.Len = max(wire, got)
		f.Data = b[28 : 28+got : 28+got]
		if at := 28 + (got+3)&^3; size-4 >= at+4 {
			p.packetOptions(f, i, b[at:size-4])
		}
		p.finishPacket(f, i)
		b = b[size:]
	}
	if n > len(l.Frames) {
		l.holdBlock(p.blk)
		l.Frames = l.space[:n]
	}
	p.r = p.w - len(b)
}

// at returns the interface that a block names.
func (p *pcapngReader) at(id uint32) (*ifaceState, error) {
	if int64(id) >= int64(len(p.ifaces)) {
		return nil, p.garbage(p.number+1, fmt.Errorf("interface %d, where the section has %d", id, len(p.ifaces)))
	}
	return &p.ifaces[id], nil
}

func (p *pcapngReader) enhanced(l *lot, b []byte) error {
	i, err := p.at(p.u32(b))
	if err != nil {
		return err
	}
	ts := uint64(p.u32(b[4:]))<<32 | uint64(p.u32(b[8:]))
	f, rest, err := p.packet(l, i, b[20:], p.u32(b[12:]), p.u32(b[16:]))
	if err != nil {
		return err
	}
	f.Time = i.clock.nanoseconds(ts)
	if len(rest) >= 4 {
		p.packetOptions(f, i, rest)
	}
	p.finishPacket(f, i)
	return nil
}

func (p *pcapngReader) obsolete(l *lot, b []byte) error {
	i, err := p.at(uint32(p.u16(b)))
	if err != nil {
		return err
	}
	ts := uint64(p.u32(b[4:]))<<32 | uint64(p.u32(b[8:]))
	f, rest, err := p.packet(l, i, b[20:], p.u32(b[12:]), p.u32(b[16:]))
	if err != nil {
		return err
	}
	f.Time = i.clock.nanoseconds(ts)
	if drops := p.u16(b[2:]); drops != 0xffff && drops != 0 {
		p.drop(f.Tap, i, uint64(drops))
	}
	if len(rest) >= 4 {
		p.packetOptions(f, i, rest)
	}
	p.finishPacket(f, i)
	return nil
}

// simple reads a packet of the section's first interface without a time: it gets that of the frame before it.
func (p *pcapngReader) simple(l *lot, b []byte) error {
	i, err := p.at(0)
	if err != nil {
		return err
	}
	wire := p.u32(b)
	n := min(wire, uint32(len(b)-4))
	if i.snap != 0 {
		n = min(n, i.snap)
	}
	f, _, err := p.packet(l, i, b[4:], n, wire)
	if err != nil {
		return err
	}
	f.Time = p.last
	p.finishPacket(f, i)
	return nil
}

// packet appends a frame of n bytes, and returns it with the options after it.
func (p *pcapngReader) packet(l *lot, i *ifaceState, b []byte, n, wire uint32) (*Frame, []byte, error) {
	if uint64(n) > uint64(len(b)) {
		return nil, nil, p.garbage(p.number+1, fmt.Errorf("a captured length of %d bytes, where its block holds %d", n, len(b)))
	}
	if wire > maxWire {
		return nil, nil, p.garbage(p.number+1, fmt.Errorf("a wire length of %d bytes, where at most %d are plausible", wire, maxWire))
	}
	p.number++
	f := l.add(p.blk)
	*f = Frame{Number: p.number, Tap: i.tap, Link: i.link, Len: max(wire, n), Data: b[:n:n]}
	return f, b[min(len(b), int(n+3)&^3):], nil
}

func (p *pcapngReader) finishPacket(f *Frame, i *ifaceState) {
	p.last = f.Time
	if i.special {
		p.unwrap(f, &i.ports)
	}
}

func (p *pcapngReader) packetOptions(f *Frame, i *ifaceState, b []byte) {
	for o := (options{b: b, reader: p}); o.next(); {
		switch {
		case o.code == 2 && len(o.value) == 4: // epb_flags, pack_flags
			switch p.u32(o.value) & 3 {
			case 1:
				f.Way = packet.WayIn
			case 2:
				f.Way = packet.WayOut
			}
		case o.code == 4 && len(o.value) == 8: // epb_dropcount
			p.drop(f.Tap, i, p.u64(o.value))
		}
	}
}

// drop adds packets that were lost ahead of a frame. A capture may tell of the same ones again in its statistics.
func (p *pcapngReader) drop(tap uint16, i *ifaceState, n uint64) {
	i.lost += n
	total := max(i.lost, i.reported)
	p.taps.change(tap, func(t *Tap) { t.Dropped = max(t.Dropped, total) })
}
