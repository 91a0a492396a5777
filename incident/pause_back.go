package incident

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/link"
	"ibwitness/timing"
)

// sentAgain says which ends sent requests to a port right after frames had resumed that ended its pauses, in which nothing had come to it: what they
// send had waited, unless chance may have brought them back then.
func (t *teller) sentAgain(i *Incident, p *link.Paused) {
	if p.Calm == 0 || !t.timed() {
		return
	}
	list, back, chance := slices.Clone(p.Back), uint64(0), 0.0
	slices.SortStableFunc(list, func(a, b link.Returned) int {
		return cmp.Or(cmp.Compare(b.Pauses, a.Pauses), a.From.Compare(b.From), cmp.Compare(a.QPN, b.QPN))
	})
	var names []string
	ends := 0
	least, longest := int64(math.MaxInt64), int64(0)
	for k := range list {
		r := &list[k]
		who, e := t.sender(r)
		if e == nil {
			continue
		}
		ends, back, chance = ends+1, back+r.Pauses, chance+float64(p.Calm)*byChance(e, link.Waiting, link.Returning)
		if least, longest = min(least, r.Least), max(longest, r.Most); len(names) < stalledTold {
			names = append(names, fmt.Sprintf("%v after %d of %d", who, r.Pauses, p.Calm))
		}
	}
	if back == 0 || !hardlyByChance(chance, back) {
		return
	}
	if more := ends - len(names); more > 0 {
		names = append(names, count(uint64(more), "more end"))
	}
	these := "In it"
	switch {
	case p.Begun == 1:
	case p.Calm == p.Begun:
		these = "In each of these pauses"
	default:
		these = fmt.Sprintf("In %d of these pauses", p.Calm)
	}
	i.cameBack = true
	i.What += fmt.Sprintf(" %s no RoCE packet of what was paused came but what was in flight, "+
		"and %s went on within %s of the frame that resumed, %s in all: what they send had waited.",
		these, count(uint64(ends), "end"), between(span(least), span(longest)), times(back))
	i.fact("waited", strings.Join(names, "; ")+": they went on with requests right after these")
}

// sender names the end that sent requests to a port, and what was measured of it; nil: nothing.
func (t *teller) sender(r *link.Returned) (who string, e *timing.End) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		for from := range c.Ends {
			if to := &c.Ends[1-from]; c.Timing != nil && c.Ends[from].Addr == r.From && to.Addr == r.To && to.QPNKnown && to.QPN == r.QPN {
				one := party(&c.Ends[from])
				return one.String(), &c.Timing.Ends[from]
			}
		}
	}
	return "", nil
}

// byChance is how likely a time of so long without a request of an end, or of longer, ends by chance within some time.
func byChance(e *timing.End, gap, within int64) float64 {
	if e.Gaps == nil || e.Active.Last <= e.Active.First {
		return 0
	}
	return min(float64(e.Gaps.Above(time.Duration(gap)))*float64(within)/float64(e.Active.Last-e.Active.First), 1)
}

// hardlyByChance reports whether it is no chance that something happened n times that is to be expected so often.
func hardlyByChance(expected float64, n uint64) bool {
	p := 1.0
	for k := range n {
		p *= expected / float64(k+1)
	}
	return p < hardlyChance
}
