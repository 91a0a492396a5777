package fabricagent

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"ibwitness/link"
)

// An ERF record: timestamp (8, little-endian), type, flags, record length, loss counter or colour, wire length (all
// big-endian), extension headers of 8 bytes each where the type has its top bit set, then for Ethernet two bytes of
// offset and padding (Endace "ERF types").
const (
	erfHeader    = 16
	erfExtension = 8
	erfMore      = 0x80 // in the type byte and in the first byte of an extension header: one more extension header

	erfEthernet          = 2
	erfColorEthernet     = 11
	erfDSMColorEthernet  = 16
	erfColorHashEthernet = 20
	erfInfiniBand        = 21
	erfIPv4              = 22
	erfIPv6              = 23
	erfInfiniBandLink    = 25 // a link packet
	erfPad               = 48
)

// erfReader reads a file of ERF records, which has no file header.
type erfReader struct {
	*input
	tap   uint16
	ports ports
}

func newERFReader(in *input) (reader, error) {
	tap, ok := in.taps.add(Tap{File: in.path, Link: LinkERF})
	if !ok {
		return nil, in.garbage(0, errTooManyTaps)
	}
	return &erfReader{input: in, tap: tap, ports: ports{list: in.taps, base: tap}}, nil
}

func erfType(rec []byte) uint8 {
	if len(rec) < erfHeader {
		return 0
	}
	return rec[8] &^ erfMore
}

// plausibleERF reports whether b may be an ERF record header. Types 1 to 31 and 48 are assigned.
func plausibleERF(b []byte) bool {
	t := erfType(b)
	return (t >= 1 && t <= 31 || t == erfPad) && binary.BigEndian.Uint16(b[10:]) >= erfHeader
}

// looksLikeERF judges the start of an input; whole says that nothing follows. It wants a time since 1990 in the first
// record, lengths that agree, and the next records plausible too.
func looksLikeERF(b []byte, whole bool) bool {
	if len(b) < erfHeader || printable(b) {
		return false
	}
	if sec := binary.LittleEndian.Uint32(b[4:]); sec < 631152000 {
		return false
	}
	for n := 0; n < 16 && len(b) >= erfHeader; n++ {
		if !plausibleERF(b) {
			return false
		}
		size, wire := int(binary.BigEndian.Uint16(b[10:])), int(binary.BigEndian.Uint16(b[14:]))
		switch erfType(b) {
		case erfEthernet, erfColorEthernet, erfDSMColorEthernet, erfColorHashEthernet, erfInfiniBand, erfInfiniBandLink, erfIPv4, erfIPv6:
			// Header, up to a few extension headers, the frame, padding to eight bytes.
			if wire == 0 || size > erfHeader+8*erfExtension+2+wire+7 {
				return false
			}
		default:
			if n == 0 && (size > len(b) && whole || erfType(b) == erfPad) {
				return false
			}
		}
		b = b[min(size, len(b)):]
	}
	return true
}

// fill appends frames until the lot is full.
func (e *erfReader) fill(l *lot) error {
	in := e.input
	for len(l.Frames) < BatchSize {
		if in.w-in.r < erfHeader && !in.need(erfHeader) {
			if in.w == in.r && in.err == io.EOF {
				return in.finish()
			}
			return in.ended(in.number+1, "a record header")
		}
		h := in.buf[in.r:]
		if !plausibleERF(h) {
			return in.garbage(in.number+1, absurdERF(h))
		}
		size := int(binary.BigEndian.Uint16(h[10:]))
		if in.w-in.r < size && !in.need(size) {
			return in.ended(in.number+1, "a record")
		}
		rec := in.buf[in.r : in.r+size : in.r+size]
		in.r += size
		if erfType(rec) == erfPad {
			continue // Wireshark does not count them
		}
		in.number++
		f := l.add(in.blk)
		wire := uint32(binary.BigEndian.Uint16(rec[14:]))
		*f = Frame{Time: erfTime(rec), Number: in.number, Tap: e.tap, Link: LinkERF, Len: wire, Data: rec}
		in.unwrap(f, &e.ports)
	}
	return nil
}

