package cq

import (
	"fmt"

	"ibwitness/rule"
)

// notification judges what a completion queue tells of itself.
func (a *Agent) notification(s *Source, e *Event) {
	switch {
	case e.Failed:
	case e.Kind == EvArm:
		s.arming(s.queue(e.CQ), e)
	case e.Kind == EvNotify:
		a.covered(rule.CPLSOL003)
		c := s.queue(e.CQ)
		if c.armed == nil && c.made && !c.vague {
			e := &Event{Time: e.Time, Line: e.Line, CQ: e.CQ} // it is not kept
			a.unless(s, untold{c: c, event: e, tell: func() {
				a.device(s, rule.CPLSOL003, e, fmt.Sprintf("no notification: completion queue %d is not armed", e.CQ), "a notification")
			}})
		}
		a.noticed(s, c, e)
	case e.Kind == EvEmpty:
		c := s.queue(e.CQ)
		c.emptied = max(c.emptied, e.Time)
	case e.Kind == EvCreateCQ:
		s.cqs[e.CQ] = &completionQueue{number: e.CQ, made: true, depth: e.Depth}
		clear(s.recentCQs[:])
	case e.Kind == EvResizeCQ:
		s.queue(e.CQ).depth = e.Depth
	case e.Kind == EvDestroyCQ:
		a.destroyCQ(s, e)
	}
}

// destroyCQ ends a completion queue, and judges that it could be destroyed.
func (a *Agent) destroyCQ(s *Source, e *Event) {
	a.covered(rule.CPLCQ003)
	for _, list := range s.qps {
		q := list[len(list)-1]
		if !q.gone && q.made != nil && e.CQ != 0 && (q.made.SendCQ == e.CQ || q.made.RecvCQ == e.CQ) {
			a.verb(q, rule.CPLCQ003, e, "an error: a queue pair uses the completion queue", "it was destroyed")
			return
		}
	}
	delete(s.cqs, e.CQ)
	clear(s.recentCQs[:])
}

// device makes a finding that rests on events of a device, and on no queue pair.
func (a *Agent) device(s *Source, id rule.ID, e *Event, expected, actual string) {
	f := rule.Finding{
		Rule: id, Class: rule.Violation, Time: s.onWire(e.Time), Expected: expected, Actual: actual, Log: s.name, Line: e.Line,
		Accused: rule.Endpoint{Addr: s.addr},
	}
	if s.lost {
		doubts(&f, eventsLost)
	}
	a.add(s, f)
}

// async judges an asynchronous event.
func (a *Agent) async(s *Source, e *Event) {
	switch e.Async {
	case AsyncCQError:
		a.cqOverrun(s, e)
		return
	case AsyncSRQLimit:
		a.limitReached(s, e)
		return
	}
	q := a.qp(s, e.QP.QPN)
	if q == nil || !q.known {
		return
	}
	q.asyncs.any = true
	switch e.Async {
	case AsyncSQDrained:
		a.covered(rule.QPSSQD002)
		if q.drain.event == nil {
			a.verb(q, rule.QPSSQD002, e, "no event: it was not asked for, or came before", "the send queue has drained")
		}
		q.drain = drainEvent{}
	case AsyncCommEstablished:
		a.established(q, e)
	case AsyncLastWQE:
		a.lastTaken(q, e)
	case AsyncQPAccess:
		q.access, q.asyncs.refusing = true, true
	case AsyncQPFatal:
		q.asyncs.fatal, q.asyncs.refusing = true, true
	case AsyncQPRequest:
		q.asyncs.refusing = true
	}
}

// otherEvent takes over what else there is in a device.
func (a *Agent) otherEvent(s *Source, e *Event) {
	if e.Failed {
		return
	}
	q := a.qp(s, e.QP.QPN)
	switch e.Kind {
	case EvDevice:
		s.limits = *e.Device
	case EvCreateSRQ:
		s.queues[e.SRQ] = e.XRCD
	case EvModifySRQ:
		r := s.sharedQueue(e.SRQ)
		r.limit = limit{known: true, count: e.Depth, n: s.n}
	case EvCreateAH:
		s.ahs[e.AH] = e.PD
		s.handle(e)
	case EvMemory:
		a.memoryEvent(s, e)
	case EvModifyAH:
		s.handle(e)
	case EvDestroyAH:
		delete(s.ahs, e.AH)
		s.handle(e)
	case EvAttachGroup:
		if q != nil {
			q.groups++
			a.attach(s, e)
		}
	case EvDetachGroup:
		if q != nil && q.groups > 0 {
			q.groups--
			a.attach(s, e)
		}
	}
}
