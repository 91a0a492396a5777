package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// Capture is a capture whose views are taken.
type Capture struct {
	Name  string
	Near  []packet.Addr // the endpoints that its tap is near
	Pairs [][2]Target

	files []string
	list  []Frame
	taps  []fabricagent.Tap
}

// NewCapture names a capture of one file, or of several taps in a file each. It is read when it is needed.
func NewCapture(name string, files ...string) *Capture { return &Capture{Name: name, files: files} }

// Load reads the capture.
func (c *Capture) Load() error {
	if c.list != nil {
		return nil
	}
	src, err := fabricagent.Open(c.files)
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	defer src.Close()
	ends, at := map[packet.Addr]int{}, int64(0)
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				f := b.Frames[i]
				f.Data = bytes.Clone(f.Data)
				at = max(at, f.Time) // a clock may step back, or one direction be in 1970
				c.list = append(c.list, newFrame(f, at, ends))
			}
			b.Release()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("view: %w", err)
		}
	}
	c.taps = slices.Clone(src.Taps())
	return nil
}

func newFrame(f fabricagent.Frame, at int64, ends map[packet.Addr]int) Frame {
	g := Frame{Frame: f, At: at}
	var p packet.Packet
	if !fabricagent.Decode(&f, &p).IsRDMA() {
		return g
	}
	end, ok := ends[p.Src]
	if !ok {
		end = len(ends) & 1
		ends[p.Src] = end
	}
	const method, response = 3, 0x80
	if p.Src == p.Dst && len(p.Payload) > method && p.Payload[method]&response != 0 { // a directed route: the addresses do not tell
		end ^= 1
	}
	g.End, g.To = end, Target{p.Dst, p.DestQP}
	return g
}

// Frames returns the frames and the taps of a capture that was loaded. Neither may be changed.
func (c *Capture) Frames() ([]Frame, []fabricagent.Tap) { return c.list, c.taps }
