package planted

import (
	"math/rand/v2"
	"slices"
)

// frameMutation changes where a frame is. It reports whether it could.
type frameMutation struct {
	name string
	do   func(r *rand.Rand, c *Capture, i int) bool
}

var frameMutations = []frameMutation{
	{"deleted", func(_ *rand.Rand, c *Capture, i int) bool {
		c.Frames = slices.Delete(c.Frames, i, i+1)
		return true
	}},
	{"sent twice", func(r *rand.Rand, c *Capture, i int) bool {
		f := c.Frames[i].Clone()
		f.Was = 0
		f.Packet.IPID += 0x4000
		f.Time += 1000 * int64(1+r.IntN(200))
		seal(f.Packet)
		for i++; i < len(c.Frames) && c.Frames[i].Time <= f.Time; i++ {
		}
		c.Frames = slices.Insert(c.Frames, i, f)
		return true
	}},
	{"moved", func(r *rand.Rand, c *Capture, i int) bool {
		j := i + step(r)/4
		if j == i || j < 0 || j >= len(c.Frames) {
			return false
		}
		f := c.Frames[i].Clone()
		f.Time = c.Frames[j].Time
		c.Frames = slices.Insert(slices.Delete(c.Frames, i, i+1), j, f)
		return true
	}},
}
