// Package planted plants single faults into real captures. Its tests show that the verifiers find each of them, on its frame, under
// its rule and at its endpoint, and that changes which harm nothing are not taken for faults.
package planted

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Capture is a classic pcap file taken apart, so that its frames can be changed one by one.
type Capture struct {
	Link   fabricagent.LinkType
	Frames []*Frame
	// Accepted holds the frames on which the finding may be; empty: the frame that the fault was planted into.
	Accepted []*Frame
}

// Frame is one record of a capture. Where Packet is set, the frame is written from Head, Packet and Tail, else Raw is written.
type Frame struct {
	Time   int64 // nanoseconds since the Unix epoch
	Head   []byte
	Packet *packet.Packet // Payload, Pad and Data are the frame's own
	Tail   []byte         // Ethernet padding after the packet, padding of an ERF record
	Raw    []byte
	Snap   int // bytes to capture of the frame; 0: all
	Wire   int // length on the wire of a frame of which less was captured; 0: all of it was
	Was    int // 1-based number in the capture as it was read; 0: forged
}

const (
	fileHeader   = 24
	recordHeader = 16
	microMagic   = 0xa1b2c3d4
	nanoMagic    = 0xa1b23c4d
	etherHeader  = 14
	vlanTag      = 4
	erfHeader    = 16
)

// Load reads a classic pcap file, of either byte order and resolution.
func Load(path string) (*Capture, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("planted: %w", err)
	}
	if len(b) < fileHeader {
		return nil, fmt.Errorf("planted: %s is too short for a pcap file", path)
	}
	order, unit := binary.ByteOrder(binary.LittleEndian), int64(1)
	if m := binary.BigEndian.Uint32(b); m == microMagic || m == nanoMagic {
		order = binary.BigEndian
	}
	switch order.Uint32(b) {
	case microMagic:
		unit = 1000
	case nanoMagic:
	default:
		return nil, fmt.Errorf("planted: %s is no classic pcap file", path)
	}
	c := &Capture{Link: fabricagent.LinkType(order.Uint32(b[20:]))}
	for b = b[fileHeader:]; len(b) >= recordHeader; {
		n := int(order.Uint32(b[8:]))
		if recordHeader+n > len(b) {
			break
		}
		f := &Frame{Time: int64(order.Uint32(b))*1e9 + int64(order.Uint32(b[4:]))*unit, Was: len(c.Frames) + 1}
		f.Raw = bytes.Clone(b[recordHeader : recordHeader+n])
		if wire := int(order.Uint32(b[12:])); wire > n {
			f.Wire = wire
		} else {
			f.open(c.Link)
		}
		c.Frames = append(c.Frames, f)
		b = b[recordHeader+n:]
	}
	return c, nil
}

// open decodes a frame that holds an RDMA packet right after its link header.
func (f *Frame) open(link fabricagent.LinkType) {
	at, inner := etherHeader, link
	if link == fabricagent.LinkERF {
		at, inner = erfHeader, fabricagent.LinkInfiniBand
		for more := f.Raw[8]&0x80 != 0; more; at += 8 {
			more = f.Raw[at]&0x80 != 0
		}
	}
	if link == fabricagent.LinkEthernet {
		for at+4 < len(f.Raw) && (f.Raw[at-2] == 0x81 && f.Raw[at-1] == 0 || f.Raw[at-2] == 0x88 && f.Raw[at-1] == 0xA8) {
			at += vlanTag
		}
	}
	data, wire := f.Raw, len(f.Raw)
	if link == fabricagent.LinkERF {
		wire = int(binary.BigEndian.Uint16(f.Raw[14:]))
		data = f.Raw[at:min(len(f.Raw), at+wire)]
	}
	p := new(packet.Packet)
	frame := fabricagent.Frame{Link: inner, Len: uint32(wire), Data: bytes.Clone(data)}
	if fabricagent.Decode(&frame, p) != fabricagent.RDMA || p.Cut {
		return
	}
	f.Head, f.Packet = bytes.Clone(f.Raw[:at]), p
	f.Tail = bytes.Clone(f.Raw[at+len(p.Data):])
}

// bytes writes a frame.
func (f *Frame) bytes(link fabricagent.LinkType) []byte {
	if f.Packet == nil {
		return f.Raw
	}
	b := f.Packet.Append(bytes.Clone(f.Head))
	if link != fabricagent.LinkERF {
		return append(b, f.Tail...)
	}
	binary.BigEndian.PutUint16(b[14:], uint16(len(b)-len(f.Head)))
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	binary.BigEndian.PutUint16(b[10:], uint16(len(b)))
	return b
}

// Bytes writes the capture as a pcap file with nanoseconds.
func (c *Capture) Bytes() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, nanoMagic)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint32(b, 1<<18)
	b = le.AppendUint32(b, uint32(c.Link))
	for _, f := range c.Frames {
		raw := f.bytes(c.Link)
		have := raw
		if f.Snap > 0 {
			have = raw[:min(f.Snap, len(raw))]
		}
		b = le.AppendUint32(b, uint32(f.Time/1e9))
		b = le.AppendUint32(b, uint32(f.Time%1e9))
		b = le.AppendUint32(b, uint32(len(have)))
		b = le.AppendUint32(b, uint32(max(len(raw), f.Wire)))
		b = append(b, have...)
	}
	return b
}

// Clone copies a capture with all its frames.
func (c *Capture) Clone() *Capture {
	d := &Capture{Link: c.Link}
	for _, f := range c.Frames {
		d.Frames = append(d.Frames, f.Clone())
	}
	return d
}

// Clone copies a frame; the copy represents the same frame of the file.
func (f *Frame) Clone() *Frame {
	g := *f
	g.Head, g.Tail, g.Raw = bytes.Clone(f.Head), bytes.Clone(f.Tail), bytes.Clone(f.Raw)
	if f.Packet != nil {
		p := *f.Packet
		p.Payload, p.Pad, p.Data = bytes.Clone(p.Payload), bytes.Clone(p.Pad), bytes.Clone(p.Data)
		g.Packet = &p
	}
	return &g
}

// Frame returns the frame that had this number in the file, or nil.
func (c *Capture) Frame(was int) *Frame {
	if i := c.index(was); i >= 0 {
		return c.Frames[i]
	}
	return nil
}

func (c *Capture) index(was int) int {
	return slices.IndexFunc(c.Frames, func(f *Frame) bool { return f.Was == was })
}

// Number returns the number that a frame has now.
func (c *Capture) Number(f *Frame) uint64 { return uint64(slices.Index(c.Frames, f) + 1) }
