package timing

import (
	"slices"
	"testing"
)

// TestShared: clients are found that got less as another began, or more as another ended, while all got as much; not where all got more or less,
// where it was earlier, where they get nothing any more, where it is a little less, or where what
// they get varies as much.
func TestShared(t *testing.T) {
	steps := func(n, at int, before, after float64) (list []float64) {
		for k := range n {
			x := before
			if k >= at {
				x = after
			}
			list = append(list, x*(1+0.02*float64(k%2)))
		}
		return list
	}
	const n, at = 30, 17
	for _, k := range []struct {
		name    string
		r       Rates
		changed []int
		ended   bool
	}{
		{"one begins", Rates{steps(n, at, 100, 40), steps(n, at, 100, 40), steps(n, at, 0, 120)}, []int{0, 1}, false},
		{"one ends", Rates{steps(n, at, 40, 100), steps(n, at, 40, 100), steps(n, at, 120, 0)}, []int{0, 1}, true},
		{"one of two", Rates{steps(n, at, 100, 40), steps(n, at, 100, 100), steps(n, at, 0, 60)}, []int{0}, false},
		{"all get more", Rates{steps(n, at, 100, 40), steps(n, at, 100, 40), steps(n, at, 0, 220)}, nil, false},
		{"none gets less", Rates{steps(n, at, 100, 100), steps(n, at, 100, 100), steps(n, at, 0, 120)}, nil, false},
		{"another begins", Rates{steps(n, at, 100, 40), steps(n, at, 100, 40), steps(n, at-6, 0, 120)}, nil, false},
		{"it goes on in its place", Rates{steps(n, at, 100, 0), steps(n, at, 100, 100), steps(n, at, 0, 100)}, nil, false},
		{"a little less", Rates{steps(n, at, 100, 80), steps(n, at, 100, 80), steps(n, at, 0, 40)}, nil, false},
		{"soon over", Rates{steps(at+3, at, 100, 40), steps(at+3, at, 100, 40), steps(at+3, at, 0, 120)}, nil, false},
		{"few", Rates{steps(n, at, 100, 40)}, nil, false},
	} {
		s, ok := k.r.Shared()
		if ok != (k.changed != nil) || ok && (!slices.Equal(s.Changed, k.changed) || s.Ended != k.ended) {
			t.Errorf("%s: %v %+v", k.name, ok, s)
		}
	}
}
