// Package difference compares two runs: what is new in the second, what is gone, what has become slower or faster, and which settings are others. Hosts are held together by their
// addresses; queue pairs are not, as their numbers change from run to run.
package difference

import (
	"cmp"
	"math"
	"slices"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// Run is what is compared: a result whose messages were measured, and what happened in it.
type Run struct {
	Result    *agent.Result
	Incidents []incident.Incident
}

// Hosts is a direction between two hosts; zero: all of them.
type Hosts struct{ From, To packet.Addr }

func (h Hosts) String() string {
	if h == (Hosts{}) {
		return "all hosts"
	}
	return h.From.String() + " → " + h.To.String()
}

// Count is how often a rule was violated, or something happened, in each run.
type Count struct {
	Rule string // its id; empty: an incident
	What string // name of the rule, or kind of the incident
	Who  string // the host that is accused, or the hosts; empty: not known, or all
	A, B uint64
}

// Quantile is how long a share of the messages of an operation took at most.
type Quantile struct {
	Hosts Hosts
	Op    wqe.Op
	Share float64
	A, B  time.Duration
	Of    [2]uint64 // messages, in each run
}

// Times is how many times as long it took in B.
func (q *Quantile) Times() float64 { return float64(q.B) / float64(q.A) }

// Rate is a number of a direction between hosts that is another in B.
type Rate struct {
	Hosts Hosts
	A, B  float64
}

// Setting is a setting of connections between hosts that has other values in B.
type Setting struct {
	Hosts Hosts
	What  string
	A, B  string
}

// Difference is what differs in B.
type Difference struct {
	Together bool // no direction between hosts is in both runs, so that all of a run is compared together
	New      []Count
	Gone     []Count
	Slower   []Quantile // the most first
	Faster   []Quantile
	Worse    []Rate // retransmitted request packets of all packets: more in B
	Better   []Rate
	Rates    []Rate // bytes of payload a second, from the first packet of the connections to the last of the direction; told only, as the load may be another
	Settings []Setting
	Compared int // operations of hosts that both runs have
	OnlyA    []Hosts
	OnlyB    []Hosts
}

// Regressed reports whether B has something new, or is slower.
func (d *Difference) Regressed() bool { return len(d.New)+len(d.Slower)+len(d.Worse) > 0 }

// Same reports whether nothing differs that is worth telling.
func (d *Difference) Same() bool {
	return !d.Regressed() && len(d.Gone)+len(d.Faster)+len(d.Better)+len(d.Rates)+len(d.Settings)+len(d.OnlyA)+len(d.OnlyB) == 0
}

const (
	notable = 1.2  // times, by which something differs at least
	fewest  = 20   // messages of an operation, for its times to be compared
	sigma   = 3.29 // standard deviations: one in a thousand
)

// shares are those of the quantiles that are compared.
var shares = [...]float64{0.5, 0.99}

// Of compares two runs.
func Of(a, b *Run) *Difference {
	d := &Difference{}
	left, right := sideOf(a.Result, false), sideOf(b.Result, false)
	d.hosts(left, right)
	if d.Together {
		left, right = sideOf(a.Result, true), sideOf(b.Result, true)
	}
	d.quantiles(left, right)
	d.rates(left, right)
	d.found(a, b)
	return d
}

// hosts finds which hosts both runs have.
func (d *Difference) hosts(a, b *side) {
	common := 0
	for h := range a.sums {
		if b.sums[h] != nil {
			common++
		} else {
			d.OnlyA = append(d.OnlyA, h)
		}
	}
	for h := range b.sums {
		if a.sums[h] == nil {
			d.OnlyB = append(d.OnlyB, h)
		}
	}
	if common == 0 && len(a.sums) > 0 && len(b.sums) > 0 {
		d.Together, d.OnlyA, d.OnlyB = true, nil, nil
	}
	slices.SortFunc(d.OnlyA, compareHosts)
	slices.SortFunc(d.OnlyB, compareHosts)
}

func compareHosts(a, b Hosts) int {
	return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To))
}

