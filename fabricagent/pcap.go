package fabricagent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"ibwitness/packet"
)

// The magic numbers of pcap files, as their first four bytes read in the byte order of the file.
const (
	magicMicro     = 0xa1b2c3d4
	magicNano      = 0xa1b23c4d
	magicKuznetzov = 0xa1b2cd34 // records carry an interface index and a packet type too

	pcapHeader      = 24
	pcapRecord      = 16
	kuznetzovRecord = 24

	// maxCaptured is the largest snap length of tcpdump. A record above it, and above the snap length of its file, is
	// garbage; so is every record above maxFrame, and a wire length above maxWire.
	maxCaptured = 256 << 10
	maxFrame    = 512 << 10
	maxWire     = 16 << 20
)

// pcapReader reads a classic pcap file of either byte order.
type pcapReader struct {
	*input
	swap    bool // the file's byte order is not little-endian
	unit    int64
	record  int // size of a record header
	max     uint32
	link    LinkType
	tap     uint16
	ports   ports
	special bool // frames need a second look: kuznetzov, ERF, Linux cooked v2
	further byte // of bytes that usual reads so that they are near; no one needs it
}

// pcapMagic returns the magic of a pcap file and whether it is big-endian, or zero.
func pcapMagic(head []byte) (magic uint32, swap bool) {
	m := binary.LittleEndian.Uint32(head)
	for _, k := range [...]uint32{magicMicro, magicNano, magicKuznetzov} {
		switch m {
		case k:
			return k, false
		case bits.ReverseBytes32(k):
			return k, true
		}
	}
	return 0, false
}

func newPcapReader(in *input) (reader, error) {
	if !in.need(pcapHeader) {
		return nil, in.ended(0, "its file header")
	}
	h := in.buf[in.r:]
	magic, swap := pcapMagic(h)
	p := &pcapReader{input: in, swap: swap, unit: 1, record: pcapRecord, max: maxCaptured}
	if magic != magicNano {
		p.unit = 1000
	}
	if magic == magicKuznetzov {
		p.record = kuznetzovRecord
	}
	snap := p.u32(h[16:])
	if snap > maxCaptured {
		p.max = min(snap, maxFrame)
	}
	// The upper half of the word tells the length of the FCS that frames end with. Lengths come from the headers of the
	// network layer, so it does not matter here.
	p.link = LinkType(p.u32(h[20:]))
	if !p.link.Supported() {
		return nil, in.unknownLink(p.link.String())
	}
	tap, ok := in.taps.add(Tap{File: in.path, Link: p.link, SnapLen: snap})
	if !ok {
		return nil, in.garbage(0, errTooManyTaps)
	}
	p.tap = tap
	p.ports = ports{list: in.taps, base: tap}
	p.special = magic == magicKuznetzov || p.link == LinkERF || p.link == LinkLinuxSLL2
	in.known = p.link != LinkERF
	in.r += pcapHeader
	return p, nil
}

var errTooManyTaps = errors.New("more than 65,536 interfaces in one run: give fewer files at a time")

