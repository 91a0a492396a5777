package ladder

import (
	"bytes"
	"slices"

	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

const (
	before, after           = 26, 13  // packets around the offending one that are kept
	beforeProof, afterProof = 3, 3    // and around each frame that proves it
	kept                    = 192     // bytes of a frame that are kept: all headers, in a tunnel too
	mostProof               = Most    // frames that prove a finding and are shown
	mostFrames              = 1 << 18 // frames that are kept in all
)

// Collector picks the frames of ladders out of a finished capture that is read once more: it knows beforehand which findings there are.
type Collector struct {
	flows  []*flowOf
	byWay  map[way][]*flowOf
	anchor map[place][]*flowOf // flows that a frame must show in, be it of them or not
	wants  []want
	frames int
}

// want is one finding.
type want struct {
	finding *rule.Finding
	flow    *flowOf
}

// flowOf is a flow and what was kept of it.
type flowOf struct {
	Flow
	seen    uint64                // packets of it so far
	recent  []Frame               // the newest of them, oldest first, not yet kept
	after   int                   // how many more are kept
	kept    []Frame               // in the order of their places
	anchors map[place]surrounding // what matters
	index   map[place]int         // where that is in kept
}

type surrounding struct{ before, after int }

type place struct {
	tap   uint16
	frame uint64
}

// way is a direction that packets of a flow go.
type way struct {
	src, dst packet.Addr
	qpn      uint32
}

// NewCollector returns a collector for findings, each with its flow.
func NewCollector(findings []*rule.Finding, flows []Flow) *Collector {
	c := &Collector{byWay: map[way][]*flowOf{}, anchor: map[place][]*flowOf{}}
	known := map[Flow]*flowOf{}
	for i, f := range findings {
		k := flows[i].Ordered()
		w := known[k]
		if w == nil {
			w = &flowOf{Flow: k, anchors: map[place]surrounding{}, index: map[place]int{}}
			known[k] = w
			c.flows = append(c.flows, w)
			for from := range k {
				if to := k[1-from]; to.QPNKnown {
					d := way{k[from].Addr, to.Addr, to.QPN}
					if !slices.Contains(c.byWay[d], w) {
						c.byWay[d] = append(c.byWay[d], w)
					}
				}
			}
		}
		c.wants = append(c.wants, want{f, w})
		c.matters(w, place{f.Tap, f.Frame}, surrounding{before, after})
		for _, n := range f.Evidence[:min(len(f.Evidence), mostProof)] {
			c.matters(w, place{f.Tap, n}, surrounding{beforeProof, afterProof})
		}
	}
	return c
}

func (c *Collector) matters(w *flowOf, at place, s surrounding) {
	if at.frame == 0 {
		return
	}
	if old, ok := w.anchors[at]; ok {
		s.before, s.after = max(s.before, old.before), max(s.after, old.after)
	} else {
		c.anchor[at] = append(c.anchor[at], w)
	}
	w.anchors[at] = s
}

// Ordered returns the flow without roles and with its ends in one order, so that findings against either end share it.
func (w Flow) Ordered() Flow {
	for i := range w {
		w[i].Role, w[i].Node = rule.NoRole, rule.Node{}
	}
	a, b := &w[0], &w[1]
	if b.Addr.Hi < a.Addr.Hi || b.Addr.Hi == a.Addr.Hi && (b.Addr.Lo < a.Addr.Lo || b.Addr.Lo == a.Addr.Lo && b.QPN < a.QPN) {
		w[0], w[1] = w[1], w[0]
	}
	return w
}

// Add takes the next frame and the packet in it.
func (c *Collector) Add(f *fabricagent.Frame, p *packet.Packet) {
	must := c.anchor[place{f.Tap, f.Number}]
	for _, w := range c.byWay[way{p.Src, p.Dst, p.DestQP}] {
		if _, ok := w.Way(p); ok {
			c.add(w, f)
			if i := slices.Index(must, w); i >= 0 {
				must = slices.Delete(slices.Clone(must), i, i+1)
			}
		}
	}
	for _, w := range must {
		c.add(w, f)
	}
}

func (c *Collector) add(w *flowOf, f *fabricagent.Frame) {
	w.seen++
	fr := Frame{Frame: *f, Place: w.seen}
	s, matters := w.anchors[place{f.Tap, f.Number}]
	if !matters && w.after == 0 {
		if len(w.recent) == before { // the buffer of the oldest serves again
			oldest := w.recent[0].Data
			copy(w.recent, w.recent[1:])
			fr.Data = append(oldest[:0], fr.Data[:min(len(fr.Data), kept)]...)
			w.recent[before-1] = fr
			return
		}
		fr.Data = append(make([]byte, 0, kept), fr.Data[:min(len(fr.Data), kept)]...)
		w.recent = append(w.recent, fr)
		return
	}
	if matters {
		from := max(0, len(w.recent)-s.before)
		for _, r := range w.recent[from:] {
			c.keep(w, r)
		}
		w.recent = w.recent[:0]
		w.after = max(w.after, s.after+1)
	}
	w.after--
	if matters {
		fr.Data = bytes.Clone(fr.Data) // whole, so that its ICRC can be judged
	} else {
		fr.Data = bytes.Clone(fr.Data[:min(len(fr.Data), kept)])
	}
	c.keep(w, fr)
}

func (c *Collector) keep(w *flowOf, f Frame) {
	if c.frames < mostFrames {
		c.frames++
		if at := (place{f.Tap, f.Number}); w.anchors[at] != (surrounding{}) {
			w.index[at] = len(w.kept)
		}
		w.kept = append(w.kept, f)
	}
}

// Frames returns what was kept of the flow of a finding, by its index in what NewCollector was given: near what matters to it.
func (c *Collector) Frames(i int) []Frame {
	f, w := c.wants[i].finding, c.wants[i].flow
	var near []int // indices into kept
	mark := func(at place, s surrounding) {
		n, ok := w.index[at]
		if !ok {
			return
		}
		first := w.kept[n].Place - min(w.kept[n].Place, uint64(s.before))
		for ; n > 0 && w.kept[n-1].Place >= first; n-- {
		}
		for last := w.kept[w.index[at]].Place + uint64(s.after); n < len(w.kept) && w.kept[n].Place <= last; n++ {
			near = append(near, n)
		}
	}
	mark(place{f.Tap, f.Frame}, surrounding{before, after})
	for _, n := range f.Evidence[:min(len(f.Evidence), mostProof)] {
		mark(place{f.Tap, n}, surrounding{beforeProof, afterProof})
	}
	slices.Sort(near)
	near = slices.Compact(near)
	out := make([]Frame, len(near))
	for i, n := range near {
		out[i] = w.kept[n]
	}
	return out
}
