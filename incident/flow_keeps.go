package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// CNPs name a queue pair, and congestion control is set by priority: a host may slow down on one queue pair and not on another. One that keeps most
// of what the way to the receiver carries, for milliseconds in which CNPs come to it all the time, while others send a small part of what they do
// without it, does not react.

const (
	keptWindows = 32  // of timing.BusyWidth in which it is told to have slowed down long ago: 8 milliseconds
	keptEach    = 0.8 // part of them in which it sends hardly less than on average, at least
)

// flowTo is what a queue pair sends to a receiver, whose CNPs come to it.
type flowTo struct {
	c       *agent.Connection
	end     int
	cnps    uint64
	windows []timing.Window
}

func (f *flowTo) from() *agent.End { return &f.c.Ends[f.end] }

// named names it as one of its host.
func (f *flowTo) named() string {
	s := fmt.Sprintf("QP 0x%x", f.from().QPN)
	if f.from().Path.Known && f.c.Encap.OnIP() {
		s += fmt.Sprintf(" (DSCP %d)", f.from().Path.DSCP)
	}
	return s
}

// whole names it with its host.
func (f *flowTo) whole() string { return f.from().Addr.String() + " " + f.named() }

// keptFlow is one that does not slow down, beside others that do.
type keptFlow struct {
	flowTo
	bursts int
	rate   float64 // bytes a second, from when on it had the time to slow down
	most   float64 // bytes a second that came to the receiver in all, at most
	marked float64 // part of its packets
	others []yielding
	rest   int // others that tell nothing
}

// yielding is another: what it sends beside that, and at other times, or else at the beginning of its bursts, in bytes a second.
type yielding struct {
	flowTo
	beside, without float64
	early           bool // without is of the beginning of its bursts
}

// flowsTo lists the queue pairs that CNPs of a receiver came to; false: what one of them sent when is not known.
func (t *teller) flowsTo(list []sender) (all []flowTo, ok bool) {
	for _, s := range list {
		for c, from := range t.notified(s.way) {
			if c.Timing == nil || c.Timing.Ends[from].Busy.Full || !c.Ends[from].QPNKnown {
				return nil, false
			}
			all = append(all, flowTo{c, from, c.Ends[from].Trouble.Notified.Count, c.Timing.Ends[from].Busy.Windows})
		}
	}
	return all, len(all) > 0
}

// keptFlow finds the queue pair that does not slow down though CNPs come to it, while those of its host or of others do; false: there is none, or that is
// not known.
func (t *teller) keptFlow(i *Incident, list []sender) (k keptFlow, ok bool) {
	all, known := t.flowsTo(list)
	if !known || len(all) < 3 || !t.timed() {
		return k, false
	}
	sums, most := map[int64]uint64{}, uint64(0)
	for _, x := range t.sendersTo()[i.Peer.Addr] {
		if x.c.Timing == nil {
			continue
		}
		for _, w := range x.c.Timing.Ends[x.end].Busy.Windows {
			sums[w.At] += uint64(w.Bytes)
			most = max(most, sums[w.At])
		}
	}
	k.most = perWindow(most, 1)
	for n := range all {
		if k.flowTo = all[n]; k.keeps(sums) && k.besideOthers(all) {
			return k, true
		}
	}
	return k, false
}

// keeps reports whether the queue pair sends most of what the way carries, and of what comes meanwhile, evenly, though CNPs come to it all the time.
func (k *keptFlow) keeps(sums map[int64]uint64) bool {
	b := burstsTo{of: map[packet.Addr][]timing.Window{{}: k.windows}}
	settled, halves := b.settled(packet.Addr{})
	k.bursts, k.marked = len(halves), b.marked(packet.Addr{})
	if len(settled) < keptWindows || k.cnps < uint64(len(k.windows)) || k.marked < mostlyMarks || !steadyIn(halves) {
		return false
	}
	sum, all, even := uint64(0), uint64(0), 0
	for _, w := range settled {
		sum, all = sum+uint64(w.Bytes), all+sums[w.At]
	}
	for _, w := range settled {
		if float64(w.Bytes)*float64(len(settled)) >= steady*float64(sum) {
			even++
		}
	}
	k.rate = perWindow(sum, len(settled))
	return k.rate >= mostOfWay*k.most && float64(sum) >= mostOfWay*float64(all) && float64(even) >= keptEach*float64(len(settled))
}

// besideOthers reports whether at least two others send a small part of what it does meanwhile, and of what they do without it, and none tells otherwise.
func (k *keptFlow) besideOthers(all []flowTo) bool {
	b := burstsTo{of: map[packet.Addr][]timing.Window{{}: k.windows}}
	settled, _ := b.settled(packet.Addr{})
	k.others, k.rest = nil, 0
	for n := range all {
		o := &all[n]
		if o.c == k.c && o.end == k.end {
			continue
		}
		y, tells := k.yields(o, settled)
		switch {
		case mostlyCNPs*k.cnps < o.cnps:
			return false
		case o.cnps < tellingCNPs || !tells:
			k.rest++
		case greedyTimes*y.beside > k.rate || y.beside > fallen*y.without:
			return false
		default:
			k.others = append(k.others, y)
		}
	}
	return len(k.others) >= 2
}