func (p *pcapReader) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.swap {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// fill appends frames until the lot is full.
func (p *pcapReader) fill(l *lot) error {
	for {
		need, err := p.parse(l)
		switch {
		case err != nil:
			return p.garbage(p.number+1, err)
		case len(l.Frames) == BatchSize:
			return nil
		case !p.need(need):
			return p.end()
		}
	}
}

// parse appends the frames that are wholly read, and returns how many unconsumed bytes it needs to go on.
func (p *pcapReader) parse(l *lot) (need int, err error) {
	in, first := p.input, len(l.Frames)
	frames, b, n := l.space[first:], in.buf[in.r:in.w], 0
	if !p.swap && !p.special {
		n, b = p.usual(frames, b)
	}
	for n < len(frames) {
		var rest []byte
		if rest, need, err = p.frame(&frames[n], b); need > 0 || err != nil {
			break
		}
		b = rest
		n++
		frames[n-1].Number = in.number + uint64(n)
	}
	if n > 0 {
		l.holdBlock(in.blk)
		l.Frames = l.space[:first+n]
		in.number += uint64(n)
	}
	in.r = in.w - len(b)
	return need, err
}

// usual fills in the frames of the records that b begins with, as far as nothing is out of the ordinary with them, in a file that is neither
// special nor swapped. It returns how many there are, and what is left of b. This loop is why the reader keeps up with the disk: it touches
// nothing but the record, the frame and a few variables of its own. Where a record begins is known only when the one before it has come from the second-level cache, so that a byte
// further on is read for nothing, which does not wait for that: by then its line is there.
func (p *pcapReader) usual(frames []Frame, b []byte) (n int, rest []byte) {
	const ahead = 512
	limit, unit, tap, link, number, further := p.max, p.unit, p.tap, p.link, p.number, p.further
	for n < len(frames) && len(b) >= pcapRecord {
		x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		size, wire := uint32(y), uint32(y>>32)
		end := pcapRecord + int(size)
		if size > limit || wire > maxWire || y == 0 || len(b) < end {
			break
		}
		number++
		f := &frames[n]
		n++
		f.Time = int64(uint32(x))*1e9 + int64(x>>32)*unit
		f.Number = number
		f.Tap, f.Link, f.Way = tap, link, packet.WayUnknown
		f.Len = max(wire, size)
		f.Data = b[pcapRecord:end:end]
		if b = b[end:]; len(b) > ahead+64 {
			further |= b[ahead] | b[ahead+64]
		}
	}
	p.further = further
	return n, b
}

// frame fills in the frame of the record that b begins with, but for its number, and returns what is after it, or how many bytes b must have.
func (p *pcapReader) frame(f *Frame, b []byte) (rest []byte, need int, err error) {
	if len(b) < p.record {
		return nil, p.record, nil
	}
	sec, frac, size, wire := p.u32(b), p.u32(b[4:]), p.u32(b[8:]), p.u32(b[12:])
	if magic, _ := pcapMagic(b); size|wire == 0 && magic != 0 { // of its header the time zone and the accuracy are 0
		return nil, 0, errNextFile
	}
	if size > p.max || wire > maxWire || sec|frac|size|wire == 0 {
		return nil, 0, absurdRecord(size, wire, p.max)
	}
	end := p.record + int(size)
	if len(b) < end {
		return nil, end, nil
	}
	f.Time = int64(sec)*1e9 + int64(frac)*p.unit
	f.Tap, f.Link, f.Way = p.tap, p.link, packet.WayUnknown
	f.Len = max(wire, size)
	f.Data = b[p.record:end:end]
	if p.special {
		p.look(f, b[:p.record])
	}
	return b[end:], 0, nil
}

// end is the end of the input before or inside a record.
func (p *pcapReader) end() error {
	if p.w == p.r && p.err == io.EOF {
		return p.finish()
	}
	return p.ended(p.number+1, "a record")
}

var errNextFile = errors.New("another capture begins here, as in files that were put together by cat: give each by itself, or put them together by mergecap")

// absurdRecord says why a record header is garbage.
func absurdRecord(size, wire, limit uint32) error {
	switch {
	case size > limit:
		return fmt.Errorf("a captured length of %d bytes, where at most %d are plausible", size, limit)
	case wire > maxWire:
		return fmt.Errorf("a wire length of %d bytes, where at most %d are plausible", wire, maxWire)
	}
	return errors.New("a record header of zeros")
}

// look takes from a frame what only some captures carry.
func (p *pcapReader) look(f *Frame, h []byte) {
	if p.record == kuznetzovRecord {
		// After the lengths: interface index, protocol, packet type, padding.
		f.Tap = p.ports.tap(f.Link, "ifindex", p.u32(h[16:]))
		f.Way = cookedWay(h[22])
	}
	p.unwrap(f, &p.ports)
}

// unwrap looks into frames whose link type says more than how they are decoded: which port saw it, and for an ERF record
// the frame itself.
func (in *input) unwrap(f *Frame, p *ports) {
	switch f.Link {
	case LinkERF:
		if !unwrapERF(f, in.taps, p) {
			in.strange = fmt.Sprintf("ERF records of type %d", erfType(f.Data))
			return
		}
	case LinkLinuxSLL2:
		if len(f.Data) >= sll2Size {
			f.Tap = p.tap(f.Link, "ifindex", binary.BigEndian.Uint32(f.Data[4:]))
		}
	}
	in.known = true
}

// cookedWay is the direction that a Linux packet type tells: to us, broadcast, multicast, to somebody else, from us.
func cookedWay(t uint8) packet.Way {
	switch t {
	case 0, 1, 2:
		return packet.WayIn
	case 4:
		return packet.WayOut
	}
	return packet.WayUnknown
}
