package cq

import (
	"fmt"
	"math"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

const (
	// completionDue is within what a request completes that has been answered, or whose retries are exhausted.
	completionDue = int64(100 * time.Millisecond)
	// completionMissed is how long a log must go on to tell anything where its consumer may not have looked.
	completionMissed = int64(time.Second)
)

// NotPolled is why a completion that is missing is not proven to be.
const NotPolled = "nothing shows that its consumer has polled the completion queue since"

// owed is a completion that a queue pair owes.
type owed struct {
	event *Event    // that posted its request
	at    PacketRef // the packet that shows it to be due
	role  rule.Role
	why   string
}

// looked notes what a completion shows of its queue: when the consumer found nothing more there, and up to when requests were posted that have
// completed there.
func (c *completionQueue) looked(e *Event, w *sendRequest) {
	if e.Emptied {
		c.emptied = max(c.emptied, e.Time)
	}
	if w != nil {
		c.posted = max(c.posted, w.event.Time)
	}
}

// shown is when the consumer polled last, as far as is shown, so that it would have found what had come to the queue before.
func (c *completionQueue) shown() int64 {
	if c == nil {
		return 0
	}
	return max(c.emptied, c.posted)
}

// shown is that of the completion queues of a queue pair, for send and for receive requests.
func (q *queuePair) shown() (send, receive int64) {
	if q.made == nil {
		return 0, 0
	}
	if q.made.SendCQ != 0 {
		send = q.src.cqs[q.made.SendCQ].shown()
	}
	if q.made.RecvCQ != 0 {
		receive = q.src.cqs[q.made.RecvCQ].shown()
	}
	return send, receive
}

// rests says that nothing is to be judged of the oldest request that has not completed, until something changes that this rests on, or a time comes.
type rests struct {
	set     bool
	events  int   // of the queue pair
	answers int   // of its requests
	until   int64 // time of the packets
}

// hold reports whether they still do, at a time of the packets.
func (r *rests) hold(q *queuePair, now int64) bool {
	return r.set && r.events == q.events && r.answers == q.out.answers && now < r.until
}

// uncompleted judges the first request that should have completed and did not, though no later one of its queue did either (rule CPL-STS-016). One
// that later ones have overtaken is judged by their order.
func (a *Agent) uncompleted(q *queuePair) {
	r := &q.sending.rests
	if r.hold(q, a.wire) && !a.ended {
		return
	}
	if q.sending.missing || !q.acksKnown() || q.halted() || a.ended && q.src.cut {
		return
	}
	*r = rests{true, q.events, q.out.answers, math.MaxInt64}
	w, answer, sure := q.oldestOwed()
	if w == nil {
		r.set = !sure // else one may be posted
		return
	}
	why, at := "it has a response", PacketRef{}
	if answer != nil {
		at = *answer
	} else if why, at = q.unanswered(w); why == "" {
		r.set = q.attr.RetryCnt != 0
		return
	} else {
		r.set = false // its newest packet may be another one by then
	}
	r.until = at.Time + completionDue
	if a.ended || a.wire >= r.until {
		polled, _ := q.shown()
		q.sending.missing = a.missing(q, owed{w.event, at, rule.Requester, why}, polled)
	}
	a.until(q, max(at.Time, a.wire)+completionDue)
}

// uncompletedReceive judges the first receive request whose message was acknowledged and that did not complete, though no later one did either (rule CPL-STS-016).
func (a *Agent) uncompletedReceive(q *queuePair) {
	r := &q.receiving
	if r.undone || a.wire < r.rests && !a.ended || q.halted() || a.ended && q.src.cut {
		return
	}
	o, ok := q.owedReceive()
	if !ok {
		return
	}
	if r.rests = o.at.Time + completionDue; a.ended || a.wire >= r.rests {
		_, polled := q.shown()
		r.undone = a.missing(q, o, polled)
		r.rests = a.wire + completionDue
	}
	a.until(q, r.rests)
}

// owedReceive is the completion of the first receive request whose message was acknowledged and that did not complete.
func (q *queuePair) owedReceive() (o owed, ok bool) {
	for n, m := range q.received() {
		return owed{q.recvs.list.at(n).event, *q.in.ackOf(m.Last()), rule.Responder, "its message is acknowledged"}, true
	}
	return owed{}, false
}

// leftUncompleted judges what a queue pair owed when its consumer destroyed it.
func (a *Agent) leftUncompleted(q *queuePair) {
	if q.destroy == nil || q.inError() || q.src.cut {
		return
	}
	if w, answer, _ := q.oldestOwed(); !q.sending.missing && q.acksKnown() && w != nil && answer != nil {
		q.sending.missing = a.missing(q, owed{w.event, *answer, rule.Requester, "it has a response"}, q.polled.send)
	}
	if o, ok := q.owedReceive(); ok && !q.receiving.undone {
		q.receiving.undone = a.missing(q, o, q.polled.receive)
	}
}

// acksKnown reports whether packets tell which requests of a queue pair are acknowledged.
func (q *queuePair) acksKnown() bool { return q.known && q.reliable() && q.out.anchor }

// halted reports whether a queue pair does not go on with its requests: it is gone, or has been in an error state.
func (q *queuePair) halted() bool { return q.gone || q.inError() }

// inError reports whether a queue pair has been in an error state.
func (q *queuePair) inError() bool {
	return q.wasErr != nil || q.overrun != nil || q.failed != nil || len(q.broken) > 0
}

// oldestOwed returns the oldest request that owes a completion when packets show it to be over, and its response, nil where it has none. w is nil where there is no such request, and
// where it is not sure which one it is.
func (q *queuePair) oldestOwed() (w *sendRequest, answer *PacketRef, sure bool) {
	for _, w = range q.sends.from(q.oldest) {
		if w.done != nil || w.local() || w.flushed {
			continue
		}
		if w.overtaken || q.packetsUncertain(w) {
			return nil, nil, false
		}
		if answer = q.answered(w); answer == nil || w.signaled(q) {
			return w, answer, true
		}
	}
	return nil, nil, true
}

// unanswered returns the packet with which a request is over that has no answer, and what that says: the NAK that ends the connection, or the last try, after which
// the timer has run out too.
func (q *queuePair) unanswered(w *sendRequest) (why string, at PacketRef) {
	if n := q.fatal(w); n != nil {
		return "a " + n.Syndrome.String() + " has refused it", n.At
	}
	if q.attr.Has(qp.KnowsRetryCnt|qp.KnowsTimeout) && q.attr.Timeout != 0 && len(q.out.naks) == 0 && q.out.tries(w) > int(q.attr.RetryCnt) && q.oldestOpen() == w {
		at := q.out.newest
		at.Time += 4 * int64(packet.Timeout(q.attr.Timeout))
		return "its retries are exhausted", at
	}
	return "", PacketRef{}
}

// missing reports a request that is over by a packet, and has no completion. polled is when its consumer polled the completion queue last, as far as is shown. It returns false
// where that may be too early to tell.
func (a *Agent) missing(q *queuePair, o owed, polled int64) bool {
	s, due, end, until := q.src, o.at.Time+completionDue, q.src.newest, "the log ends"
	if q.destroy != nil {
		end, until = q.died, "its queue pair is destroyed"
	}
	goesOn := func(to int64) bool {
		return s.clock.after(end, to) || s.clock.probablyAfter(end, to) || q.destroy == nil && a.ended && s.complete && a.wire > to // it tells of all to the end of the run
	}
	if !goesOn(due) {
		return false
	}
	var request string
	if r := o.event.Receive; r != nil {
		request = fmt.Sprint("receive request ", r.ID)
	} else {
		request = fmt.Sprint("request ", o.event.Send.ID)
	}
	class := rule.Violation // the acknowledgement is its own
	if o.role == rule.Requester {
		class = a.provenAt(q) // the response may not have reached it
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS016, Class: class, Role: o.role,
			Expected: fmt.Sprintf("a completion of %s: %s", request, o.why), Actual: "none until " + until,
		},
		at: o.at, event: o.event,
	}
	v.at.Time = min(o.at.Time, a.wire)
	switch {
	case s.clock.after(polled, due):
		if v.Class == rule.Unproven {
			v.Detail = notShown
		}
	case q.destroy == nil && (!a.ended || !goesOn(o.at.Time+completionMissed)):
		return false
	default:
		v.Class, v.Detail = rule.Unproven, NotPolled
	}
	a.covered(rule.CPLSTS016)
	a.accuse(q, v)
	return true
}
