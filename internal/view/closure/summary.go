package closure

import (
	"slices"
)

// Summary is what runs have covered of what there is to cover.
type Summary struct {
	Names    []string // of the runs
	Errors   []uint64 // of each run: violations of severity error
	Targets  []Target // in the order of groups
	Excluded []Target
	Groups   []Share // of the targets
	All      Share
	Rank     []Step // which run adds most, then which adds most to that, and so on
	Planned  bool   // a plan says what there is to cover
}

// Target is an item that is to be covered.
type Target struct {
	Total
	Goal   uint64 // how often it must be seen
	Reason string // why it is excluded
}

// Met reports whether it is covered.
func (t *Target) Met() bool { return t.Count.Count >= t.Goal }

// Hole says what is missing.
func (t *Target) Hole() string {
	switch {
	case t.Item == nil:
		return t.Name + " was never seen"
	case t.Count.Count > 0:
		return t.Item.Text + " was seen " + times(t.Count.Count) + ", not " + times(t.Goal)
	}
	return t.Item.Hole()
}

// Share is how much of something is covered.
type Share struct {
	Name    string
	Met, Of int
}

// Percent is how much that is, rounded down: 100 is all.
func (s *Share) Percent() int {
	if s.Of == 0 {
		return 100
	}
	return 100 * s.Met / s.Of
}

// Step is what a run adds to those before it.
type Step struct {
	Run  int
	Adds int // items that no run before it has seen
	Sum  int // items seen so far
}

// Summarize says what a document covers of a plan, or of all items where that is nil.
func Summarize(d *Document, p *Plan) *Summary {
	s := &Summary{Names: d.Names(), Planned: p != nil}
	for i := range d.Runs {
		s.Errors = append(s.Errors, d.Runs[i].Errors)
	}
	for _, t := range d.Totals() {
		goal := uint64(1)
		if p != nil {
			if why := p.out[t.Name]; why != "" {
				s.Excluded = append(s.Excluded, Target{t, 0, why})
				continue
			}
			if goal = p.goals[t.Name]; goal == 0 {
				continue
			}
		}
		k := Target{t, goal, ""}
		s.Targets = append(s.Targets, k)
		if len(s.Groups) == 0 || s.Groups[len(s.Groups)-1].Name != t.Group() {
			s.Groups = append(s.Groups, Share{Name: t.Group()})
		}
		g := &s.Groups[len(s.Groups)-1]
		g.Of++
		s.All.Of++
		if k.Met() {
			g.Met++
			s.All.Met++
		}
	}
	s.rank()
	return s
}

// rank orders the runs by what each adds: the first is the one that has seen most, of equal ones the first by name. Runs that add nothing are left out.
func (s *Summary) rank() {
	left := make([]map[int]bool, len(s.Names)) // targets that a run would add
	for i := range left {
		left[i] = map[int]bool{}
	}
	for i := range s.Targets {
		for _, r := range s.Targets[i].Runs {
			left[r][i] = true
		}
	}
	for sum := 0; ; {
		best := 0
		for r := range left {
			if len(left[r]) > len(left[best]) {
				best = r
			}
		}
		if len(left) == 0 || len(left[best]) == 0 {
			return
		}
		adds := left[best]
		sum += len(adds)
		s.Rank = append(s.Rank, Step{best, len(adds), sum})
		for i := range adds {
			for _, r := range s.Targets[i].Runs {
				if r != best {
					delete(left[r], i)
				}
			}
		}
		left[best] = nil
	}
}

// Idle lists the runs that add nothing to the others.
func (s *Summary) Idle() (names []string) {
	for i, name := range s.Names {
		if !slices.ContainsFunc(s.Rank, func(k Step) bool { return k.Run == i }) {
			names = append(names, name)
		}
	}
	return names
}

// Holes lists the targets that are not covered.
func (s *Summary) Holes() (list []*Target) {
	for i := range s.Targets {
		if !s.Targets[i].Met() {
			list = append(list, &s.Targets[i])
		}
	}
	return list
}

// Violated lists the rules that runs have violated.
func (s *Summary) Violated() (list []*Target) {
	for i := range s.Targets {
		if s.Targets[i].Violated > 0 {
			list = append(list, &s.Targets[i])
		}
	}
	return list
}
