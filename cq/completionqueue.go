package cq

import (
	"fmt"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// completionQueue is what events tell of a completion queue.
type completionQueue struct {
	number wqe.CQ
	made   bool // its creation is in the log
	depth  int  // 0: not known
	poll   uint32
	polled int     // completions of that call
	broken *Event  // that told of its overrun
	after  int     // completions polled since
	armed  *arm    // nil: it is not
	notice *notice // the newest that a solicited event was asked for
	silent bool    // it owed a notification; reported once
	vague  bool    // it was armed and has told of itself at the same time: which of both came first is not certain

	armedAt, toldAt, polledAt int64       // when it was armed last, told of itself, and was polled
	polledNow                 []candidate // completions of that time, of a log

	emptied int64 // when a call last found nothing more in it; 0: never
	posted  int64 // when the newest of the send requests was posted that have completed in it; 0: none has
}

// queue is a completion queue of the device.
func (s *Source) queue(n wqe.CQ) *completionQueue {
	recent := &s.recentCQs[n%wqe.CQ(len(s.recentCQs))]
	if c := *recent; c != nil && c.number == n {
		return c
	}
	c := s.cqs[n]
	if c == nil {
		c = &completionQueue{number: n}
		s.cqs[n] = c
	}
	*recent = c
	return c
}

// queueHeld judges how many completions a queue has held.
func (a *Agent) queueHeld(s *Source, c *completionQueue, e *Event) {
	if c.depth == 0 || !s.exact { // a host polls while the device adds
		return
	}
	if c.broken != nil {
		a.covered(rule.CPLCQ001)
		if c.after++; c.after == c.depth+1 {
			a.device(s, rule.CPLCQ001, e, fmt.Sprintf("no more completions: completion queue %d has overrun", e.CQ), "a completion after the overrun")
		}
		return
	}
	if e.Poll == 0 {
		return
	}
	if e.Poll != c.poll {
		c.poll, c.polled = e.Poll, 0
	}
	a.covered(rule.CPLCQ002)
	if c.polled++; c.polled == c.depth+1 {
		a.device(s, rule.CPLCQ002, e, fmt.Sprintf("at most %d completions in completion queue %d", c.depth, e.CQ), "more at once")
	}
}

// cqOverrun takes over that a completion queue has overrun: its queue pairs are in error from then on.
func (a *Agent) cqOverrun(s *Source, e *Event) {
	c := s.queue(e.CQ)
	if c.broken != nil || !c.made {
		return
	}
	a.covered(rule.CPLCQ001)
	c.broken = e
	for _, list := range s.qps {
		q := list[len(list)-1]
		if q.made != nil && !q.gone && (q.made.SendCQ == e.CQ || q.made.RecvCQ == e.CQ) && q.state != qp.Reset && q.state != qp.Err {
			q.overrun = e
		}
	}
}

// stillAlive judges that a queue pair whose completion queue has overrun is in error.
func (a *Agent) stillAlive(q *queuePair, e *Event) {
	if q.overrun == nil || !q.src.exact {
		return
	}
	a.covered(rule.CPLCQ001)
	if e.State != qp.Err && e.State != qp.Reset {
		a.verb(q, rule.CPLCQ001, e, "state ERR: its completion queue has overrun", "state "+e.State.String())
	}
}
