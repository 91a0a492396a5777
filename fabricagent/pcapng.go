package fabricagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"ibwitness/packet"
)

// The block types of a pcapng file.
const (
	blockSection        = 0x0a0d0d0a // the same in both byte orders
	blockInterface      = 1
	blockObsoletePacket = 2
	blockSimplePacket   = 3
	blockStatistics     = 5
	blockEnhancedPacket = 6
	blockJournal        = 9 // systemd journal entry: no packet, but Wireshark counts it as a frame

	orderMagic uint32 = 0x1a2b3c4d

	// maxBlock is the longest block that Wireshark accepts. One above it is garbage.
	maxBlock = 16 << 20
)

// pcapngReader reads a pcapng file: blocks of type, length, body and length again, in the byte order of their section.
type pcapngReader struct {
	*input
	swap   bool
	ifaces []ifaceState // of the current section
	many   bool         // a section header was seen
	last   int64        // time of the last frame, for simple packet blocks, which have none
}

// ifaceState is one interface of the current section.
type ifaceState struct {
	tap      uint16
	link     LinkType
	special  bool
	snap     uint32
	clock    clock
	ports    ports
	lost     uint64 // by the drop counts of packets
	reported uint64 // by interface statistics, which count from the start
}

func newPcapngReader(in *input) (reader, error) {
	p := &pcapngReader{input: in}
	if err := p.section(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *pcapngReader) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if p.swap {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (p *pcapngReader) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.swap {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcapngReader) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if p.swap {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// section reads a section header block, which stands at the current offset.
func (p *pcapngReader) section() error {
	if !p.need(16) {
		return p.ended(0, "a section header")
	}
	h := p.buf[p.r:]
	switch orderMagic {
	case binary.LittleEndian.Uint32(h[8:]):
		p.swap = false
	case binary.BigEndian.Uint32(h[8:]):
		p.swap = true
	default:
		err := fmt.Errorf("a section header with byte order magic % x", h[8:12])
		if !p.many {
			return p.fail(NotACapture, 0, fmt.Errorf("not a capture, it looks like a pcapng with %w: give a pcap, pcapng or ERF file", err))
		}
		return p.garbage(0, err)
	}
	if major := p.u16(h[12:]); major != 1 {
		err := fmt.Errorf("pcapng version %d.%d, where only 1 is known", major, p.u16(h[14:]))
		if !p.many {
			return p.fail(NotACapture, 0, fmt.Errorf("not a known capture, %w: convert it with editcap -F pcapng", err))
		}
		return p.garbage(0, err)
	}
	size, err := p.blockLength(p.u32(h[4:]), 28)
	if err != nil {
		return err
	}
	if err := p.pass(size, 0, "a section header"); err != nil {
		return err
	}
	p.many = true
	p.ifaces = p.ifaces[:0]
	return nil
}

// blockLength checks the length of the block at the current offset.
func (p *pcapngReader) blockLength(n uint32, least int) (int, error) {
	switch {
	case n%4 != 0:
		return 0, p.garbage(p.number+1, fmt.Errorf("a block length of %d bytes, not a multiple of 4", n))
	case n > maxBlock:
		return 0, p.garbage(p.number+1, fmt.Errorf("a block length of %d bytes, where at most %d are plausible", n, maxBlock))
	case int(n) < least:
		return 0, p.garbage(p.number+1, fmt.Errorf("a block length of %d bytes, where at least %d are needed", n, least))
	}
	return int(n), nil
}

var errTrailer = errors.New("the lengths at the start and at the end of a block differ")

// pass consumes the block at the current offset, whose length is size, without looking at its body.
func (p *pcapngReader) pass(size int, frame uint64, what string) error {
	start := p.offset()
	length := p.u32(p.buf[p.r+4:])
	if !p.skip(size-4) || !p.need(4) {
		err := p.ended(frame, what)
		var fe *FileError
		if errors.As(err, &fe) {
			fe.Offset = start
		}
		return err
	}
	if p.u32(p.buf[p.r:]) != length {
		return &FileError{Path: p.path, Offset: start, Frame: frame, Kind: Garbage, Err: errTrailer}
	}
	p.r += 4
	return nil
}

// fill appends frames until the lot is full.
func (p *pcapngReader) fill(l *lot) error {
	for len(l.Frames) < BatchSize {
		if p.w-p.r < 12 && !p.need(12) {
			if p.w == p.r && p.err == io.EOF {
				return p.finish()
			}
			return p.ended(p.number+1, "a block")
		}
		h := p.buf[p.r : p.r+12]
		kind, least := p.u32(h), 12
		switch kind {
		case blockSection:
			if err := p.section(); err != nil {
				return err
			}
			continue
		case blockEnhancedPacket, blockObsoletePacket:
			least = 32
		case blockSimplePacket:
			least = 16
		case blockInterface:
			least = 20
		case blockStatistics:
			least = 24
		}
		size, err := p.blockLength(p.u32(h[4:]), least)
		if err != nil {
			return err
		}
		if least == 12 {
			if err := p.pass(size, p.number+1, "a block"); err != nil {
				return err
			}
			if kind == blockJournal {
				p.number++
			}
			continue
		}
		if p.w-p.r < size && !p.need(size) {
			return p.ended(p.number+1, "a block")
		}
		b := p.buf[p.r : p.r+size : p.r+size]
		if p.u32(b[size-4:]) != uint32(size) {
			return p.garbage(p.number+1, errTrailer)
		}
		if err := p.block(l, kind, b[8:size-4:size-4]); err != nil {
			return err
		}
		p.r += size
	}
	return nil
}

func (p *pcapngReader) block(l *lot, kind uint32, body []byte) error {
	switch kind {
	case blockEnhancedPacket:
		return p.enhanced(l, body)
	case blockObsoletePacket:
		return p.obsolete(l, body)
	case blockSimplePacket:
		return p.simple(l, body)
	case blockInterface:
		return p.iface(body)
	}
	return p.statistics(body)
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

// packet appends a frame of n bytes, and returns it with the options behind it.
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
