package view

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"ibwitness/fabricagent"
)

// Step is something that is done to a view. It does the same each time, whatever other steps are left out.
type Step struct {
	Kind int // index of Kinds
	Seed uint64
}

// Kinds are what a step may do.
var Kinds = []struct {
	Name string
	Do   func(*View)
}{
	{"begins", (*View).Begins},
	{"ends", (*View).Ends},
	{"loses", (*View).Loses},
	{"snap", (*View).Snap},
	{"damage", (*View).Damage},
	{"snap-damaged", (*View).SnapDamaged},
	{"late", (*View).Late},
	{"one-way", (*View).OneWay},
	{"qp", (*View).QP},
	{"coarse", (*View).Coarser},
	{"jitter", (*View).Jitter},
	{"steps", (*View).Steps},
	{"epoch", (*View).Epoch},
	{"copies", (*View).Copies},
	{"mirrored", (*View).Mirrored},
	{"second-tap", (*View).SecondTap},
	{"tunnel", (*View).Tunnel},
	{"fcs", (*View).FCS},
	{"join", (*View).Join},
	{"interfaces", (*View).Interfaces},
}

// Plan says how a view of a capture is made.
type Plan struct {
	Capture *Capture
	Near    bool // from where its tap is known to be
	Steps   []Step
}

// NewPlan makes up a view of up to three steps.
func NewPlan(r *rand.Rand, c *Capture) Plan {
	p := Plan{Capture: c, Near: len(c.Near) > 0 && r.IntN(5) == 0}
	for _, k := range r.Perm(len(Kinds))[:1+r.IntN(3)] {
		p.Steps = append(p.Steps, Step{k, r.Uint64()})
	}
	return p
}

// Has reports whether a step is of a kind.
func (p Plan) Has(kind string) bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return Kinds[s.Kind].Name == kind })
}

// View carries the plan out. The others are what the capture may be joined with.
func (p Plan) View(others []*Capture) *View {
	frames, taps := p.Capture.Frames()
	v := New(nil, taps, frames)
	v.Pairs, v.Others = p.Capture.Pairs, others
	if p.Near {
		v.Near = slices.Clone(p.Capture.Near)
	}
	for _, s := range p.Steps {
		v.Rand = rand.New(rand.NewPCG(s.Seed, uint64(s.Kind)))
		Kinds[s.Kind].Do(v)
	}
	v.Finish()
	return v
}

// Fewer returns a plan of which the view fails too, of as few steps as show it: no further one can be left out.
func (p Plan) Fewer(fails func(Plan) bool) Plan {
	for again := true; again; {
		again = false
		for i := range p.Steps {
			q := p
			q.Steps = slices.Delete(slices.Clone(p.Steps), i, i+1)
			if fails(q) {
				p, again = q, true
				break
			}
		}
	}
	if q := p; p.Near {
		if q.Near = false; fails(q) {
			return q
		}
	}
	return p
}

// Shorter returns the shortest view that fails too, as far as halving what is cut off finds it.
func (v *View) Shorter(fails func(*View) bool) *View {
	try := func(from, to int) bool {
		w := *v
		w.Frames = slices.Clone(v.Frames[from:to])
		w.number()
		if !fails(&w) {
			return false
		}
		v = &w
		return true
	}
	for cut := len(v.Frames) / 2; cut > 0; cut /= 2 {
		for cut < len(v.Frames) && try(0, len(v.Frames)-cut) {
		}
		for cut < len(v.Frames) && try(cut, len(v.Frames)) {
		}
	}
	return v
}

// Open returns the view for an agent, through a file where it has to be one.
func (v *View) Open() (fabricagent.Source, error) {
	if v.units == nil || v.files() > 1 {
		return v.Source(), nil
	}
	return fabricagent.OpenReader(v.Taps[0].File, bytes.NewReader(v.Bytes()))
}