func absurdERF(h []byte) error {
	if size := binary.BigEndian.Uint16(h[10:]); size < erfHeader {
		return fmt.Errorf("an ERF record of %d bytes, less than its header", size)
	}
	return fmt.Errorf("an ERF record of type %d, which is not assigned", erfType(h))
}

// erfTime is the time of a record: seconds since the epoch with 32 fraction bits, rounded to nanoseconds.
func erfTime(rec []byte) int64 {
	ts := binary.LittleEndian.Uint64(rec)
	hi, lo := bits.Mul64(ts&0xffffffff, 1e9)
	return int64(ts>>32)*1e9 + int64(hi<<32|(lo+1<<31)>>32)
}

// unwrapERF turns a frame that is an ERF record into the frame inside it, and adds its loss counter to its tap. It does not change
// the frame, and is false, where the record is of another kind or is cut off inside its own headers.
func unwrapERF(f *Frame, list *tapList, p *ports) bool {
	rec := f.Data
	if len(rec) < erfHeader {
		return false
	}
	at, ok := erfFrame(rec)
	if !ok {
		return false
	}
	kind, lossy, ok := p.erfLink(erfType(rec))
	if !ok {
		return false
	}
	if kind == LinkEthernet {
		at += 2
	}
	// A pcap record may hold less than the ERF record, and the ERF record is padded beyond the frame.
	end := min(len(rec), int(binary.BigEndian.Uint16(rec[10:])))
	if at > end {
		return false
	}
	wire := int(binary.BigEndian.Uint16(rec[14:]))
	end = min(end, at+wire)
	if t := erfTime(rec); t != 0 {
		f.Time = t
	}
	port, lost := rec[9]&3, binary.BigEndian.Uint16(rec[12:])
	f.Link, f.Len, f.Data = kind, uint32(wire), rec[at:end:end]
	f.Tap = p.tap(kind, "port", uint32(port))
	if kind == LinkTap {
		k := link.Data
		if erfType(rec) == erfInfiniBandLink {
			k = link.Packet
		}
		onLink(f, k, rec[at-link.HeaderSize:end:end], link.Mark{Link: p.base<<1 | uint16(port>>1), Port: port & 1})
	}
	if lossy && lost != 0 {
		list.change(f.Tap, func(t *Tap) { t.Dropped += uint64(lost) })
	}
	return true
}

// erfFrame is where the frame of a record begins, but for two bytes before one of Ethernet; false where the record is cut off in its extension headers.
func erfFrame(rec []byte) (at int, ok bool) {
	at = erfHeader
	for more := rec[8]&erfMore != 0; more; at += erfExtension {
		if at+erfExtension > len(rec) {
			return 0, false
		}
		more = rec[at]&erfMore != 0
	}
	return at, true
}

// erfLink is the link type of the frames in records of a type, and whether these count losses; ok is false for records of another kind.
func (p *ports) erfLink(t byte) (kind LinkType, lossy, ok bool) {
	switch t {
	case erfEthernet:
		return LinkEthernet, true, true
	case erfColorEthernet, erfDSMColorEthernet, erfColorHashEthernet:
		return LinkEthernet, false, true // the loss counter's place holds the colour
	case erfInfiniBand:
		if p.link {
			return LinkTap, true, true
		}
		return LinkInfiniBand, true, true
	case erfInfiniBandLink:
		p.link = true
		return LinkTap, true, true
	case erfIPv4:
		return LinkIPv4, true, true
	case erfIPv6:
		return LinkIPv6, true, true
	}
	return 0, false, false
}

// onLink gives a frame the header of a link tap; b is the frame with room for it in front, where its own headers, no longer needed, were. Ports 0
// and 1 of a card are the two directions of a link, 2 and 3 those of another.
func onLink(f *Frame, k link.Kind, b []byte, m link.Mark) {
	link.AppendHeader(b[:0], k, m)
	f.Data = b
	f.Len += link.HeaderSize
}
