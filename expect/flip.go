package expect

import (
	"fmt"
	"math/bits"

	"ibwitness/packet"
)

// Flip is the bits of one byte of an actual packet that were flipped on its way, as its wrong ICRC shows.
type Flip struct {
	At    int    // offset of the byte, as that of a Field
	Bits  byte   // which of its bits
	Where string // the field that they are in, in words
}

// One reports whether it is one bit.
func (f *Flip) One() bool { return bits.OnesCount8(f.Bits) == 1 }

// Flip returns the bits that were flipped, where those of one byte explain the wrong ICRC of the actual packet; Bits are 0 where none do. looked is false where its ICRC is
// right, or was not judged. See packet.Packet.Flipped.
func (c *Comparison) Flip() (f Flip, looked bool) { return c.flip, c.damaged }

// findFlip looks for bits that were flipped in packet p, the actual one.
func (c *Comparison) findFlip(p *packet.Packet) {
	c.damaged = true
	if at, flipped, ok := p.Flipped(); ok {
		c.flip = Flip{at, flipped, c.where(8*at + bits.LeadingZeros8(flipped))}
	}
}

// where names what a bit of the actual packet is in.
func (c *Comparison) where(bit int) string {
	list, end := spans(&c.actual)
	for _, s := range list {
		for id := VL; id <= InvRKey; id++ {
			if specs[id].in&s.has == 0 {
				continue
			}
			if at, n := id.place(s.has); bit >= 8*s.at+at && bit < 8*s.at+at+n {
				return id.called(s.has)
			}
		}
	}
	switch at := bit/8 - end; {
	case at < 0:
		return "a header"
	case at < c.actual.PayloadLen:
		return fmt.Sprintf("byte %d of the payload", at)
	case at < c.actual.PayloadLen+int(c.actual.PadCnt):
		return "the pad"
	}
	return "the ICRC itself"
}
