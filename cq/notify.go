package cq

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/rule"
)

// notification judges what a completion queue tells of itself.
func (a *Agent) notification(s *source, e *hcaagent.Event) {
	switch {
	case e.Failed:
	case e.Kind == hcaagent.EvArm:
		s.armed[e.CQ] = true
	case e.Kind == hcaagent.EvNotify:
		a.covered(rule.CPLSOL003)
		if !s.armed[e.CQ] && s.created[e.CQ] {
			a.device(s, rule.CPLSOL003, e, fmt.Sprintf("silence: completion queue %d is not armed", e.CQ), "a notification")
		}
		delete(s.armed, e.CQ)
	case e.Kind == hcaagent.EvCreateCQ:
		s.created[e.CQ] = true
	case e.Kind == hcaagent.EvDestroyCQ:
		a.covered(rule.CPLCQ003)
		for _, list := range s.qps {
			q := list[len(list)-1]
			if !q.gone && q.made != nil && e.CQ != 0 && (q.made.SendCQ == e.CQ || q.made.RecvCQ == e.CQ) {
				a.verb(q, rule.CPLCQ003, e, "an error: a queue pair uses the completion queue", "it was destroyed")
				return
			}
		}
		delete(s.created, e.CQ)
	}
}

// device makes a finding that rests on events of a device, and on no queue pair.
func (a *Agent) device(s *source, id rule.ID, e *hcaagent.Event, expected, actual string) {
	a.rec.Add(rule.Finding{
		Rule: id, Class: rule.Violation, Time: e.Time, Expected: expected, Actual: actual, Log: s.name, Line: e.Line,
		Accused: rule.Endpoint{Addr: s.addr},
	})
}

// async judges an asynchronous event.
func (a *Agent) async(s *source, e *hcaagent.Event) {
	q := a.qp(s, e.QP.QPN)
	if e.Async != hcaagent.AsyncSQDrained || q == nil || !q.known {
		return
	}
	a.covered(rule.QPSSQD002)
	if !q.drain {
		a.verb(q, rule.QPSSQD002, e, "no event: it was not asked for, or came before", "the send queue has drained")
	}
	q.drain = false
}
