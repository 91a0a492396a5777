package cq

import (
	"fmt"

	"ibwitness/rule"
)

// arm is a request of the consumer to be told of completions.
type arm struct {
	at, nextAt int64 // when the queue was armed at all, and for the next completion
	n, nextN   int   // of these events in the log; nextN 0: there was none
	afterwards bool  // it was armed for solicited events afterwards
	vague      bool  // it may have told of itself since
}

// arming takes over that the consumer arms a queue.
func (s *Source) arming(c *completionQueue, e *Event) {
	x := arm{at: e.Time, n: s.n}
	if c.armed != nil && !c.armed.vague {
		x = *c.armed
	}
	x.vague = s.armedOf(c, e)
	c.vague = x.vague
	switch {
	case e.Arm == ArmSolicited:
		x.afterwards = x.nextN != 0
	case x.nextN == 0:
		x.nextAt, x.nextN = e.Time, s.n
	}
	c.armed = s.arms.Put(x)
}

// notice is a notification that a solicited event was asked for, with the completions among which is the one that gave rise to it.
type notice struct {
	event Event
	list  []candidate
	whole bool // those are all
}

// candidate is a completion of either queue; both nil: of a request that is not known.
type candidate struct {
	w *sendRequest
	t *receiveCompletion
}

// noticed takes over a notification.
func (a *Agent) noticed(s *Source, c *completionQueue, e *Event) {
	c.notice = nil
	if x := c.armed; x != nil && x.nextN != 0 {
		a.covered(rule.CPLSOL002)
	}
	s.notifiedOf(c, e)
	if x := c.armed; x != nil && x.nextN == 0 && s.exact {
		c.notice = &notice{event: *e}
		if unordered(e, c.polledAt) {
			c.notice.list = append(c.notice.list, c.polledNow...)
		}
		s.notices = append(s.notices, c.notice)
	}
	c.armed, c.vague = nil, unordered(e, c.armedAt)
}

// polled takes over that a completion was polled: what it was owed, or has given rise to.
func (s *Source) polled(c *completionQueue, e *Event, w *sendRequest, t *receiveCompletion) {
	if !s.exact || !c.made {
		return
	}
	switch {
	case w != nil:
		w.due = c.armed
	case t != nil:
		t.due = c.armed
	}
	if e.Line > 0 {
		if e.Time != c.polledAt {
			c.polledAt, c.polledNow = e.Time, c.polledNow[:0]
		}
		c.polledNow = append(c.polledNow, candidate{w, t})
	}
	if x := c.notice; x != nil {
		x.list = append(x.list, candidate{w, t})
		if e.Emptied {
			x.whole, c.notice = true, nil
		}
	}
}

// solicits reports whether a completion is one that a solicited event tells of, and whether that is known.
func (x candidate) solicits() (yes, known bool) {
	switch {
	case x.w != nil:
		return x.w.done.Completion.Status != Success, true
	case x.t == nil:
		return false, false
	case x.t.event.Completion.Status != Success:
		return true, true
	case x.t.message == nil:
		return false, false
	}
	return x.t.message.SE, true
}

// solicited judges the notifications of a device of which all the completions that may have given rise to them are known.
func (a *Agent) solicited(s *Source) {
	for len(s.notices) > 0 {
		x := s.notices[0]
		if !x.whole || !x.judged() {
			if !a.ended && (x.whole || s.queue(x.event.CQ).notice == x) {
				return
			}
			s.notices = s.notices[1:]
			continue
		}
		reason := false
		for _, c := range x.list {
			yes, known := c.solicits()
			reason = reason || yes || !known
		}
		a.covered(rule.CPLSOL001)
		if !reason {
			a.device(s, rule.CPLSOL001, &x.event, fmt.Sprintf("no notification: completion queue %d is armed for solicited events, and no completion is solicited", x.event.CQ), "a notification")
		}
		s.notices = s.notices[1:]
	}
}

// judged reports whether the messages are known of all completions among which is the one that gave rise to a notification.
func (x *notice) judged() bool {
	for _, c := range x.list {
		if c.t != nil && !c.t.judged {
			return false
		}
	}
	return true
}

// unnotifiedSend judges whether the completion of a send request was polled that the consumer should have been told of before.
func (a *Agent) unnotifiedSend(q *queuePair, w *sendRequest) {
	if w.due != nil {
		a.owed(q, candidate{w: w}, w.due, w.done.Completion.Status != Success, func(_ int64, n int) bool { return w.n > n })
	}
}

// unnotifiedReceive judges that of a receive completion, when its message is known.
func (a *Agent) unnotifiedReceive(q *queuePair, t *receiveCompletion) {
	if t.judged = true; t.due == nil {
		return
	}
	yes, _ := candidate{t: t}.solicits()
	a.owed(q, candidate{t: t}, t.due, yes, func(at int64, n int) bool {
		return t.of.n > n || t.message != nil && t.message.Begin.Time > at
	})
}

// owed judges a completion that was polled while its queue was armed. later says whether its request is from after an event.
func (a *Agent) owed(q *queuePair, of candidate, x *arm, solicits bool, later func(at int64, n int) bool) {
	id, what := rule.CPLSOL001, "a solicited event"
	switch {
	case x.nextN != 0 && later(x.nextAt, x.nextN):
		if id, what = rule.CPLSOL002, "the next completion"; x.afterwards {
			what += ", and then for a solicited event"
		}
	case !solicits || !later(x.at, x.n):
		return
	}
	a.covered(id)
	e := of.event()
	c := q.src.queue(e.CQ)
	a.unless(q.src, untold{c: c, of: of, event: e, tell: func() {
		if c.silent {
			return
		}
		c.silent = true
		v := verdict{Verdict: rule.Verdict{
			Rule: id, Class: rule.Violation, Expected: fmt.Sprintf("an earlier notification: completion queue %d was armed for %s", e.CQ, what), Actual: "none",
		}, event: e}
		if x.vague {
			v.Class, v.Detail = rule.Unproven, sameTime
		}
		a.accuse(q, v)
	}})
}

// event is the completion itself.
func (x candidate) event() *Event {
	if x.w != nil {
		return x.w.done
	}
	return x.t.event
}
