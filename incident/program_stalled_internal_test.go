package incident

import (
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestReadsAnsweredMeanwhile: a READ that came in a stall and was answered only after it, or long after it came, is none that an adapter answered meanwhile.
func TestReadsAnsweredMeanwhile(t *testing.T) {
	const since, until = 1000, 2000
	for name, tt := range map[string]struct {
		end      int64
		answered uint64
	}{
		"at once":          {1510, 4},
		"after the stall":  {2050, 3},
		"when it was over": {1990, 3},
		"never":            {0, 3},
	} {
		x := timing.End{Asks: []timing.Sent{{Begin: 900, End: 910}, {Begin: 1100, End: 1110}, {Begin: 1300, End: 1310}, {Begin: 1500, End: tt.end}, {Begin: 1990, End: 2010}, {Begin: 2100, End: 2110}}}
		x.Ops[wqe.Read] = &timing.Operation{}
		var r readsMeanwhile
		if !r.add(&x, since, until) || r.asked != 4 || r.answered != tt.answered {
			t.Errorf("%s: of %d READs %d were answered, want 4 and %d", name, r.asked, r.answered, tt.answered)
		}
	}
}

// TestSignsAround: a host of which other packets came before and after a time, and none in it, was stopped as a whole; one of which one came was not; where few came before,
// none after, or the time is short, that is not known.
func TestSignsAround(t *testing.T) {
	const s = int64(time.Second)
	host, other := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	often := []int64{92 * s / 10, 94 * s / 10, 96 * s / 10, 99 * s / 10}
	for name, k := range map[string]struct {
		at             []int64
		other          int64
		until          int64
		before, within bool
		after          bool
	}{
		"none in it":                   {append(slices.Clone(often), 121*s/10), 0, 12 * s, true, false, true},
		"of another host in it":        {append(slices.Clone(often), 121*s/10), 11 * s, 12 * s, true, false, true},
		"one in it":                    {append(slices.Clone(often), 11*s, 121*s/10), 0, 12 * s, false, true, false},
		"few before":                   {append(slices.Clone(often[:2]), 121*s/10), 0, 12 * s, false, false, false},
		"none after":                   {often, 0, 12 * s, true, false, false},
		"short":                        {append(slices.Clone(often), 105*s/10), 0, 104 * s / 10, false, false, false},
		"long before, and none nearby": {[]int64{s, 2 * s, 3 * s, 4 * s, 121 * s / 10}, 0, 12 * s, false, false, false},
	} {
		var r agent.Result
		sign := func(a packet.Addr, at int64) {
			x := agent.Sign{At: at}
			x.Host = a
			r.Signs = append(r.Signs, x)
		}
		for _, at := range k.at {
			if sign(host, at); k.other > at {
				sign(other, k.other)
			}
		}
		before, within, after := newTeller(&r).signsAround(host, 10*s, k.until)
		if (before != nil) != k.before || (within != nil) != k.within || (after != nil) != k.after {
			t.Errorf("%s: %v, %v, %v", name, before, within, after)
		}
	}
}
