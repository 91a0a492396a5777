package agent

import (
	"time"

	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/verifier/rd"
	"ibwitness/wqe"
)

// open fills in which requests of a connection wait for an answer: where CM has disconnected, none does.
func (t *Transport) open(c *connection.Connection, k *Connection) {
	if !c.Closed {
		t.openEver(c, k)
	}
}

// openEver fills in which requests of a connection have no answer, be it that they wait, or that CM has disconnected before one came.
func (t *Transport) openEver(c *connection.Connection, k *Connection) {
	if !c.Reliable() || c.Ends[0].Reused || c.Ends[1].Reused || !c.Paired && !t.table.NeverAnswered(&c.Pair) {
		return
	}
	for e := range c.Ends {
		q := &c.Ends[e].SQ
		if m := midway(c, e); m != nil && (k.Midway == nil || m.Since < k.Midway.Since) {
			k.Midway = m
		}
		if n, oldest := q.Outstanding(); n > 0 && !c.RQ(1-e).Refused() {
			end := &k.Ends[e]
			end.Open, end.OpenSince, end.OpenFrame = uint32(n), q.TimerStart, q.Last.Frame&^0xFFFFFFFF|uint64(oldest.Frame)
			end.OpenEnded = uint16(q.OutstandingEnded())
			if end.OpenFrame > q.Last.Frame {
				end.OpenFrame -= 1 << 32
			}
		}
	}
}

// midway returns the message of an end of which a part was sent; nil: there is none, or it is not certain, as where the rest came damaged, or a response to it shows that it was sent.
func midway(c *connection.Connection, end int) *Midway {
	q, r := &c.Ends[end].SQ, c.RQ(1-end)
	if q.Open == wqe.None { // of nearly all
		return nil
	}
	w := q.Messages.Newest()
	if len(c.Early()) > 0 || r.Unseen > 0 || q.DamagedFrom(q.Next) {
		return nil
	}
	if !q.Sequence.Certain() || q.Next != q.High || w == nil || w.Op != q.Open || w.Has(wqe.Ended) || q.Last.PSN != q.Next.Add(-1) {
		return nil
	}
	return &Midway{end, w.Op, w.First, w.Length, w.Got(), packet.FrameNear(q.Last.Frame, w.Frame), q.Last.Frame, q.Last.Time}
}

// Open is the requests that wait for an answer when the capture ends.
type Open struct {
	Requests    uint64
	Managed     uint64 // of them, those of management
	Connections int
	Again       bool          // they were retransmitted without an answer
	Unclocked   bool          // the clock was set, so that Waited is not to be trusted
	Apart       bool          // the clocks of interfaces differ, so that a response may be dated before its request
	Waited      time.Duration // since one of them was sent, or a response made progress; of several connections the longest of those for which Again is the same
	Frame       uint64        // that the oldest of these at the first tap began in
	Tap         uint16
}

// usualWait is how long a request waits for its answer at most where nothing is wrong but that the capture ends: several times the way there and
// back, and less than most retransmission timers take.
const usualWait = 100 * time.Millisecond

// Usual reports whether they may well have been answered just after the capture ended.
func (o *Open) Usual() bool { return o.Waited < usualWait && !o.Again }

// Add adds what another one counts.
func (o *Open) Add(p *Open) {
	if p.Requests == 0 {
		return
	}
	switch {
	case o.Requests == 0 || p.Again && !o.Again:
		o.Again, o.Waited, o.Frame, o.Tap = p.Again, p.Waited, p.Frame, p.Tap
	case p.Again == o.Again:
		o.Waited = max(o.Waited, p.Waited)
		if p.Tap < o.Tap || p.Tap == o.Tap && p.Frame < o.Frame {
			o.Tap, o.Frame = p.Tap, p.Frame
		}
	}
	o.Requests += p.Requests
	o.Managed += p.Managed
	o.Connections += p.Connections
}

// waits counts the requests of a connection that wait for an answer at time now.
func (t *Transport) waits(c *connection.Connection, now int64) {
	var k Connection
	if t.open(c, &k); answeredElsewhere(c) {
		return
	}
	connections := 1
	for e := range k.Ends {
		if end, q := &k.Ends[e], &c.Ends[e]; end.Open > 0 {
			t.opened.Add(&Open{
				Requests: uint64(end.Open), Connections: connections, Frame: end.OpenFrame, Tap: q.SQ.Last.Tap, Waited: time.Duration(now - end.OpenSince),
				Again: q.SQ.Restarts > 0 || c.RQ(1-e).NAK.RNRs > 1 || !c.Paired && q.Faults().Retransmissions > 0,
			})
			connections = 0
		}
	}
}

// silent judges all connections whose ends have left something undone up to time now.
func (t *Transport) silent(now int64) {
	for c := range t.table.All() {
		if c.Reliable() {
			t.rc.Silent(&c.Pair, now)
		}
	}
}

// waitsRD counts the messages of two end-to-end contexts that wait for an answer at time now.
func (t *Transport) waitsRD(c *connection.Connection, now int64) {
	if !c.Paired {
		return
	}
	connections := 1
	for e := range c.Ends {
		if w, ok := rd.Waits(&c.Pair, e); ok {
			t.opened.Add(&Open{Requests: 1, Connections: connections, Frame: w.Frame, Tap: w.Tap, Waited: time.Duration(now - w.Since), Again: w.Again})
			connections = 0
		}
	}
}

// waitsManagement counts the management requests whose responders had their time, and have not answered at time now.
func (t *Transport) waitsManagement(now int64) (sum Open) {
	for _, o := range t.gmp.Open(now) {
		sum.Add(&Open{Requests: o.Requests, Managed: o.Requests, Connections: 1, Frame: o.Frame, Tap: o.Tap, Waited: time.Duration(now - o.Since), Again: o.Again})
	}
	for _, o := range t.smp.Open(now) {
		sum.Add(&Open{Requests: o.Requests, Managed: o.Requests, Connections: 1, Frame: o.Frame, Tap: o.Tap, Waited: time.Duration(now - o.Since), Again: o.Again})
	}
	return sum
}
