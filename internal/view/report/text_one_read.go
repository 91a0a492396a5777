package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	pair "ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// pauseLoops is how many times as long as a round of READs a pause lasts at least.
const pauseLoops = 2

// deeper is an end that has more READs outstanding to the same host than another, to which CM granted one, at about the same round trip.
type deeper struct {
	end, peer *agent.End
	count     int
	rate      rate
	after     time.Duration // least from an answer to the READ that could be sent then, as the tap sees them
	loop      time.Duration
}

// rate is what READs get while they go on.
type rate struct {
	bytes uint64
	busy  time.Duration
}

func rateOf(asks []timing.Sent, loop time.Duration) (r rate) {
	r.busy, r.bytes = timing.Spent(asks, pauseLoops*loop)
	return r
}

func (r rate) perSecond() float64 { return float64(r.bytes) / max(r.busy, 1).Seconds() }

// deeperThan is the fastest such end that is allowed; nil: there is none, so that it may be the program that reads one at a time which takes so long.
func (t *text) deeperThan(d *depth, allowed func(*agent.End) bool) (fastest *deeper) {
	return t.fastestOf(func(c *agent.Connection, from int) *deeper {
		if o := deeperOf(c, from, d); o != nil && allowed(o.end) {
			return o
		}
		return nil
	})
}

// fastestOf is the fastest of what some function finds of all ends; nil: it finds none.
func (t *text) fastestOf(find func(c *agent.Connection, from int) *deeper) (fastest *deeper) {
	for _, c := range t.measured() {
		for from := range c.Ends {
			if o := find(c, from); o != nil && (fastest == nil || o.rate.perSecond() > fastest.rate.perSecond()) {
				fastest = o
			}
		}
	}
	return fastest
}

func deeperOf(c *agent.Connection, from int, d *depth) *deeper {
	if c.Timing == nil || !c.Service.Reliable() || c.Ends[1-from].Addr != d.peer.Addr {
		return nil
	}
	e := &c.Timing.Ends[from]
	if e.Reads < 2*d.Count || len(e.Asks) < max(depthMessages, 2*e.Reads) {
		return nil
	}
	loop := timing.LeastLoop(e.Asks, e.Reads)
	o := deeper{&c.Ends[from], &c.Ends[1-from], e.Reads, rateOf(e.Asks, loop), timing.LeastAfter(e.Asks, e.Reads), loop}
	if !o.asFar(d) || o.rate.perSecond() < depthMore*float64(d.Count)*float64(d.one)/d.Loop.Seconds() {
		return nil
	}
	return &o
}

// asFar reports whether a round trip takes it about as long as another: seen from the responder, from an answer to the next READ, as answers to several
// may wait for one another.
func (o *deeper) asFar(d *depth) bool {
	return asLongAbout(o.loop, d.Loop) || o.byAfter(d)
}

func (o *deeper) byAfter(d *depth) bool { return 2*d.After > d.Loop && asLongAbout(o.after, d.After) }

func asLongAbout(a, b time.Duration) bool {
	return float64(max(a, b)) <= depthAlike*float64(min(a, b))
}

// said says what it gets at the same distance; "": there is none.
func (o *deeper) said(d *depth) string {
	if o == nil {
		return ""
	}
	as := "at about the same round trip"
	if !asLongAbout(o.loop, d.Loop) {
		as = fmt.Sprintf("and sends the next as soon as %s after an answer, too", span(o.after))
	}
	limits := fmt.Sprintf("%v does not limit the first", o.peer.Addr)
	if o.end.Addr == d.end.Addr {
		limits = fmt.Sprintf("neither %v nor the way to it limits the first", o.peer.Addr)
	}
	return fmt.Sprintf(" %v %s has up to %d outstanding to %v, %s: %s while it reads; so %s.",
		o.end.Addr, qp(o.end.QPN, o.end.QPNKnown), o.count, o.peer.Addr, as, bitRate(o.rate.bytes, o.rate.busy), limits)
}

// numberOrOne writes how many begin a sentence.
func numberOrOne(n int) string {
	if n == 1 {
		return "One"
	}
	return fmt.Sprint(n)
}

// agreedOnMore reports whether CM agreed on more than one READ at a time for an end.
func agreedOnMore(e *agent.End) bool { return depthAgreed(e) > 1 }

// raiseAsked says what to raise where the end that asks for one READ at a time may be why it has no more.
func raiseAsked(by, of *agent.End) string {
	return fmt.Sprintf("To have more, raise initiator_depth (max_rd_atomic) on %v, and responder_resources on %v where that is 1 too.", by.Addr, of.Addr)
}

