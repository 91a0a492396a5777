package fabricagent

import (
	"bytes"
	"math/bits"
)

// iface reads an interface description block.
func (p *pcapngReader) iface(b []byte) error {
	i := ifaceState{link: LinkType(p.u16(b)), snap: p.u32(b[4:]), clock: newClock(6)}
	name, speed := "", uint64(0)
	for o := (options{b: b[8:], reader: p}); o.next(); {
		switch {
		case o.code == 2: // if_name
			name = brief(o.value)
		case o.code == optSpeed && len(o.value) == 8:
			speed = p.u64(o.value)
		case o.code == 9 && len(o.value) == 1: // if_tsresol
			offset := i.clock.offset
			i.clock = newClock(o.value[0])
			i.clock.offset = offset
		case o.code == 14 && len(o.value) == 8: // if_tsoffset
			i.clock.offset = int64(p.u64(o.value)) * 1e9
		}
	}
	// Each description is a tap of its own, also in a later section under the same name: files of two machines may have
	// been joined.
	tap, ok := p.taps.add(Tap{File: p.path, Interface: name, Link: i.link, SnapLen: i.snap, Speed: speed})
	if !ok {
		return p.garbage(0, errTooManyTaps)
	}
	i.tap = tap
	i.special = i.link == LinkERF || i.link == LinkLinuxSLL2
	i.ports = ports{list: p.taps, base: tap, label: name}
	switch {
	case !i.link.Supported():
		p.strange = i.link.String()
	case i.link != LinkERF:
		p.known = true
	}
	p.ifaces = append(p.ifaces, i)
	return nil
}

// mostName is how many bytes of an interface's name are kept: a file may have 65,536 of them, of 65,535 bytes each.
const mostName = 255

// brief is a name of a file as it is kept.
func brief(text []byte) string {
	text = bytes.TrimRight(text[:min(len(text), mostName)], "\x00")
	return string(bytes.ToValidUTF8(text, []byte("?")))
}

// statistics reads an interface statistics block: its drop counts are totals since the capture began.
func (p *pcapngReader) statistics(b []byte) error {
	i, err := p.at(p.u32(b))
	if err != nil {
		return err
	}
	var dropped uint64
	for o := (options{b: b[12:], reader: p}); o.next(); {
		if (o.code == 5 || o.code == 7) && len(o.value) == 8 { // isb_ifdrop, isb_osdrop
			dropped += p.u64(o.value)
		}
		if o.code == optEnd && len(o.value) == 8 && p.recorded != nil { // isb_endtime
			p.recorded.End = max(p.recorded.End, i.clock.nanoseconds(uint64(p.u32(o.value))<<32|uint64(p.u32(o.value[4:]))))
		}
	}
	i.reported = max(i.reported, dropped)
	total := max(i.lost, i.reported)
	p.taps.change(i.tap, func(t *Tap) { t.Dropped = max(t.Dropped, total) })
	return nil
}

// options walks the options of a block: code, length, value padded to four bytes. It ends where they are malformed,
// since nothing after them depends on them.
type options struct {
	b      []byte
	reader *pcapngReader
	code   uint16
	value  []byte
}

func (o *options) next() bool {
	if len(o.b) < 4 {
		return false
	}
	o.code = o.reader.u16(o.b)
	n := int(o.reader.u16(o.b[2:]))
	if o.code == 0 || 4+n > len(o.b) {
		return false
	}
	o.value = o.b[4 : 4+n]
	o.b = o.b[min(len(o.b), (4+n+3)&^3):]
	return true
}

// clock turns the timestamps of an interface into nanoseconds.
type clock struct {
	mul, div uint64
	shift    uint // where not 0, units are 2^-shift seconds
	binary   bool
	offset   int64 // nanoseconds
}

// newClock takes an if_tsresol: units of 10^-n seconds, or with the top bit set of 2^-n.
func newClock(resolution uint8) clock {
	n := uint(resolution &^ 0x80)
	if resolution&0x80 != 0 {
		return clock{binary: true, shift: n}
	}
	c := clock{mul: 1, div: 1}
	for ; n < 9; n++ {
		c.mul *= 10
	}
	for ; n > 9; n-- {
		if c.div > 1e18 {
			c.mul = 0 // units too small to ever make a nanosecond in 64 bits
			break
		}
		c.div *= 10
	}
	return c
}

func (c *clock) nanoseconds(ts uint64) int64 {
	if !c.binary {
		if c.div == 1 {
			return int64(ts*c.mul) + c.offset
		}
		return int64(ts/c.div*c.mul) + c.offset
	}
	hi, lo := bits.Mul64(ts, 1e9)
	switch {
	case c.shift == 0:
		return int64(lo) + c.offset
	case c.shift < 64:
		return int64(hi<<(64-c.shift)|lo>>c.shift) + c.offset
	}
	return int64(hi>>(c.shift-64)) + c.offset
}