// quantiles compares what messages took. A difference is told where it is not by chance, as far as messages take their times independently of one another.
func (d *Difference) quantiles(a, b *side) {
	for k, x := range a.times {
		y := b.times[k]
		if y == nil {
			continue
		}
		d.Compared++
		n := [2]uint64{x.Count(), y.Count()}
		if min(n[0], n[1]) < fewest {
			continue
		}
		for _, share := range shares {
			q := Quantile{k.hosts, k.op, share, x.Quantile(share), y.Quantile(share), n}
			aLow, aHigh := between(x, share)
			bLow, bHigh := between(y, share)
			switch {
			case q.A == 0:
			case aHigh < bLow && q.Times() >= notable:
				d.Slower = append(d.Slower, q)
			case bHigh < aLow && q.Times() <= 1/notable:
				d.Faster = append(d.Faster, q)
			}
		}
	}
	by := func(sign int) func(a, b Quantile) int {
		return func(a, b Quantile) int {
			return cmp.Or(sign*cmp.Compare(a.Times(), b.Times()), compareHosts(a.Hosts, b.Hosts), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Share, b.Share))
		}
	}
	slices.SortFunc(d.Slower, by(-1))
	slices.SortFunc(d.Faster, by(1))
}

// between returns between which times the quantile of a share lies, but for one case in a thousand. Where there are too few messages to tell, the upper one is the most there is.
func between(h *verifier.Histogram, share float64) (low, high time.Duration) {
	half := sigma * math.Sqrt(share*(1-share)/float64(h.Count()))
	if share+half >= 1 {
		return h.Quantile(max(share-half, 0)), math.MaxInt64
	}
	return h.Quantile(max(share-half, 0)), h.Quantile(share + half)
}

// rates compares what was sent and retransmitted, and the settings.
func (d *Difference) rates(a, b *side) {
	var common []Hosts
	for h := range a.sums {
		if b.sums[h] != nil {
			common = append(common, h)
		}
	}
	slices.SortFunc(common, compareHosts)
	for _, h := range common {
		x, y := a.sums[h], b.sums[h]
		if p, q := x.rate(), y.rate(); p > 0 && q > 0 && (p/q >= notable || q/p >= notable) {
			d.Rates = append(d.Rates, Rate{h, p, q})
		}
		p, q := x.share(), y.share()
		both := float64(x.retransmitted+y.retransmitted) / float64(x.packets+y.packets)
		chance := sigma * math.Sqrt(both*(1-both)*(1/float64(x.packets)+1/float64(y.packets)))
		switch {
		case q-p > chance && q >= notable*p:
			d.Worse = append(d.Worse, Rate{h, p, q})
		case p-q > chance && p >= notable*q:
			d.Better = append(d.Better, Rate{h, p, q})
		}
		d.settings(h, x, y)
	}
}

func (d *Difference) settings(h Hosts, a, b *sums) {
	var names []string
	for what := range a.settings {
		if b.settings[what] != nil {
			names = append(names, what)
		}
	}
	slices.Sort(names)
	for _, what := range names {
		if p, q := values(a.settings[what]), values(b.settings[what]); p != q {
			d.Settings = append(d.Settings, Setting{h, what, p, q})
		}
	}
}

// found compares what rules were violated, and what happened.
func (d *Difference) found(a, b *Run) {
	counts := map[Count]*Count{}
	count := func(c Count) *Count {
		if counts[c] == nil {
			counts[c] = &Count{Rule: c.Rule, What: c.What, Who: c.Who}
		}
		return counts[c]
	}
	violated := func(r *agent.Result, to func(*Count) *uint64) {
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Class != rule.Violation {
				continue
			}
			c := Count{Rule: f.Rule.String(), What: f.Rule.Row().Name}
			if !d.Together && !f.Accused.Addr.IsZero() {
				c.Who = f.Accused.Addr.String()
			}
			*to(count(c))++
		}
	}
	happened := func(list []incident.Incident, to func(*Count) *uint64) {
		for i := range list {
			n := &list[i]
			c := Count{What: n.Kind.String()}
			if !d.Together && !n.Local.Addr.IsZero() {
				c.Who = Hosts{n.Local.Addr, n.Peer.Addr}.String()
			}
			*to(count(c))++
		}
	}
	inA, inB := func(c *Count) *uint64 { return &c.A }, func(c *Count) *uint64 { return &c.B }
	violated(a.Result, inA)
	violated(b.Result, inB)
	happened(a.Incidents, inA)
	happened(b.Incidents, inB)
	for _, c := range counts {
		switch {
		case c.A == 0:
			d.New = append(d.New, *c)
		case c.B == 0:
			d.Gone = append(d.Gone, *c)
		}
	}
	order := func(a, b Count) int {
		return cmp.Or(cmp.Compare(min(len(b.Rule), 1), min(len(a.Rule), 1)), cmp.Compare(b.A+b.B, a.A+a.B), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.What, b.What), cmp.Compare(a.Who, b.Who))
	}
	slices.SortFunc(d.New, order)
	slices.SortFunc(d.Gone, order)
}
