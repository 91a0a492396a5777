package agent

import (
	"math"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
)

// logLead is how much earlier than the packets of its time an event of a log is taken whose clock is not that of the packets: a request may
// leave as soon as it was posted, and no clock is right.
const logLead = int64(time.Second)

// foreignClock is how far the clock of a log may be from that of the packets. One that is farther counts from another moment, and its first send
// request goes with the first packet.
const foreignClock = int64(time.Hour)

// logs brings the events of several logs and the packets into one order. Which event comes before which packet depends only on their times.
type logs struct {
	list []*logReader
	due  []dueEvent
	next int64 // nothing comes before a packet of an earlier time: math.MinInt64 where that is not known
}

// dueEvent is an event that comes before the first packet later than at, by the clock of the packets.
type dueEvent struct {
	*cq.Event
	at     int64
	log    int
	before int  // the packet of a batch that it comes before
	last   bool // of a log that breaks off
}

// logReader is one log on its way to the agent.
type logReader struct {
	*hcaagent.Log
	index  int
	next   int         // of Events
	more   []*cq.Event // of the newest call of More, those that are left
	shift  int64       // from its clock to that of the packets
	set    bool        // shift is
	newest int64       // event
}

func (l *logs) add(log *hcaagent.Log) {
	l.next = math.MinInt64
	l.list = append(l.list, &logReader{Log: log, index: len(l.list), newest: math.MinInt64})
}

// peek returns the next event, or nil: there is none yet, or none any more.
func (r *logReader) peek() *cq.Event {
	if r.next < len(r.Events) {
		return &r.Events[r.next]
	}
	if len(r.more) == 0 && r.More != nil {
		r.more = r.More()
	}
	if len(r.more) > 0 {
		return r.more[0]
	}
	return nil
}

func (r *logReader) drop() {
	if r.next < len(r.Events) {
		r.next++
		return
	}
	r.more = r.more[1:]
}

// at is when an event comes by the clock of the packets, of which the first has time first.
func (r *logReader) at(e *cq.Event, first int64) int64 {
	if r.Exact {
		return e.Time
	}
	if !r.set {
		r.set = true
		if d := first - e.Time; first != math.MaxInt64 && (d > foreignClock || d < -foreignClock) {
			r.shift = first - r.firstPost()
		}
	}
	return e.Time + r.shift - logLead
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
	for {
		var first *logReader
		at, known := int64(math.MaxInt64), true
		for _, r := range l.list {
			e := r.peek()
			if e == nil {
				known = false
				continue
			}
			if t := r.at(e, to); first == nil || t < at {
				first, at = r, t
			}
		}
		if first == nil || at > to {
			if l.next = at; !known {
				l.next = math.MinInt64
			}
			return l.due
		}
		e := first.peek()
		first.newest = max(first.newest, e.Time)
		l.due = append(l.due, dueEvent{Event: e, at: at, log: first.index})
		first.drop()
		if first.peek() == nil && first.Cut {
			l.due[len(l.due)-1].last = true
		}
	}
}
