package verifier

import "ibwitness/packet"

// Copies counts the packets that were seen once more, with the number that their sender gave the first: the network made them, or the capture.
type Copies struct {
	Count       uint64
	Within      int64 // how long after the packet it copies the latest came, of those that came right after it, nanoseconds
	First, Last int64 // when
	Frame       uint64
	Newest      uint64 // frame of the last
	Tap         uint16
}

// note counts copy p of a packet that came so long before, in nanoseconds; less than 0: that is not known.
func (c *Copies) note(p *packet.Packet, since int64) {
	c.Add(&Copies{Count: 1, Within: max(since, 0), First: p.Time, Last: p.Time, Frame: p.Frame, Newest: p.Frame, Tap: p.Tap})
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
	c.Count += o.Count
	c.Within = max(c.Within, o.Within)
}

// CountCopy counts copy p of a packet that came so long before, in nanoseconds; less than 0: that is not known.
func (v *Verifier) CountCopy(p *packet.Packet, since int64) { v.Copies.note(p, since) }