// offered is how many READs and atomics of its peer the REQ of an end offered to serve at once; 0: it sent none, or that is not known. One that reads nothing asks for none itself.
func (t *text) offered(e, peer *agent.End) uint8 {
	if !e.Knows(pair.KnowsMaxDestRdAtomic) || e.AskedDepth == 0 && t.acceptedIn(e, peer) == "" {
		return 0
	}
	return e.ResponderResource
}

// raiseOffered says what to raise where the REQ of an end offered few.
func raiseOffered(by, to *agent.End) string {
	return fmt.Sprintf("To have more, raise the responder_resources that the program on %v connects with (rdma_connect, max_dest_rd_atomic), and initiator_depth on %v.", by.Addr, to.Addr)
}

// besides says which other queue pair of the two hosts has more READs outstanding than an end with one at a time, at about the same round trip, and is
// faster: neither the path nor the responder limits it then; "": there is none.
func (t *text) besides(p *pace) string {
	if p.op != wqe.Read || p.depth != 1 {
		return ""
	}
	d := depth{Depth: timing.Depth{Count: 1, Loop: p.mean}, end: p.end, peer: p.peer, one: uint32(p.one)}
	o := t.deeperThan(&d, func(e *agent.End) bool { return e.Addr == p.end.Addr })
	if o == nil {
		if depthAgreed(p.end) == p.depth { // why it has no more is told
			return ""
		}
		return t.mostBeside(&d)
	}
	return fmt.Sprintf(" %v %s, with up to %d outstanding to %v at about the same round trip, gets %s while it reads: the path and %v give that.",
		o.end.Addr, qp(o.end.QPN, o.end.QPNKnown), o.count, o.peer.Addr, bitRate(o.rate.bytes, o.rate.busy), o.peer.Addr)
}

// single says of an end with one READ at a time, which CM has not limited to that, how soon each follows the answer to the one before, so that the program
// and the requester take no time of note, and what makes it faster; "": it is not that, or the tap may be too far from it to see that.
func (t *text) single(p *pace) string {
	if p.op != wqe.Read || p.depth != 1 || p.quicker != nil {
		return ""
	}
	for _, c := range t.measured() {
		for from := range c.Ends {
			if &c.Ends[from] != p.end {
				continue
			}
			d, ok := depthOf(c, from)
			if !ok || d.Count != 1 || oneSoon*d.After > d.Loop {
				return ""
			}
			return fmt.Sprintf(" Each of %s on %s follows %s (median) after the answer to the one before it: the way to %v and back, and its answer, take the rest. "+
				"Next: more READs outstanding (the queue depth of the program, max_rd_atomic or initiator_depth), or larger ones.",
				size(uint64(d.one)), qp(p.end.QPN, p.end.QPNKnown), span(d.After), p.peer.Addr)
		}
	}
	return ""
}

// soon says how long after an answer a request comes; clocks of captures do not tell less than a microsecond apart.
func soon(d time.Duration) string {
	if d < time.Microsecond {
		return "right "
	}
	return span(d) + " "
}

const (
	onlyOne    = " may have no more than one READ outstanding" // after the end to which CM granted one at a time
	soToldMost = 4                                             // queue pairs that are named beside one of which the same is told
)

// oneAtOnce says that CM granted an end one READ at a time, what that comes to, and who has more.
func (t *text) oneAtOnce(d *depth) string {
	why, remedy := t.oneGranted(d)
	upTo := ""
	if d.varied {
		upTo = "up to "
	}
	return fmt.Sprintf("READ depth: %v %s%s: %s. "+
		"Each comes %safter the answer to the one before it: one of %s%s in %s comes to %s, while it reads%s.%s %s",
		d.end.Addr, qp(d.end.QPN, d.end.QPNKnown), onlyOne, why, soon(d.After), upTo, size(uint64(d.one)), span(d.Loop),
		bitRate(uint64(d.one), d.Loop), d.phases(), t.more(d), remedy)
}

// soToo says which other queue pairs of the same two hosts may have no more than one READ either, with the same remedy, and notes that they are told; "": none.
func (t *text) soToo(d *depth, list []depth, told map[*agent.End]bool) string {
	_, remedy := t.oneGranted(d)
	var other []string
	for i := range list {
		o := &list[i]
		if o.Count != 1 || o.agreed() != 1 || o.end.Addr != d.end.Addr || o.peer.Addr != d.peer.Addr {
			continue
		}
		if _, r := t.oneGranted(o); r == remedy {
			told[o.end] = true
			other = append(other, qp(o.end.QPN, o.end.QPNKnown))
		}
	}
	switch {
	case len(other) == 0:
		return ""
	case len(other) > soToldMost:
		return fmt.Sprintf(" The same holds for %s to %v.", count(len(other), "other queue pair"), d.peer.Addr)
	}
	return " The same holds for " + enumerate(other) + "."
}

