package cq

import (
	"math"
	"slices"
	"sort"
)

// clock is what is known of the difference between the clock of the packets and that of a log: lo … hi nanoseconds are to be added to
// the log's. A request leaves after it was posted; an answer is on the wire before the completion. Where these contradict each other, hi
// holds, which only posts bound: an adapter cannot send what has not been posted. Where fewer posts than completions would have to be wrong, neither is known.
type clock struct {
	lo, hi int64
	bound  int64 // of hi, before any request has been compared
	slack  int64 // how far clocks and capture may be off beyond that
	exact  bool
	trust  bool // hi is known, and few completions contradict it

	begin    int64 // time of the first event
	newest   int64
	upper    []int64    // the least that posts show of hi, in their order
	compared int        // completions that were compared with what they need
	lower    []int64    // of some of them, how much later that was by the clock of the packets
	kept     int        // every which is among those
	ended    bool       // no more come
	stale    int        // lines since one that was not long before another
	posts    [64]posted // the newest, each over the oldest
	nPosts   int
	early    fading    // the most of the differences that completions show
	grain    int64     // the least time between two events, which is that of the clock where it is coarse
	last     int64     // time of the newest line
	resumed  [16]int64 // times of the newest lines that came after a pause, each over the oldest
	pauses   int
	leap     int64 // how much longer is waited since it was set back; 0: it was not
}

// Allowances for clocks that run apart and for frames that several queues of a card recorded.
const (
	slackBase    = 500_000 // 500 µs
	slackRate    = 10_000  // one part of
	slackRecord  = 20_000  // 20 µs
	slackSending = 100_000_000
	slackLeapt   = 1_000_000_000
	mostGrain    = 1_000_000_000
	// mostLate is how many lines in a row a thread may write later than it stamped them: of more, the clock was set back.
	mostLate = 4
)

// slackRecord is how far packets may be out of order, in nanoseconds: not at all where the log has their clock.
func (s *Source) slackRecord() int64 {
	if s.clock.exact {
		return 0
	}
	return slackRecord
}

// Clock returns between which bounds the clock of a log is ahead of that of the packets, in nanoseconds, and whether packets have shown that.
func (s *Source) Clock() (least, most int64, bounded bool) {
	c := &s.clock
	if c.exact || c.hi == math.MaxInt64 {
		return 0, 0, c.exact
	}
	least, most = -c.hi-c.slack, -c.hi+c.slack
	if c.lo != math.MinInt64 {
		least, most = min(least, -c.lo-c.slack), max(most, -c.lo+c.slack)
	}
	return least, most, true
}

// SetBack reports whether the clock of a log was set back: nothing is proven by its times from then on.
func (s *Source) SetBack() bool { return s.clock.leap > 0 }

// shift is what is to be added to the times of the log, as far as that is known.
func (c *clock) shift() int64 {
	switch most := min(c.hi, c.bound); {
	case c.exact || most == math.MaxInt64:
		return 0
	default:
		return most
	}
}

// onWire is the time of an event by the clock of the packets, as far as that is known.
func (s *Source) onWire(t int64) int64 { return t + s.clock.shift() }

// Bound says what is to be added to the times of a log at most, as the first packets of its queue pairs show; math.MaxInt64: they do not.
func (s *Source) Bound(most int64) { s.clock.bound = most }

// aligned reports whether there is an upper bound.
func (c *clock) aligned() bool { return c.exact || c.hi != math.MaxInt64 }

// leaves takes over when a request was posted, and when its message was on the wire by the clock of the packets, or one was answered than the receive request that it took was posted.
func (a *Agent) leaves(s *Source, t, wire int64) {
	difference := wire - t
	c := &s.clock
	if c.exact {
		return
	}
	c.posts[c.nPosts%len(c.posts)] = posted{t, difference}
	c.nPosts++
	if len(c.upper) == mostUpper && difference >= c.upper[mostUpper-1] {
		return
	}
	i, _ := slices.BinarySearch(c.upper, difference)
	c.upper = slices.Insert(c.upper[:min(len(c.upper), mostUpper-1)], i, difference)
	c.hi = c.upper[0]
	c.judge()
}

// mostUpper is how many posts are kept to see how many would have to be wrong.
const mostUpper = 16

