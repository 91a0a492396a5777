package agent

import (
	"cmp"
	"math"
	"slices"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
)

// logLead is how much earlier than the packets of its time an event of a log is taken whose clock is not that of the packets: a request may
// leave as soon as it was posted, and no clock is right.
const logLead = int64(time.Second)

// mostDisorder is how many lines early or late a line of a log may be whose clock is that of the packets.
const mostDisorder = 64

// driftRate is one part of how much clocks run apart at most: events are read that much earlier.
const driftRate = 10_000

// foreignClock is how far the clock of a log may be from that of the packets. One that is farther counts from another moment, and its first send
// request goes with the first packet.
const foreignClock = int64(time.Hour)

// logs brings the events of several logs and the packets into one order. Which event comes before which packet depends only on their times.
type logs struct {
	list []*logReader
	due  []dueEvent
	next int64 // nothing comes before a packet of an earlier time: math.MinInt64 where that is not known
	// frame is the number of the frame before which events are asked for: of its time, those that came after it are not due. 0: that does not matter.
	frame    uint64
	aligning bool // a log may have yet to be aligned with the packets
}

// dueEvent is an event that comes before the first packet later than at, by the clock of the packets.
type dueEvent struct {
	*cq.Event
	at     int64
	log    int
	before int   // the packet of a batch that it comes before
	last   bool  // of a log that breaks off
	given  bool  // by More of a log that takes it back
	bound  int64 // what is to be added to the times of the log at most, as far as packets show that; math.MaxInt64: they do not
}

// logReader is one log on its way to the agent.
type logReader struct {
	*hcaagent.Log
	index  int
	head   *cq.Event   // the next event, where that is certain
	next   int         // of Events
	sorted []cq.Event  // Events in their order, where the log has them in another one
	more   []*cq.Event // of the calls of More, those that are left
	room   []*cq.Event // for them
	least  int         // of more, as far as there are as many, so that late lines are found
	shift  int64       // from its clock to that of the packets
	set    bool        // shift is
	bound  int64       // of shift, by the packets; math.MaxInt64: none is known
	begun  int64       // time of its first event
	newest int64       // event
	ahead  int         // of Events, those that align has
	align  *alignment  // nil: its clock is that of the packets, or known well enough
}

func (l *logs) add(log *hcaagent.Log) {
	l.next = math.MinInt64
	r := &logReader{Log: log, index: len(l.list), least: 1, newest: math.MinInt64, bound: math.MaxInt64}
	if log.Exact {
		r.order()
	} else {
		r.align, l.aligning = newAlignment(), true
	}
	l.list = append(l.list, r)
}

// peek returns the next event, or nil: there is none yet, or none any more.
func (r *logReader) peek() *cq.Event {
	if r.head == nil {
		return r.find()
	}
	return r.head
}

// find is peek where the next event is not known yet, or may be another one soon.
func (r *logReader) find() *cq.Event {
	if list := r.list(); r.next < len(list) {
		r.head = &list[r.next]
		return r.head
	}
	if len(r.more) < r.least && r.More != nil && !r.Over {
		if r.refill(); len(r.more) < r.least {
			r.least = 1 // nothing more has come: until the next packet
		}
	}
	if len(r.more) == 0 {
		return nil
	}
	if len(r.more) >= mostDisorder || r.Over {
		r.head = r.more[0]
	}
	return r.more[0]
}

// refill takes what has come since. Where several threads of a simulation write a log with the clock of the packets, a line may come late: such events are
// brought to their place among the last of them.
func (r *logReader) refill() bool {
	list := r.More()
	if len(list) == 0 {
		return false
	}
	n := len(r.more)
	r.head = nil
	r.room = append(append(r.room[:0], r.more...), list...)
	r.more = r.room
	for ; r.Exact && n < len(r.more); n++ {
		for i := n; i > 0 && i > n-mostDisorder && r.more[i].Time < r.more[i-1].Time; i-- {
			r.more[i], r.more[i-1] = r.more[i-1], r.more[i]
		}
	}
	return true
}

