package planted

import (
	"slices"

	"ibwitness/packet"
)

// A Plant plants a fault into the frame that had number at in the file.
type Plant func(c *Capture, at int)

// seal makes a packet one that its receiver takes for undamaged: checksums over its present bytes.
func seal(p *packet.Packet) {
	p.SealIPv4()
	p.SealICRC()
}

// Set changes fields of a packet and seals it.
func Set(change func(p *packet.Packet)) Plant {
	return func(c *Capture, at int) {
		p := c.Frame(at).Packet
		change(p)
		seal(p)
	}
}

// Unsealed changes a packet and leaves its checksums as they are.
func Unsealed(change func(p *packet.Packet)) Plant {
	return func(c *Capture, at int) { change(c.Frame(at).Packet) }
}

// Each changes every RDMA packet for which which holds.
func Each(which func(p *packet.Packet) bool, change func(p *packet.Packet)) Plant {
	return func(c *Capture, _ int) {
		for _, f := range c.Frames {
			if f.Packet != nil && which(f.Packet) {
				change(f.Packet)
				seal(f.Packet)
			}
		}
	}
}

// Become gives a packet another opcode, with the headers of that opcode; payload stays where the opcode may carry some.
func Become(o packet.Opcode, more ...func(p *packet.Packet)) Plant {
	return Set(func(p *packet.Packet) {
		p.Opcode = o
		if !p.Info().Payload && p.Info().Defined {
			p.Payload = nil
		}
		p.Fit()
		for _, m := range more {
			m(p)
		}
	})
}

// Resize gives a packet a payload of n bytes, all lengths right.
func Resize(n int) Plant {
	return Set(func(p *packet.Packet) { resize(p, n) })
}

func resize(p *packet.Packet, n int) {
	b := make([]byte, n)
	copy(b, p.Payload)
	p.Payload = b
	p.Fit()
}

// Remove takes the frame out; the finding is expected on one of the frames that had the numbers of on.
func Remove(on ...int) Plant {
	return func(c *Capture, at int) {
		i := c.index(at)
		c.Frames = slices.Delete(c.Frames, i, i+1)
		c.accept(on...)
	}
}

// On expects the finding on one of these frames, not where the fault was planted.
func On(p Plant, on ...int) Plant {
	return func(c *Capture, at int) {
		p(c, at)
		c.accept(on...)
	}
}

func (c *Capture) accept(on ...int) {
	for _, n := range on {
		if f := c.Frame(n); f != nil {
			c.Accepted = append(c.Accepted, f)
		}
	}
}

// Insert puts a changed copy of frame from after the frame at, after ns nanoseconds. The copy has another IPv4 identification, as a
// sender's next packet has. The finding is expected on it.
func Insert(from int, ns int64, change func(p *packet.Packet)) Plant {
	return func(c *Capture, at int) { c.Accepted = append(c.Accepted, c.insert(from, at, ns, change)) }
}

func (c *Capture) insert(from, at int, ns int64, change func(p *packet.Packet)) *Frame {
	f := c.Frame(from).Clone()
	f.Was = 0
	i := c.index(at)
	f.Time = c.Frames[i].Time + ns
	f.Packet.IPID += 0x4000
	if change != nil {
		change(f.Packet)
	}
	seal(f.Packet)
	for i++; i < len(c.Frames) && c.Frames[i].Time <= f.Time; i++ {
	}
	c.Frames = slices.Insert(c.Frames, i, f)
	return f
}

// Swap exchanges the places in time of two frames.
func Swap(with int) Plant {
	return func(c *Capture, at int) {
		i, j := c.index(at), c.index(with)
		a, b := c.Frames[i], c.Frames[j]
		a.Time, b.Time = b.Time, a.Time
		c.Frames[i], c.Frames[j] = b, a
	}
}

// Reorder has the sender of two frames send them in the other order: by their IPv4 identifications too.
func Reorder(with int) Plant {
	return func(c *Capture, at int) {
		Swap(with)(c, at)
		a, b := c.Frame(at).Packet, c.Frame(with).Packet
		a.IPID, b.IPID = b.IPID, a.IPID
		seal(a)
		seal(b)
	}
}

// Shift moves frame at and all after it in time.
func Shift(ns int64) Plant {
	return func(c *Capture, at int) {
		for _, f := range c.Frames[c.index(at):] {
			f.Time += ns
		}
	}
}

// All plants several things.
func All(plants ...Plant) Plant {
	return func(c *Capture, at int) {
		for _, p := range plants {
			p(c, at)
		}
	}
}

// At plants elsewhere than the frame that the finding is expected on.
func At(where int, p Plant) Plant {
	return func(c *Capture, _ int) { p(c, where) }
}