// ends takes over when a request completed, and when its message was answered by the clock of the packets: not later.
func (a *Agent) ends(s *Source, t, wire int64) {
	difference := wire - t
	c := &s.clock
	if c.exact {
		return
	}
	c.lo = max(c.lo, difference)
	c.early.add(difference, t)
	if c.compared%c.stride() == 0 {
		c.lower = append(c.lower, difference)
	}
	c.compared++
	c.judge()
}

// sample compares the completions of a queue pair that are not judged yet with the packets that they need, for what they show of the clock of its log.
func (a *Agent) sample(q *queuePair) {
	if q.src.clock.exact || a.ended {
		return
	}
	for _, w := range q.sending.settling {
		if !w.sampled && w.done.Completion.Status == Success {
			if at := a.completesOn(q, w); at != nil {
				w.sampled = true
				a.ends(q.src, w.done.Time, at.Time)
			}
		}
	}
	if !q.ordered() {
		return
	}
	for _, t := range q.receiving.waiting {
		if n := t.of.place - q.receiving.invented; !t.sampled && t.event.Completion.Status == Success && n >= 0 && n < q.receiving.arrived.end() && q.certain(n) {
			t.sampled = true
			a.ends(q.src, t.event.Time, q.receiving.arrived.at(n).End.Time)
		}
	}
}

// enough is how many completions show whether the clocks can be compared, before all have been seen.
const enough = 16

// judge finds out whether the clock can be trusted.
func (c *clock) judge() {
	if c.trust = c.aligned() && c.leap == 0 && (c.compared >= enough || c.ended); !c.trust {
		return
	}
	completions, posts := c.contradicted()
	c.trust = completions*4 <= len(c.lower) && (completions == 0 || posts == mostUpper || posts >= completions)
}

// mostLower is how many completions are kept to see whether hi contradicts them.
const mostLower = 256

// stride is the distance of the completions that are kept, of all the run as many as there is room for.
func (c *clock) stride() int {
	n := 1
	for ; c.compared >= n*mostLower; n *= 2 {
	}
	if n > c.kept {
		if c.kept = n; n > 1 {
			for i := range len(c.lower) / 2 {
				c.lower[i] = c.lower[2*i]
			}
			c.lower = c.lower[:len(c.lower)/2]
		}
	}
	return n
}

// contradicted counts the completions that contradict hi, and of the posts that are kept those that the completions contradict.
func (c *clock) contradicted() (completions, posts int) {
	most := int64(math.MinInt64)
	for _, l := range c.lower {
		if l > c.hi+c.slack {
			completions, most = completions+1, max(most, l)
		}
	}
	if completions > 0 {
		posts, _ = slices.BinarySearch(c.upper, most-c.slack)
	}
	return completions, posts
}

// drifts takes over that an event has come: clocks run apart.
func (c *clock) drifts(t int64) {
	if c.exact {
		return
	}
	if c.begin == 0 {
		c.begin = t
	}
	if c.stale++; t >= c.newest-slackBase {
		c.stale = 0
	}
	if c.stale == mostLate || t < c.newest-slackSending {
		c.setBack(c.newest - t)
	}
	if t-c.newest >= slackSending {
		c.resumed[c.pauses%len(c.resumed)] = t
		c.pauses++
	}
	c.newest = max(c.newest, t)
	if d := max(t-c.last, c.last-t); d > 0 && (c.grain == 0 || d < c.grain) {
		c.grain = d
	}
	c.last = t
	c.slack = slackBase + (t-c.begin)/slackRate + min(c.grain, mostGrain) + c.leap
}

// most is how much is to be added to the time of an event until all packets from before it have been seen: hi, or more where the newest completions show that.
func (c *clock) most(t int64) int64 {
	most := c.hi
	if c.early.at != 0 {
		most = max(most, 2*c.early.n-c.early.most(t)) // it may have become more since
	}
	if c.resumedBefore(t) == math.MinInt64 {
		return most
	}
	return max(most, min(c.mostBefore(t), c.hi+patience))
}

// fading is the most of some numbers that come with time, of which each counts the less the older it is: a clock that is slewed runs faster or slower than that of the packets for a while.
type fading struct {
	n  int64
	at int64 // when that was; 0: there is none
}

// slewRate is one part of how much a clock is slewed at most.
const slewRate = 20

