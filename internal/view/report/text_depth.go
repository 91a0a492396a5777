package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

const (
	depthMessages = 64
	depthExplains = 0.75 // of the rate that an end has in all, the part that its depth explains at least
	depthAlike    = 1.25 // times as long at most is about as long
	depthMore     = 1.5  // times the rate of another at least that is told to be faster
)

// depth is an end that is bound by how many READs and atomics it has outstanding.
type depth struct {
	timing.Depth
	end     *agent.End
	peer    *agent.End
	n       uint64
	bytes   uint64
	elapsed time.Duration
	waited  time.Duration // for an answer, in all
	what    string        // "RDMA READ", or what it sends
	one     uint32        // bytes of each, or, where varied says so, of the largest; 0: they differ, or it is an atomic
	varied  bool
	alone   bool        // its first one, before which there was none, took as long: they do not wait for one another
	apart   bool        // the tap may be at the responder, where a program that posts as many and pauses looks the same
	steady  *steadiness // nil: the times after which each follows differ more, or the tap is not at the responder
	deeper  *deeper     // who has more at the same distance, where that is what shows that its depth bounds it
	faster  *depth      // the fastest one to the same host with more outstanding; nil: there is none
}

// depths lists the ends that are bound so and are none of those, by how fast they are, the slowest first.
func (t *text) depths(but []pace) (list []depth) {
	for _, c := range t.measured() {
		for from := range 2 {
			if d, ok := depthOf(c, from); ok && !slices.ContainsFunc(but, func(p pace) bool { return p.end == &c.Ends[from] }) {
				list = append(list, d)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b depth) int { return cmp.Compare(a.rate(), b.rate()) })
	var sure []depth
	for i := range list {
		d := &list[i]
		if d.Count == 1 || d.apart {
			allowed := agreedOnMore
			if d.agreed() != d.Count {
				allowed = func(*agent.End) bool { return true }
			}
			if d.deeper = t.deeperThan(d, allowed); d.oneAgreed() || !d.Short() && (d.deeper != nil || d.steady != nil || !d.apart && d.agreed() > 1) {
				sure = append(sure, *d)
			}
			continue
		}
		if d.faster = fasterOf(d, list[i+1:]); !d.Even || d.alone || d.faster != nil {
			sure = append(sure, *d)
		}
	}
	return sure
}

func depthOf(c *agent.Connection, from int) (d depth, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() || c.Ends[from].Trouble != nil || len(c.Timing.Ends[from].Asks) < depthMessages {
		return d, false
	}
	e := &c.Timing.Ends[from]
	if d.Depth, ok = timing.DepthOf(e.Asks); !ok || e.Reads > d.Count {
		return d, false
	}
	d.end, d.peer = &c.Ends[from], &c.Ends[1-from]
	d.alone = c.PairedBy == agent.ByCM && depthAlike*float64(d.First) >= float64(d.Took)
	for op, o := range e.Ops {
		if o == nil || !wqe.Op(op).Responded() {
			continue
		}
		if d.n += o.Count; d.what == "" && o.Sizes.Least == o.Sizes.Most {
			d.one = o.Sizes.Most
		} else {
			d.one = 0
		}
		d.bytes, d.waited = d.bytes+o.Bytes, d.waited+time.Duration(o.Latency.Sum)
		d.what = strings.TrimPrefix(d.what+"s or "+wqe.Op(op).String(), "s or ")
	}
	if e.Ops[wqe.Read] == nil {
		d.one = 0
	}
	d.elapsed = time.Duration(d.end.Last - e.Asks[0].Begin)
	d.apart = d.agreed() != d.Count && 2*d.After > d.Loop
	if o := e.Ops[wqe.Read]; d.Count == 1 && d.one == 0 && o != nil && o.Count == d.n && d.agreed() == 1 {
		d.one, d.varied = o.Sizes.Most, true
	}
	if d.Count == 1 {
		d.steady = steadyAfter(e.Asks, &d)
		return d, d.one > 0
	}
	if explained := d.rate() * d.Loop.Seconds() / float64(d.Count); explained < depthExplains || explained > 1/depthExplains {
		return d, false
	}
	return d, !d.apart || d.one > 0
}

// rate is how many were sent a second.
func (d *depth) rate() float64 { return float64(d.n) / max(d.elapsed, 1).Seconds() }

// agreed is how many CM has told that the requester may have outstanding; 0: that is not known.
func (d *depth) agreed() int { return depthAgreed(d.end) }

func depthAgreed(e *agent.End) int {
	if !e.Knows(pair.KnowsMaxRdAtomic) {
		return 0
	}
	return int(e.InitiatorDepth)
}

// boundByDepth tells of some ends that are bound so, of those that have as many outstanding to the same host once, and not of one that is named
// beside another.
func (t *text) boundByDepth(list []depth) {
	var said []string
	told := map[*agent.End]bool{}
	for i := range list {
		d, others := &list[i], 0
		if told[d.end] {
			continue
		}
		rest := list[i+1:]
		for k := range rest {
			if o := &rest[k]; (d.Count > 1 || d.agreed() != 1) && o.agreed() == d.agreed() && o.peer.Addr == d.peer.Addr && o.Count == d.Count {
				told[o.end] = true
				others++
			}
		}
		if d.Count == 1 && d.agreed() == 1 {
			said = append(said, t.oneAtOnce(d)+t.soToo(d, rest, told))
			continue
		}
		s := d.said(t.granted(d.end, d.peer))
		if o := d.faster; o != nil {
			told[o.end] = true
			s += o.compared(d)
		}
		if others > 0 {
			s += fmt.Sprintf(" So is it on %s to %v.", count(others, "other queue pair"), d.peer.Addr)
		}
		said = append(said, s)
	}
	t.few(said)
}

// said says what bounds an end, and what that comes to. granted is what CM granted it, where that is less than it asked for.
func (d *depth) said(granted string) string {
	who := fmt.Sprintf("%v %s", d.end.Addr, qp(d.end.QPN, d.end.QPNKnown))
	why, remedy := "", " More of them at once would be faster, or larger ones."
	switch n := d.agreed(); {
	case n == d.Count:
		if why = fmt.Sprintf(", as many as CM agreed on with %v", d.peer.Addr); granted != "" {
			why += " (" + granted + ")"
		}
	case n > d.Count:
		why = fmt.Sprintf(", though CM agreed on %d with %v: its program posts no more, or its max_rd_atomic is lower", n, d.peer.Addr)
	default:
		why = " (its max_rd_atomic, or what its program posts)"
	}
	each, has, before := "", fmt.Sprintf("no more than %d %ss", d.Count, d.what), fmt.Sprintf("the one %d before it", d.Count)
	most, come := ", and has so many most of the time", "come"
	if d.Count == 1 {
		has, before, most, come = "one "+d.what, "the one before it", "", "comes"
	}
	if d.one > 0 {
		each = fmt.Sprintf(" of %s", size(uint64(d.one)))
		remedy = " More of them at once would be faster, or larger READs."
	}
	rate := number(uint64(float64(d.Count)/d.Loop.Seconds())) + " a second"
	if d.one > 0 {
		rate = bitRate(uint64(d.Count)*uint64(d.one), d.Loop)
	}
	if d.Count == 1 || d.apart {
		rate += ", while it reads"
	}
	outstanding := "outstanding"
	if d.Count == 1 {
		outstanding += " at a time"
	}
	return fmt.Sprintf("READ depth: %s has %s %s%s%s: each comes %s after the answer to %s. %s%s in %s %s to %s.%s%s",
		who, has, outstanding, why, most, span(d.After), before, numberOrOne(d.Count), each, span(d.Loop), come, rate, d.deeper.said(d)+d.steady.said(d), remedy)
}

// fasterOf is the fastest of some ends which has more outstanding to the same host, at about the same round trip; nil: there is none.
func fasterOf(d *depth, list []depth) *depth {
	for i := len(list) - 1; i >= 0; i-- {
		o := &list[i]
		long, short := max(o.Loop, d.Loop), min(o.Loop, d.Loop)
		if o.peer.Addr == d.peer.Addr && o.Count > d.Count && o.rate() >= depthMore*d.rate() && float64(long) <= depthAlike*float64(short) {
			return o
		}
	}
	return nil
}

// compared says how much faster it is than another.
func (d *depth) compared(than *depth) string {
	as := ""
	switch n := d.agreed(); {
	case n == d.Count:
		as = ", as CM agreed,"
	case n > d.Count:
		as = fmt.Sprintf(" of the %d that CM agreed on,", n)
	}
	return fmt.Sprintf(" %v %s, with %d at once%s in %s, is %.1f times as fast.",
		d.end.Addr, qp(d.end.QPN, d.end.QPNKnown), d.Count, as, span(d.Loop), d.rate()/than.rate())
}