// yields is what another sends beside the windows of the queue pair in which that had the time to slow down, and without it; false: too little tells.
func (k *keptFlow) yields(o *flowTo, settled []timing.Window) (y yielding, ok bool) {
	b := burstsTo{of: map[packet.Addr][]timing.Window{{}: o.windows}}
	_, bytes, n := b.beside(settled, packet.Addr{})
	y.flowTo, y.beside = *o, perWindow(bytes, n)
	sent, windows, first, begun := uint64(0), 0, uint64(0), 0
	b.eachBurst(packet.Addr{}, func(burst []timing.Window) {
		begin, end := burst[0].At, burst[len(burst)-1].At
		all := uint64(0)
		for _, w := range burst {
			if all += uint64(w.Bytes); w.At < begin+toSlowDown {
				first += uint64(w.Bytes)
			}
		}
		if begun += int(min(toSlowDown, end-begin+1)); !slices.ContainsFunc(k.windows, func(w timing.Window) bool { return w.At >= begin-inMidst && w.At <= end+inMidst }) {
			sent, windows = sent+all, windows+int(end-begin+1)
		}
	})
	if y.without = perWindow(sent, windows); windows < fewestWindows {
		y.without, y.early = perWindow(first, begun), true
	}
	return y, n >= fewestWindows
}

// since is when its first burst began.
func (k *keptFlow) since() int64 { return max(k.windows[0].At*timing.BusyWidth, k.c.First) }

// perMillisecond is how many CNPs came to it in each millisecond in which it sent.
func (k *keptFlow) perMillisecond() float64 {
	return float64(k.cnps) * float64(tellingTime) / (float64(len(k.windows)) * float64(timing.BusyWidth))
}

// ofHost is another queue pair of its host that slows down, of another DSCP if there is one; nil: there is none.
func (k *keptFlow) ofHost() (same *yielding) {
	for n := range k.others {
		o := &k.others[n]
		if o.from().Addr != k.from().Addr {
			continue
		}
		if same == nil || o.from().Path.DSCP != k.from().Path.DSCP {
			same = o
		}
	}
	return same
}

// flowKeeps tells first of the queue pair that does not slow down though CNPs come to it, beside others that do. It reports whether there is one.
func (t *teller) flowKeeps(i *Incident, list []sender) bool {
	k, ok := t.keptFlow(i, list)
	if !ok {
		return false
	}
	var fell []string
	least, most := k.others[0].beside, float64(0)
	for n := range k.others {
		o := &k.others[n]
		least, most = min(least, o.beside), max(most, o.beside)
		when := "where that sends nothing"
		if o.early {
			when = "in the first millisecond of its bursts"
		}
		fell = append(fell, fmt.Sprintf("%s %s (%s; %s %s)", o.whole(), perSecondOf(o.beside), count(o.cnps, "CNP"), perSecondOf(o.without), when))
	}
	slower := fmt.Sprintf("%s of others", count(uint64(len(k.others)), "queue pair"))
	same := k.ofHost()
	if same != nil {
		slower = fmt.Sprintf("%s of the same host and %s", same.named(), count(uint64(len(k.others)-1), "other"))
	}
	i.What = fmt.Sprintf("%s does not slow down though %s came to it: from %s on, in %s, it goes on at %s, where %s came to %v in all at most; %s slow down to %s. %s",
		k.whole(), count(k.cnps, "CNP"), t.offset(k.since()), count(uint64(k.bursts), "burst"), perSecondOf(k.rate), perSecondOf(k.most), i.Peer.Addr,
		slower, between(perSecondOf(least), perSecondOf(most)), i.What)
	i.Headline = fmt.Sprintf("%v QP 0x%x does not slow down at CNPs", k.from().Addr, k.from().QPN)
	i.fact("reaction", fmt.Sprintf("none of %s to QP 0x%x that its rate shows, from 1ms after the beginning of each burst on; %.0f %% of its packets are marked, and about %.0f CNPs came to it in each millisecond in which it sent; %v, which sends these, has the others slow down with theirs: it is not the cause",
		k.whole(), k.c.Ends[1-k.end].QPN, 100*k.marked, k.perMillisecond(), i.Peer.Addr))
	i.fact("starved", fmt.Sprintf("beside it: %s", enumerate(fell)))
	t.flowNext(i, &k, same)
	return true
}

// flowNext says where to look for why it does not slow down.
func (t *teller) flowNext(i *Incident, k *keptFlow, same *yielding) {
	host, prio := k.from().Addr, "for its priority"
	if k.from().Path.Known && k.c.Encap.OnIP() {
		prio = fmt.Sprintf("for the priority that DSCP %d has there", k.from().Path.DSCP)
	}
	unlike := k.others[0].whole()
	if same == nil {
		i.FitsWith = []string{
			fmt.Sprintf("congestion control of %v (reaction point) that is off for the priority of %s, or set otherwise than that of the others", host, k.named()),
			"CNPs that are lost after the tap on the way to it",
		}
	} else {
		unlike = same.named()
		i.FitsWith = []string{fmt.Sprintf("congestion control of %v (reaction point) that is off %s, or set otherwise: CNPs reach the host, as %s slows down", host, prio, unlike)}
		if same.from().Path.DSCP == k.from().Path.DSCP {
			i.FitsWith[0] = fmt.Sprintf("congestion control of %v (reaction point) that is off for this queue pair, or set otherwise: CNPs reach the host, as %s slows down", host, unlike)
		}
	}
	i.Next = []string{fmt.Sprintf("whether congestion control is on at %v %s (RoCE reaction point: ecn/roce_rp/enable/<prio>), beside that of %s, and its counters of CNPs (rp_cnp_handled, rp_cnp_ignored)", host, prio, unlike)}
	if same != nil {
		i.heeding = host.String() + " too"
	} else {
		t.mayDropCNPs(i, host)
	}
}