func (r *fading) add(v, t int64) {
	if r.at == 0 || v > r.most(t) {
		r.n, r.at = v, max(t, 1)
	}
}

func (r *fading) most(t int64) int64 { return r.n - max(t-r.at, r.at-t)/slewRate }

// setBack takes over that the clock was set back, by a little more than is seen: nothing is proven by it any more, and what waits for the packets waits so much longer.
func (c *clock) setBack(by int64) {
	c.leap = max(c.leap, 2*by+slackLeapt)
	c.judge()
}

// posted is how much later than its post a message was on the wire, or one was answered than the receive request that it took was posted.
type posted struct{ t, difference int64 }

// mostBefore is how much is to be added at most to the time of an event, as posts before it show: the clock may have been set ahead since. In a pause it may have been set back, unseen.
func (c *clock) mostBefore(t int64) int64 {
	most, since := int64(math.MaxInt64/2), c.resumedBefore(t)
	for _, p := range c.posts[:min(c.nPosts, len(c.posts))] {
		if p.t <= t && p.t >= since {
			most = min(most, p.difference+(t-p.t)/slewRate)
		}
	}
	return most
}

// resumedBefore is when the log went on after the newest pause before a time, math.MinInt64 where none is known.
func (c *clock) resumedBefore(t int64) int64 {
	since := int64(math.MinInt64)
	for _, r := range c.resumed[:min(c.pauses, len(c.resumed))] {
		if r <= t {
			since = max(since, r)
		}
	}
	return since
}

// before reports whether an event is proven to lie before a time of the capture.
func (c *clock) before(t, packet int64) bool { return c.follows(t, t, packet) }

// follows reports whether an event is proven to lie before a time of the capture, that came after another one by the log: it may have been stamped wrongly.
func (c *clock) follows(other, t, packet int64) bool {
	if c.exact {
		return t < packet
	}
	return c.trust && t+c.hi+c.slack < packet && t+c.mostBefore(max(other, t))+c.slack < packet
}

// after reports whether an event is proven to be later than a time of the capture.
func (c *clock) after(t, packet int64) bool {
	if c.exact {
		return t > packet
	}
	return c.trust && c.lo != math.MinInt64 && t+min(c.lo, c.early.most(t))-c.slack > packet
}

// probablyAfter is after where no completion has shown by how much the clocks differ: as if a request left when it was posted.
func (c *clock) probablyAfter(t, packet int64) bool {
	return !c.exact && c.lo == math.MinInt64 && c.hi != math.MaxInt64 && t+c.hi > packet
}

// mayBeAfter reports whether an event may be later than a time of the capture.
func (c *clock) mayBeAfter(t, packet int64) bool {
	if c.exact {
		return t > packet
	}
	if c.hi == math.MaxInt64 {
		return true
	}
	return t+c.most(t)+c.slack > packet
}

// answered returns the response that a send request waits for, or nil. It is valid until the next packet.
func (q *queuePair) answered(w *sendRequest) *PacketRef {
	switch {
	case w.local() || !q.reliable() || !q.out.anchor || w.last() < q.out.joined:
		return nil
	case w.response():
		if m := q.out.Find(w.first); m != nil && m.First == w.first && m.Response.whole() {
			return &m.Response.At
		}
		return nil
	}
	return q.out.ackOf(w.last())
}

// completesOn returns the first response that a send request can have completed on, or nil: the one that it waits for, or, where no tap is near its requester, one
// that answers a later request which was on its way to the tap. It is valid until the next packet.
func (a *Agent) completesOn(q *queuePair, w *sendRequest) *PacketRef {
	at := q.answered(w)
	if len(q.out.ahead) == 0 || w.response() || w.local() || !q.out.anchor || a.near(q.addr()) {
		return at
	}
	for i := range q.out.ahead {
		x := &q.out.ahead[i]
		if x.ord >= w.last() && (at == nil || x.at.Pos < at.Pos) && q.postedBefore(w, x.ord) {
			return &x.at
		}
	}
	return at
}

// postedBefore reports whether the request that takes an ordinal was posted before request w completed, so that its packets may have been sent by then.
func (q *queuePair) postedBefore(w *sendRequest, ord int64) bool {
	list := q.sending.posted.all()
	i := sort.Search(len(list), func(i int) bool { return list[i].last() >= ord })
	return i < len(list) && list[i].n < w.doneN
}
