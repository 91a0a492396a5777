package fabricagent

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"ibwitness/packet"
)

// Writer writes a pcapng: one section, an interface for each tap, times in nanoseconds.
type Writer struct {
	w   *bufio.Writer
	buf []byte // of the block that is being written
	n   int    // interfaces
	err error
}

// The options that Writer writes.
const (
	optComment     = 1
	optIfName      = 2 // of an interface
	optFlags       = 2 // of a packet
	optEnd         = 3 // of interface statistics
	optApplication = 4
	optDropped     = 5 // of interface statistics
	optSpeed       = 8
	optResolution  = 9
)

// NewWriter begins a pcapng on w. application, where not empty, is noted as the program that wrote it. Errors show at the calls that follow.
func NewWriter(w io.Writer, application string) *Writer { return NewRecording(w, application, nil) }

// NewRecording begins a pcapng as NewWriter does, and says of which run it is, where run is not nil. What is in it of the end does not count: see End.
func NewRecording(w io.Writer, application string, run *Recorded) *Writer {
	p := &Writer{w: bufio.NewWriterSize(w, 1<<16)}
	p.begin(blockSection)
	p.u32(orderMagic)
	p.u16(1)
	p.u16(0)
	p.u32(0xffffffff) // the length of the section is not known
	p.u32(0xffffffff)
	if run != nil {
		p.option(optComment, []byte(run.comment()))
	}
	if application != "" {
		p.option(optApplication, []byte(application))
	}
	if run != nil || application != "" {
		p.endOptions()
	}
	p.end()
	return p
}

// AddTap describes the next tap: Interface, Link, SnapLen and Speed count. It returns the index that frames name it by.
func (p *Writer) AddTap(t Tap) (uint16, error) {
	if p.n > 0xffff {
		return 0, errTooManyTaps
	}
	p.begin(blockInterface)
	p.u16(uint16(t.Link))
	p.u16(0)
	p.u32(t.SnapLen)
	if t.Interface != "" {
		p.option(optIfName, []byte(t.Interface))
	}
	if t.Speed != 0 {
		p.option(optSpeed, binary.LittleEndian.AppendUint64(nil, t.Speed))
	}
	p.option(optResolution, []byte{9})
	p.endOptions()
	p.end()
	p.n++
	return uint16(p.n - 1), p.err
}

// Name writes names of addresses, IPv4 or IPv6.
func (p *Writer) Name(names map[packet.Addr]string) error {
	const end, ipv4, ipv6 = 0, 1, 2
	list := slices.Collect(maps.Keys(names))
	slices.SortFunc(list, func(a, b packet.Addr) int { return strings.Compare(names[a], names[b]) })
	p.begin(blockNames)
	for _, a := range list {
		ip, err := netip.ParseAddr(a.String())
		if err != nil {
			continue // a LID
		}
		if ip.Is4() {
			p.u16(ipv4)
		} else {
			p.u16(ipv6)
		}
		value := append(ip.AsSlice(), names[a]+"\x00"...)
		p.u16(uint16(len(value)))
		p.padded(value)
	}
	p.u32(end)
	p.end()
	return p.err
}

// Drops says that an interface has lost so many frames up to here, in all.
func (p *Writer) Drops(tap uint16, n uint64, at int64) error {
	return p.statistics(tap, at, optDropped, binary.LittleEndian.AppendUint64(nil, n))
}

// End says when the run ended that the frames are of. A tap was added.
func (p *Writer) End(at int64) error {
	high := binary.LittleEndian.AppendUint32(nil, uint32(uint64(at)>>32))
	return p.statistics(0, at, optEnd, binary.LittleEndian.AppendUint32(high, uint32(at)))
}

func (p *Writer) statistics(tap uint16, at int64, option uint16, value []byte) error {
	p.begin(blockStatistics)
	p.u32(uint32(tap))
	p.u32(uint32(uint64(at) >> 32))
	p.u32(uint32(at))
	p.option(option, value)
	p.endOptions()
	p.end()
	return p.err
}

// Write writes a frame, which names a tap that was added, with comments.
func (p *Writer) Write(f *Frame, comments ...string) error {
	if int(f.Tap) >= p.n {
		return fmt.Errorf("fabricagent: a frame of tap %d where %d are described: add the tap first", f.Tap, p.n)
	}
	p.begin(blockEnhancedPacket)
	p.u32(uint32(f.Tap))
	p.u32(uint32(uint64(f.Time) >> 32))
	p.u32(uint32(f.Time))
	p.u32(uint32(len(f.Data)))
	p.u32(max(f.Len, uint32(len(f.Data))))
	p.padded(f.Data)
	options := f.Way != packet.WayUnknown
	for _, c := range comments {
		if c != "" {
			p.option(optComment, []byte(c))
			options = true
		}
	}
	switch f.Way {
	case packet.WayIn:
		p.option(optFlags, []byte{1, 0, 0, 0})
	case packet.WayOut:
		p.option(optFlags, []byte{2, 0, 0, 0})
	}
	if options {
		p.endOptions()
	}
	p.end()
	return p.err
}

// Flush writes what is still buffered.
func (p *Writer) Flush() error {
	if p.err != nil {
		return p.err
	}
	return p.fail(p.w.Flush())
}

func (p *Writer) fail(err error) error {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("fabricagent: writing a capture: %w", err)
	}
	return p.err
}

func (p *Writer) begin(kind uint32) {
	p.buf = binary.LittleEndian.AppendUint32(p.buf[:0], kind)
	p.u32(0)
}

// end sets the length of the block and writes it.
func (p *Writer) end() {
	n := uint32(len(p.buf) + 4)
	binary.LittleEndian.PutUint32(p.buf[4:], n)
	p.u32(n)
	if p.err == nil {
		_, err := p.w.Write(p.buf)
		p.fail(err)
	}
}

func (p *Writer) u16(v uint16) { p.buf = binary.LittleEndian.AppendUint16(p.buf, v) }
func (p *Writer) u32(v uint32) { p.buf = binary.LittleEndian.AppendUint32(p.buf, v) }

// padded writes bytes up to a multiple of four.
func (p *Writer) padded(b []byte) {
	p.buf = append(p.buf, b...)
	p.buf = append(p.buf, make([]byte, -len(b)&3)...)
}

// option writes an option, whose length has 16 bits.
func (p *Writer) option(code uint16, value []byte) {
	value = value[:min(len(value), 0xffff)]
	p.u16(code)
	p.u16(uint16(len(value)))
	p.padded(value)
}

func (p *Writer) endOptions() { p.u32(0) }
