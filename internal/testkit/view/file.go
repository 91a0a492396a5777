package view

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"ibwitness/fabricagent"
)

// units are resolutions that interfaces of a pcapng have, as if_tsresol names them: powers of ten, or of two with the first bit set.
var units = []uint8{3, 6, 6, 7, 9, 9, 0x80 | 10, 0x80 | 20, 0x80 | 32}

// Interfaces has the capture be a pcapng of several interfaces, each direction seen by one of its own or by any, each with a resolution of its own.
func (v *View) Interfaces() {
	n, base := len(v.Taps), v.units
	ways := pick(v, 1, 2, 2)
	for len(base) < n {
		base = append(base, pick(v, units...))
	}
	v.units = base
	if ways == 2 {
		for _, t := range slices.Clone(v.Taps) {
			t.Interface += " other way"
			v.Taps = append(v.Taps, t)
			v.units = append(v.units, pick(v, units...))
		}
		v.each(from(1), func(f *Frame) { f.Tap += uint16(n) })
		v.Near = nil
	}
	v.Say("interfaces %d times, of resolutions %x", ways, v.units)
}

// Blocks of pcapng, and options.
const (
	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockStatistics = 5
	blockPacket     = 6
	optName         = 2
	optDropped      = 5
	optResolution   = 9
)

// Bytes writes a view, which is finished, as one pcapng file: an interface for each tap.
func (v *View) Bytes() []byte {
	le := binary.LittleEndian
	b := block(nil, blockSection, func(b []byte) []byte {
		b = le.AppendUint32(b, 0x1a2b3c4d)
		b = le.AppendUint32(b, 1)
		return le.AppendUint64(b, 1<<64-1)
	})
	for i, t := range v.Taps {
		b = block(b, blockInterface, func(b []byte) []byte {
			b = le.AppendUint32(b, uint32(t.Link))
			b = le.AppendUint32(b, t.SnapLen)
			b = option(b, optName, []byte(t.Interface))
			b = option(b, optResolution, []byte{v.unit(i)})
			return le.AppendUint32(b, 0)
		})
	}
	if !v.Hidden {
		b = v.statistics(b)
	}
	for i := range v.Frames {
		f := &v.Frames[i]
		b = block(b, blockPacket, func(b []byte) []byte {
			t := stamp(f.Time, v.unit(int(f.Tap)))
			b = le.AppendUint32(b, uint32(f.Tap))
			b = le.AppendUint32(b, uint32(t>>32))
			b = le.AppendUint32(b, uint32(t))
			b = le.AppendUint32(b, uint32(len(f.Data)))
			b = le.AppendUint32(b, max(f.Len, uint32(len(f.Data))))
			return padded(b, f.Data)
		})
	}
	if v.Hidden {
		b = v.statistics(b)
	}
	return b
}

// statistics tells what the interfaces have dropped.
func (v *View) statistics(b []byte) []byte {
	le := binary.LittleEndian
	for i, t := range v.Taps {
		if t.Dropped > 0 {
			b = block(b, blockStatistics, func(b []byte) []byte {
				b = le.AppendUint32(b, uint32(i))
				b = le.AppendUint64(b, 0)
				b = option(b, optDropped, le.AppendUint64(nil, t.Dropped))
				return le.AppendUint32(b, 0)
			})
		}
	}
	return b
}

// unit is the if_tsresol of an interface.
func (v *View) unit(tap int) uint8 {
	if tap < len(v.units) {
		return v.units[tap]
	}
	return 9
}

// stamp writes a time in nanoseconds in units of an if_tsresol, rounded down.
func stamp(t int64, unit uint8) uint64 {
	if unit&0x80 != 0 {
		hi, lo := bits.Mul64(uint64(t), 1<<(unit&0x7f))
		q, _ := bits.Div64(hi, lo, 1e9)
		return q
	}
	u := uint64(t)
	for ; unit < 9; unit++ {
		u /= 10
	}
	for ; unit > 9; unit-- {
		u *= 10
	}
	return u
}

func block(b []byte, kind uint32, body func([]byte) []byte) []byte {
	le := binary.LittleEndian
	at := len(b)
	b = le.AppendUint32(b, kind)
	b = body(le.AppendUint32(b, 0))
	n := uint32(len(b) - at + 4)
	le.PutUint32(b[at+4:], n)
	return le.AppendUint32(b, n)
}

func option(b []byte, code uint16, value []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	return padded(b, value)
}

func padded(b, value []byte) []byte {
	b = append(b, value...)
	return append(b, make([]byte, -len(value)&3)...)
}

// tapLike returns a tap of the view with the link type of another one, and adds it where there is none.
func (v *View) tapLike(t fabricagent.Tap) uint16 {
	for i := range v.Taps {
		if v.Taps[i].Link == t.Link {
			return uint16(i)
		}
	}
	t.File = v.Taps[0].File
	v.Taps = append(v.Taps, t)
	return uint16(len(v.Taps) - 1)
}
