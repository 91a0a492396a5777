package report

import (
	"fmt"
	"time"

	"ibwitness/agent"
	"ibwitness/timing"
)

// pauseLoops is how many times as long as a round of READs a pause lasts at least.
const pauseLoops = 2

// deeper is an end that has more READs outstanding to the same host than another, to which CM granted one, at about the same round trip.
type deeper struct {
	end, peer *agent.End
	count     int
	rate      rate
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

// deeperThan is the fastest such end; nil: there is none, so that it may be the program that reads one at a time which takes so long.
func (t *text) deeperThan(d *depth) (fastest *deeper) {
	for i := range t.res.Connections {
		c := &t.res.Connections[i]
		for from := range c.Ends {
			if o := deeperOf(c, from, d); o != nil && (fastest == nil || o.rate.perSecond() > fastest.rate.perSecond()) {
				fastest = o
			}
		}
	}
	return fastest
}

func deeperOf(c *agent.Connection, from int, d *depth) *deeper {
	if c.Timing == nil || !c.Service.Reliable() || c.Ends[1-from].Addr != d.peer.Addr || depthAgreed(&c.Ends[from]) <= 1 {
		return nil
	}
	e := &c.Timing.Ends[from]
	if e.Reads < 2 || len(e.Asks) < max(depthMessages, 2*e.Reads) {
		return nil
	}
	loop := timing.LeastLoop(e.Asks, e.Reads)
	o := deeper{&c.Ends[from], &c.Ends[1-from], e.Reads, rateOf(e.Asks, loop)}
	if long, short := max(loop, d.Loop), min(loop, d.Loop); float64(long) > depthAlike*float64(short) || o.rate.perSecond() < depthMore*float64(d.one)/d.Loop.Seconds() {
		return nil
	}
	return &o
}

// oneAtOnce says that CM granted an end one READ at a time, what that comes to, and who has more.
func (t *text) oneAtOnce(d *depth) string {
	why := fmt.Sprintf("CM agreed on 1 with %v", d.peer.Addr)
	remedy := fmt.Sprintf("To have more, raise initiator_depth (max_rd_atomic) on %v, and responder_resources on %v where that is 1 too.", d.end.Addr, d.peer.Addr)
	if g := t.granted(d.end, d.peer); g != "" {
		why += ": " + g
		remedy = raiseGranted(d.peer)
	} else if in := t.acceptedIn(d.end, d.peer); in != "" {
		why += " (REP" + in + ")"
	}
	o := d.deeper
	return fmt.Sprintf("READ depth: %v %s may have no more than one READ outstanding: %s. Each comes %s after the answer to the one before it: one of %s in %s comes to %s, while it reads. "+
		"%v %s, for which CM agreed on %d%s, has up to %d outstanding at about the same round trip: %s while it reads. %s",
		d.end.Addr, qp(d.end.QPN, d.end.QPNKnown), why, span(d.After), size(uint64(d.one)), span(d.Loop), bitRate(uint64(d.one), d.Loop),
		o.end.Addr, qp(o.end.QPN, o.end.QPNKnown), depthAgreed(o.end), t.acceptedIn(o.end, o.peer), o.count, bitRate(o.rate.bytes, o.rate.busy), remedy)
}
