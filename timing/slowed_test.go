package timing

import (
	"slices"
	"testing"
)

// TestSlowed: it is found from when on answers to all clients take longer; not where it is one of them, where one begins or ends then, where more
// requests wait, where it takes a little longer, or where they take longer now and then.
func TestSlowed(t *testing.T) {
	const n, at = 30, 17
	type client struct{ rates, took []float64 }
	of := func(f func(k int) (rate, each float64)) (c client) {
		for k := range n {
			rate, each := f(k)
			c.rates, c.took = append(c.rates, rate), append(c.took, rate*each*(1+0.05*float64(k%3)))
		}
		return c
	}
	steps := func(rate, each, less, more float64) client {
		return of(func(k int) (float64, float64) {
			if k < at {
				return rate, each
			}
			return less, more
		})
	}
	slow, same := steps(100, 2, 40, 5), steps(100, 2, 100, 2)
	for _, k := range []struct {
		name    string
		list    []client
		changed []int
	}{
		{"all", []client{slow, slow}, []int{0, 1}},
		{"all, and one that ended before", []client{slow, slow, of(func(k int) (float64, float64) {
			if k < 9 {
				return 50, 2
			}
			return 0, 0
		})}, []int{0, 1}},
		{"one of two", []client{slow, same}, nil},
		{"one", []client{slow}, nil},
		{"one begins", []client{slow, slow, steps(0, 0, 40, 5)}, nil},
		{"one ends", []client{slow, slow, steps(40, 2, 0, 0)}, nil},
		{"more wait", []client{slow, steps(100, 2, 100, 4)}, nil},
		{"a little", []client{steps(100, 2, 80, 2.5), steps(100, 2, 80, 2.5)}, nil},
		{"now and then", []client{slow, of(func(k int) (float64, float64) {
			if k%3 == 0 {
				return 40, 5
			}
			return 100, 2
		})}, nil},
	} {
		var r, took Rates
		for _, c := range k.list {
			r, took = append(r, c.rates), append(took, c.took)
		}
		s, ok := r.Slowed(took)
		if ok != (k.changed != nil) || ok && (!slices.Equal(s.Changed, k.changed) || s.At != at && s.At != at-1) {
			t.Errorf("%s: %v %+v", k.name, ok, s)
		}
	}
}