// oneGranted says why an end has one READ at a time, as CM tells it, and what to raise.
func (t *text) oneGranted(d *depth) (why, remedy string) {
	why = fmt.Sprintf("CM agreed on 1 with %v", d.peer.Addr)
	remedy = raiseAsked(d.end, d.peer)
	if g := t.granted(d.end, d.peer); g != "" {
		why += ": " + g
		remedy = raiseGranted(d.peer)
	} else if t.offered(d.peer, d.end) == 1 {
		why += fmt.Sprintf(": the REQ of %v offered no more (responder_resources)", d.peer.Addr)
		remedy = raiseOffered(d.peer, d.end)
	} else if in := t.acceptedIn(d.end, d.peer); in != "" {
		why += " (REP" + in + ")"
	}
	return why, remedy
}

// oneLeast is how large READs are at least that are told to come one at a time in phases: with smaller ones it hardly is their rate that matters.
// They take one part in phaseLeast of the time at least, and each follows the answer within one part in oneSoon of a round.
const (
	oneLeast   = 4096
	phaseLeast = 100
	oneSoon    = 8
)

// oneAgreed reports whether an end reads one at a time, as CM agreed, and sends each as soon as the answer to the one before has come, though it may
// read in phases only. The tap is at its side then.
func (d *depth) oneAgreed() bool {
	return d.Count == 1 && d.agreed() == 1 && d.one >= oneLeast && oneSoon*d.After <= d.Loop && phaseLeast*d.waited >= d.elapsed
}

// phases says for which part of the time one waits, where it is not most of it.
func (d *depth) phases() string {
	if !d.oneAgreed() || 2*d.waited > d.elapsed {
		return ""
	}
	return fmt.Sprintf(" (in phases: one waits for %s of the time, for %s in all)", inPercent(d.waited.Seconds()/d.elapsed.Seconds()), span(d.waited))
}

// more says who has more READs outstanding: another end to the same host, or the same end to another host, whose answers take about as long.
func (t *text) more(d *depth) string {
	if o := d.deeper; o != nil {
		agreed := ""
		if n := depthAgreed(o.end); n > 0 {
			agreed = fmt.Sprintf(", for which CM agreed on %d%s,", n, t.acceptedIn(o.end, o.peer))
		}
		return fmt.Sprintf(" %v %s%s has up to %d outstanding at about the same round trip: %s while it reads.",
			o.end.Addr, qp(o.end.QPN, o.end.QPNKnown), agreed, o.count, bitRate(o.rate.bytes, o.rate.busy))
	}
	if !d.oneAgreed() {
		return ""
	}
	return t.mostBeside(d)
}

// mostBeside says which queue pair of the same host has more READs outstanding to another, whose answers take about as long; "": none has.
func (t *text) mostBeside(d *depth) string {
	most := t.fastestOf(func(c *agent.Connection, from int) *deeper { return besideOf(c, from, d) })
	if most == nil {
		return ""
	}
	return fmt.Sprintf(" The same host has up to %d outstanding on %s to %v, whose first answers take as long: %s while it reads.",
		most.count, qp(most.end.QPN, most.end.QPNKnown), most.peer.Addr, bitRate(most.rate.bytes, most.rate.busy))
}

// besideOf is an end of the same host that has more READs outstanding to another, whose soonest answer takes about as long, and is faster; nil: it is none.
func besideOf(c *agent.Connection, from int, d *depth) *deeper {
	if c.Timing == nil || !c.Service.Reliable() || c.Ends[from].Addr != d.end.Addr {
		return nil
	}
	e := &c.Timing.Ends[from]
	if e.Reads < 2*d.Count || len(e.Asks) < depthMessages {
		return nil
	}
	o := deeper{end: &c.Ends[from], peer: &c.Ends[1-from], count: e.Reads, rate: rateOf(e.Asks, 0), loop: timing.Soonest(e.Asks)}
	if !asLongAbout(o.loop, d.Loop) || o.rate.perSecond() < depthMore*float64(d.one)/d.Loop.Seconds() {
		return nil
	}
	return &o
}