// order brings events of a log in memory to their places, as refill does.
func (r *logReader) order() {
	list := r.Events
	if slices.IsSortedFunc(list, func(x, y cq.Event) int { return cmp.Compare(x.Time, y.Time) }) {
		return
	}
	list = slices.Clone(list)
	for n := range list {
		for i := n; i > 0 && i > n-mostDisorder && list[i].Time < list[i-1].Time; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
	r.sorted = list
}

// again gives back events that were judged, where nothing refers to them.
func (l *logs) again(list []dueEvent) {
	for i := range list {
		if v := &list[i]; !v.Kept() && v.given {
			l.list[v.log].Again(v.Event)
		}
	}
}

func (r *logReader) list() []cq.Event {
	if r.sorted != nil {
		return r.sorted
	}
	return r.Events
}

// drop passes over the next event, and reports whether the log takes it back.
func (r *logReader) drop() (given bool) {
	r.head = nil
	if r.next < len(r.list()) {
		r.next++
		return false
	}
	r.more = r.more[1:]
	return r.Again != nil
}

// at is when an event comes by the clock of the packets, of which the first has time first.
func (r *logReader) at(e *cq.Event, first int64) int64 {
	if r.Exact {
		return e.Time
	}
	if !r.set {
		r.set, r.begun = true, e.Time
		if d := first - e.Time; first != math.MaxInt64 && (d > foreignClock || d < -foreignClock) {
			r.shift = first - r.firstPost()
		}
	}
	return e.Time + r.shift - logLead - (e.Time-r.begun)/driftRate
}

// look reads ahead in the log, for its alignment.
func (r *logReader) look() {
	a := r.align
	for ; r.ahead < len(r.Events) && a.seen < mostAhead; r.ahead++ {
		a.event(&r.Events[r.ahead])
	}
	for a.seen < mostAhead && r.More != nil {
		n := len(r.more)
		if !r.refill() {
			return
		}
		for _, e := range r.more[n:] {
			a.event(e)
		}
	}
}

// meet has the logs read up to the events that come before a packet for certain.
func (l *logs) meet(p *packet.Packet) {
	if l.aligning {
		l.aligned(p)
	}
}

// aligned is meet while a log may be aligned with the packets.
func (l *logs) aligned(p *packet.Packet) {
	l.aligning = false
	for _, r := range l.list {
		a := r.align
		if a == nil {
			continue
		}
		l.aligning = true
		r.look()
		if t, ok := a.meet(p, r.Addr); ok {
			if e := r.peek(); e != nil {
				r.at(e, p.Time)
			}
			r.shift = min(r.shift, p.Time-t)
			r.bound = min(r.bound, p.Time-t)
			l.next = math.MinInt64 // its next event may be due earlier
		}
		if a.first != 0 && p.Time-a.first > aligning {
			r.align = nil
		}
	}
}

// firstPost is the time of the first send request, or of the first event where there is none.
func (r *logReader) firstPost() int64 {
	for i := range r.Events {
		if r.Events[i].Kind == cq.EvPostSend {
			return r.Events[i].Time
		}
	}
	return r.peek().Time
}

// upTo returns the events that come before a packet of time to, in their order. The list is valid until the next call.
func (l *logs) upTo(to int64) []dueEvent {
	l.due = l.due[:0]
	if to < l.next {
		return nil
	}
	for _, r := range l.list {
		if r.Exact {
			r.least = mostDisorder
		}
	}
	for {
		var first *logReader
		var e *cq.Event // its next one
		at, known := int64(math.MaxInt64), true
		for _, r := range l.list {
			next := r.peek()
			if next == nil {
				known = known && (r.More == nil || r.Over)
				continue
			}
			if t := r.at(next, to); first == nil || t < at || t == at && next.Precedes(e) {
				first, e, at = r, next, t
			}
		}
		if first == nil || at > to || at == to && l.frame != 0 && e.After >= l.frame {
			if l.next = at; !known {
				l.next = math.MinInt64
			}
			return l.due
		}
		first.newest = max(first.newest, e.Time)
		given := first.drop()
		l.due = append(l.due, dueEvent{Event: e, at: at, log: first.index, bound: first.bound, given: given})
		if first.peek() == nil && first.Cut {
			l.due[len(l.due)-1].last = true
		}
	}
}
