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
		a.missing(q, w, why, at)
	}
	a.until(q, max(at.Time, a.wire)+completionDue)
}

// acksKnown reports whether packets tell which requests of a queue pair are acknowledged.
func (q *queuePair) acksKnown() bool { return q.known && q.reliable() && q.out.anchor }

// halted reports whether a queue pair does not go on with its requests: it is gone, or has been in an error state.
func (q *queuePair) halted() bool {
	return q.gone || q.wasErr != nil || q.overrun != nil || q.failed != nil || len(q.broken) > 0
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

// missing reports a request that is over by a packet, and has no completion.
func (a *Agent) missing(q *queuePair, w *sendRequest, why string, at PacketRef) {
	s := q.src
	if !s.clock.after(s.newest, at.Time+completionDue) {
		return
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS016, Class: a.provenAt(q), Role: rule.Requester,
			Expected: fmt.Sprintf("a completion of request %d: %s", w.req().ID, why), Actual: "none until the log ends",
		},
		at: at, event: w.event,
	}
	v.at.Time = min(at.Time, a.wire)
	c := s.cqs[q.made.SendCQ]
	switch {
	case q.made.SendCQ != 0 && c != nil && (s.clock.after(c.emptied, at.Time+completionDue) || s.clock.after(c.posted, at.Time+completionDue)):
		if v.Class == rule.Unproven {
			v.Detail = notShown
		}
	case !s.clock.after(s.newest, at.Time+completionMissed):
		return
	case !a.ended:
		return
	default:
		v.Class, v.Detail = rule.Unproven, "nothing shows that its consumer has polled the completion queue since"
	}
	a.covered(rule.CPLSTS016)
	q.sending.missing = true
	a.accuse(q, v)
}
