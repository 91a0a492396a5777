package verifier

import (
	"slices"

	"ibwitness/packet"
)

// Copies counts the packets that were seen once more, with the number that their sender gave the first: the network made them, or the capture.
type Copies struct {
	Count       uint64
	Within      int64 // how long after the packet it copies the latest came, of those that came right after it, nanoseconds
	First, Last int64 // when
	Frame       uint64
	Newest      uint64 // frame of the last
	Tap         uint16
	Routed      uint64   // of them, those that were seen before a router and after it, which are judged no further
	Mirrored    uint64   // of them, those that another mirrored port showed, which are judged no further
	Numbered    uint64   // of them, those of senders that number their packets
	Hops        [2]uint8 // the hop limits of one of these, and of the packet that it copies: the greater first, and the greatest of all
}

// From how many copies on, and from what share of the packets on, as one of so many, it is not the network that makes them.
const (
	fewestCopies = 64
	copiedShare  = 4
	// Of senders that number their packets no retransmission is like a copy.
	numberedShare = 8
)

// Many reports whether n packets are so many, of others that came once, that the network does not make them.
func Many(n, once uint64) bool { return n >= fewestCopies && copiedShare*n >= once }

// Distort reports whether a capture with so many other packets holds a large part of them twice: then copies look like retransmissions and reordering where they come among other packets. Those that were
// seen before and after a router do not: they are judged once.
func (c *Copies) Distort(once uint64) bool {
	return Many(c.Count-c.Routed-c.Mirrored, once) || c.Numbered >= fewestCopies && numberedShare*c.Numbered >= once
}

// note counts copy p of a packet that came so long before, in nanoseconds; less than 0: that is not known.
func (c *Copies) note(p *packet.Packet, since int64) {
	one := Copies{Count: 1, Within: max(since, 0), First: p.Time, Last: p.Time, Frame: p.Frame, Newest: p.Frame, Tap: p.Tap}
	if Numbered(p) {
		one.Numbered = 1
	}
	c.Add(&one)
}

// Route counts a copy that a router has passed on, or the packet as it came to it, so long after the other in nanoseconds, which had another hop limit.
func (c *Copies) Route(p *packet.Packet, since int64, hop uint8) {
	c.Add(&Copies{Count: 1, Routed: 1, Within: since, First: p.Time, Last: p.Time, Frame: p.Frame, Newest: p.Frame, Tap: p.Tap, Hops: [2]uint8{max(hop, p.HopLmt), min(hop, p.HopLmt)}})
}

// Mirror counts a copy that another mirrored port showed.
func (c *Copies) Mirror(p *packet.Packet) {
	c.Add(&Copies{Count: 1, Mirrored: 1, First: p.Time, Last: p.Time, Frame: p.Frame, Newest: p.Frame, Tap: p.Tap})
}

// Add adds what another verifier has counted.
func (c *Copies) Add(o *Copies) {
	if o.Count == 0 {
		return
	}
	if c.Count == 0 || o.First < c.First {
		c.First, c.Frame, c.Tap = o.First, o.Frame, o.Tap
	}
	if c.Count == 0 || o.Last > c.Last {
		c.Last, c.Newest = o.Last, o.Newest
	}
	if slices.Compare(o.Hops[:], c.Hops[:]) > 0 {
		c.Hops = o.Hops
	}
	c.Count += o.Count
	c.Routed += o.Routed
	c.Mirrored += o.Mirrored
	c.Numbered += o.Numbered
	c.Within = max(c.Within, o.Within)
}

// CountCopy counts copy p of a packet that came so long before, in nanoseconds; less than 0: that is not known.
func (v *Verifier) CountCopy(p *packet.Packet, since int64) { v.Copies.note(p, since) }
