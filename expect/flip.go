package expect

import (
	"fmt"
	"math/bits"
	"strings"

	"ibwitness/packet"
)

// Flip is the bits of one byte of an actual packet that were flipped on its way, as its wrong ICRC shows, or the same bit of two bytes.
type Flip struct {
	At    int    // offset of the byte, as that of a Field
	Bits  byte   // which of its bits
	Where string // the field that they are in, in words
	Also  int    // offset of the other byte of which the bit was flipped, after At; 0: of none
	Came  byte   // that byte as it came, at At
}

const ofPayload = " of the payload"

// One reports whether it is one bit.
func (f *Flip) One() bool { return bits.OnesCount8(f.Bits) == 1 && f.Also == 0 }

// OfPayload reports whether it is in the payload, which no sender changes after it has computed the ICRC, as it may a field of the headers.
func (f *Flip) OfPayload() bool { return strings.HasSuffix(f.Where, ofPayload) }

// Flip returns the bits that were flipped, where those of one byte explain the wrong ICRC of the actual packet, or the same bit of two; Bits are 0 where none do. looked is false where its
// ICRC is right, or was not judged. See packet.Packet.Flipped and FlippedPair.
func (c *Comparison) Flip() (f Flip, looked bool) { return c.flip, c.damaged }

// findFlip looks for bits that were flipped in packet p, the actual one.
func (c *Comparison) findFlip(p *packet.Packet) {
	c.damaged = true
	if at, flipped, ok := p.Flipped(); ok {
		c.flip = Flip{At: at, Bits: flipped, Where: c.where(8*at + bits.LeadingZeros8(flipped)), Came: p.Data[at]}
		return
	}
	if at, flipped, ok := p.FlippedPair(); ok {
		c.flip = Flip{at[0], flipped, c.where(8*at[0] + bits.LeadingZeros8(flipped)), at[1], p.Data[at[0]]}
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
		return fmt.Sprintf("byte %d", at) + ofPayload
	case at < c.actual.PayloadLen+int(c.actual.PadCnt):
		return "the pad"
	}
	return "the ICRC itself"
}
