package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// From how many messages on, and from how long a wait of each on, it is told that an end waited for the answer to each before it sent the next.
const (
	paceMessages = 16
	paceLatency  = 100 * time.Microsecond
	pacesTold    = 3
	// lateTimes is how many times as long as those of another connection answers take at least that are told to be late.
	lateTimes = 10
)

// pace is an end that had about one request outstanding at a time; or more of READs and atomics, always as many.
type pace struct {
	end     *agent.End
	op      wqe.Op
	n       uint64
	mean    time.Duration
	bytes   uint64
	one     uint64 // bytes of each, in the mean
	elapsed time.Duration
	depth   int // requests outstanding at a time
	peer    *agent.End
	quicker *agent.End    // an end of the same two hosts on which messages of the operation that are no smaller take a tenth as long; nil: none
	others  time.Duration // what they take there in the mean
}

// paces tells, where times were measured, of ends that waited for the answer to each request before they sent the next, and for long: nothing is wrong there, and it is slow.
func (t *text) paces() {
	list := t.paced()
	bound := t.depths(list)
	if singly := append(t.postedSingly(), t.oneTurns()...); len(singly) > 0 {
		t.few(singly)
	} else if len(list)+len(bound)+len(t.slowHosts()) == 0 {
		t.idle()
	}
	if t.readsUp {
		t.tellPaces(list)
		return
	}
	first := slowerThan(list, bound)
	if !first {
		t.boundByDepth(bound)
	}
	t.tellPaces(list)
	if first {
		t.boundByDepth(bound)
	}
}

// slowerThan reports whether one of some ends is slower than all that are bound by how many READs they have outstanding.
func slowerThan(list []pace, bound []depth) bool {
	least := math.Inf(1)
	for _, d := range bound {
		least = min(least, float64(d.bytes)/max(d.elapsed, 1).Seconds())
	}
	return slices.ContainsFunc(list, func(p pace) bool { return p.bytes > 0 && float64(p.bytes)/p.elapsed.Seconds() < least })
}

func (t *text) tellPaces(list []pace) {
	for k := 0; k < len(list); {
		if k >= pacesTold && !t.All {
			t.line("  … and %s so; --all tells every one", count(len(list)-k, "more end"))
			return
		}
		p, with, single := &list[k], "", ""
		agreed, besides := t.agreedOnDepth(p), t.besides(p)
		if agreed == "" {
			single = t.single(p)
		}
		said := p.said(agreed)
		for k++; k < len(list) && p.quicker == nil && t.sameStory(p, &list[k], agreed+besides); k++ {
			o := &list[k]
			with += fmt.Sprintf(" So had %s%s: %s each, %s.", qp(o.end.QPN, o.end.QPNKnown), t.inREP(o, agreed), span(o.mean), o.rate())
		}
		t.prose("  ", said+with+besides+single)
	}
}

// sameStory reports whether all that is told of a pace, but the frame of its REP, is so of another, too, of the same two hosts.
func (t *text) sameStory(p, o *pace, told string) bool {
	if o.end.Addr != p.end.Addr || o.peer.Addr != p.peer.Addr || o.op != p.op || o.depth != p.depth || o.quicker != nil || p.depth > 1 {
		return false
	}
	other := t.agreedOnDepth(o) + t.besides(o)
	if in := t.acceptedIn(p.end, p.peer); in != "" {
		told = strings.Replace(told, in, t.acceptedIn(o.end, o.peer), 1)
	}
	return told == other
}

// inREP names the frame of the REP of a pace, where what is told of one like it names its own.
func (t *text) inREP(p *pace, agreed string) string {
	if in := t.acceptedIn(p.end, p.peer); in != "" && strings.Contains(agreed, " (REP in frame ") {
		return " (REP" + in + ")"
	}
	return ""
}

// rate writes what a pace comes to.
func (p *pace) rate() string {
	if p.op.Atomic() {
		return number(uint64(float64(p.n)/p.elapsed.Seconds())) + " a second"
	}
	return bitRate(p.bytes, p.elapsed)
}

