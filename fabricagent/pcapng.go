package fabricagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// The block types of a pcapng file.
const (
	blockSection        = 0x0a0d0d0a // the same in both byte orders
	blockInterface      = 1
	blockObsoletePacket = 2
	blockSimplePacket   = 3
	blockNames          = 4
	blockStatistics     = 5
	blockEnhancedPacket = 6

	// No packets, but Wireshark counts them as frames: systemd journal entries and custom blocks.
	blockJournal = 9
	blockCustom  = 0x00000bad
	blockPrivate = 0x40000bad // a custom block that editors shall not copy

	orderMagic uint32 = 0x1a2b3c4d

	// maxBlock is the longest block that Wireshark accepts. One above it is garbage.
	maxBlock = 16 << 20

	// maxHeader is the longest section header whose comments are looked at.
	maxHeader = 32 << 10
)

// pcapngReader reads a pcapng file: blocks of type, length, body and length again, in the byte order of their section.
type pcapngReader struct {
	*input
	swap   bool
	ifaces []ifaceState // of the current section
	many   bool         // a section header was seen
	last   int64        // time of the last frame, for simple packet blocks, which have none
	upTo   bool         // frames up to statistics were handed over
}

// errBefore says that the frames before a block are to be handed over first.
var errBefore = errors.New("frames come first")

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

// section reads a section header block, which is at the current offset.
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
	if !p.many && size <= maxHeader && p.need(size) {
		for o := (options{b: p.buf[p.r+24 : p.r+size-4], reader: p}); o.next() && p.recorded == nil; {
			if o.code == optComment {
				if p.recorded, p.garbled = recorded(string(o.value)); p.garbled != nil {
					break
				}
			}
		}
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
	for {
		p.run(l)
		if len(l.Frames) == BatchSize {
			return nil
		}
		switch err := p.step(l); err {
		case nil:
		case errBefore:
			return nil
		default:
			return err
		}
	}
}

// blockEnds is how long type and lengths of a block are, which are around its body.
const blockEnds = 12

// leastBlock is how long a block of a kind is at least; blockEnds where its body is not read.
func leastBlock(kind uint32) int {
	switch kind {
	case blockEnhancedPacket, blockObsoletePacket:
		return 32
	case blockSimplePacket:
		return 16
	case blockInterface:
		return 20
	case blockStatistics:
		return 24
	}
	return blockEnds
}

// statisticsWait reports whether the lot has to be handed over before statistics are read: what was lost is known from here on, and not with the frames before.
func (p *pcapngReader) statisticsWait(l *lot) bool {
	p.upTo = p.recorded != nil && len(l.Frames) > 0 && !p.upTo
	return p.upTo
}

// unread passes a block whose body is not read. Wireshark counts some of these as frames.
func (p *pcapngReader) unread(kind uint32, size int) error {
	err := p.pass(size, p.number+1, "a block")
	if err == nil && (kind == blockJournal || kind == blockCustom || kind == blockPrivate) {
		p.number++
	}
	return err
}

// step reads one block of any kind.
func (p *pcapngReader) step(l *lot) error {
	if p.w-p.r < blockEnds && !p.need(blockEnds) {
		if p.w == p.r && p.err == io.EOF {
			return p.finish()
		}
		return p.ended(p.number+1, "a block")
	}
	h := p.buf[p.r : p.r+blockEnds]
	kind := p.u32(h)
	switch {
	case kind == blockSection:
		return p.section()
	case kind == blockStatistics && p.statisticsWait(l):
		return errBefore
	}
	least := leastBlock(kind)
	size, err := p.blockLength(p.u32(h[4:]), least)
	if err != nil {
		return err
	}
	if least == blockEnds {
		return p.unread(kind, size)
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