func (t *text) paced() (list []pace) {
	for _, c := range t.measured() {
		for from := range 2 {
			if p, ok := paceOf(c, from); ok {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	t.quickest(list)
	// Answers to several at a time may wait for one another.
	return slices.DeleteFunc(list, func(p pace) bool { return p.depth > 1 && p.quicker == nil })
}

// quickest finds, for each of some ends, on which other connection of the same two hosts answers come soonest.
func (t *text) quickest(list []pace) {
	of := map[[2]packet.Addr][]*pace{}
	for k := range list {
		p := &list[k]
		of[[2]packet.Addr{p.end.Addr, p.peer.Addr}] = append(of[[2]packet.Addr{p.end.Addr, p.peer.Addr}], p)
	}
	for _, c := range t.measured() {
		if !c.Service.Reliable() {
			continue
		}
		for from := range c.Ends {
			for _, p := range of[[2]packet.Addr{c.Ends[from].Addr, c.Ends[1-from].Addr}] {
				p.compare(&c.Ends[from], c.Timing.Ends[from].Ops[p.op])
			}
		}
	}
}

// compare notes an end of the same two hosts, with what messages of the operation took there, if they take a tenth as long and are no smaller.
func (p *pace) compare(e *agent.End, o *timing.Operation) {
	if o == nil || o.Latency.Count() < paceMessages || o.Bytes/max(o.Count, 1) < p.one {
		return
	}
	if mean := time.Duration(o.Latency.Sum / o.Latency.Count()); p.mean >= lateTimes*mean && (p.quicker == nil || mean < p.others) {
		p.quicker, p.others = e, mean
	}
}

// paceOf is the pace of an end: of the operation that most of the time went to.
func paceOf(c *agent.Connection, from int) (p pace, ok bool) {
	if c.Timing == nil || !c.Service.Reliable() {
		return p, false
	}
	if x := c.Ends[from].Trouble; x != nil && (x.RNR.NAKs > 0 || x.Sum.Count > 0) {
		return p, false // that is told
	}
	e := &c.Timing.Ends[from]
	waited, most := uint64(0), uint64(0)
	n, all := uint64(0), uint64(0)
	for op, o := range e.Ops {
		if o == nil {
			continue
		}
		waited, all = waited+o.Latency.Sum, all+o.Bytes
		if o.Latency.Sum > most {
			most, n = o.Latency.Sum, o.Latency.Count()
			p.op, p.bytes, p.one = wqe.Op(op), o.Bytes, o.Bytes/max(o.Count, 1)
		}
	}
	if !p.op.Responded() && 2*p.bytes < all {
		return p, false // what it moves otherwise is most
	}
	p.end, p.peer = &c.Ends[from], &c.Ends[1-from]
	p.elapsed = time.Duration(max(c.Ends[0].Last, c.Ends[1].Last) - cmp.Or(e.Active.First, c.First)) // a connection begins with what CM sends
	if n < paceMessages || p.elapsed <= 0 {
		return p, false
	}
	p.n, p.mean = n, time.Duration(most/n)
	outstanding := float64(waited) / float64(p.elapsed) // in the mean
	waits := e.Gaps != nil && e.Gaps.Sum > uint64(p.elapsed)/2
	least := 0.8
	if p.depth = 1; p.op.Responded() && e.Reads > 1 {
		p.depth, least = e.Reads, 0.5
	}
	outstanding /= float64(p.depth)
	return p, p.mean >= paceLatency && outstanding > least && outstanding < 1.2 && waits
}

// said says that an end waited for each answer, and what that came to. agreed says that CM allows no more at a time; "": it may, or that is not known.
func (p *pace) said(agreed string) string {
	rate := p.rate()
	why := "a program that waits for each"
	if p.op.Responded() {
		why = "max_rd_atomic, or " + why
		if n := depthAgreed(p.end); n > p.depth {
			why = fmt.Sprintf("CM agreed on %d with %v: a lower max_rd_atomic of its own, or a program that waits for each", n, p.peer.Addr)
		}
	}
	switch {
	case p.quicker != nil:
		why = fmt.Sprintf("%v answers late: to %v %s it takes %s for as much; or %s",
			p.peer.Addr, p.quicker.Addr, qp(p.quicker.QPN, p.quicker.QPNKnown), span(p.others), why)
	case !p.op.Responded():
		why += ", or a responder that answers late"
	}
	who := fmt.Sprintf("%v %s had ", p.end.Addr, qp(p.end.QPN, p.end.QPNKnown))
	if p.op.Responded() {
		n := "one " + p.op.String()
		if p.depth > 1 {
			n = fmt.Sprintf("up to %d %vs", p.depth, p.op)
		}
		if agreed != "" && p.quicker == nil {
			return fmt.Sprintf("%s%s outstanding at a time, %s each until its answer: %s.%s", who, n, span(p.mean), rate, agreed)
		}
		return fmt.Sprintf("%s%s outstanding at a time, %s each until its answer: %s (%s?).", who, n, span(p.mean), rate, why)
	}
	return fmt.Sprintf("%sabout one %v outstanding in the mean, %s each until its answer, and sent nothing most of the time: %s (%s?).", who, p.op, span(p.mean), rate, why)
}

// bitRate writes a rate in bits a second.
func bitRate(bytes uint64, d time.Duration) string {
	bits := 8 * float64(bytes) / d.Seconds()
	switch {
	case bits >= 1e9:
		return fmt.Sprintf("%.3g Gbit/s", bits/1e9)
	case bits >= 1e6:
		return fmt.Sprintf("%.3g Mbit/s", bits/1e6)
	}
	return fmt.Sprintf("%.3g kbit/s", bits/1e3)
}
