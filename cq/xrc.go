package cq

import (
	"fmt"
	"maps"
	"slices"

	"ibwitness/hcaagent"
	"ibwitness/rule"
)

// sharedTaken holds the receive completions of an XRC target against the shared receive queues that its messages name.
func (a *Agent) sharedTaken(q *queuePair) {
	if q.typ != hcaagent.TypeXRCTarget || !q.known || !q.src.exact || !q.in.anchor {
		return
	}
	list, sure := q.consumers()
	for i, m := range list[:sure] {
		named := q.src.shared[hcaagent.SRQ(m.srq)]
		at, done := q.in.ackOf(m.last())
		a.covered(rule.XRCSRQ001)
		v := verdict{rule: rule.XRCSRQ001, class: rule.Violation, role: rule.Responder, at: m.end}
		switch {
		case named == nil && done && q.in.refused(m) == nil && !q.src.queues[hcaagent.SRQ(m.srq)]:
			v.expected, v.actual, v.at = fmt.Sprintf("a NAK: there is no shared receive queue %d", m.srq), "the message was taken", at
			v.evidence = []uint64{m.end.frame}
			a.accuse(q, v)
			return
		case named == nil || i >= len(q.targets):
			continue
		}
		e := q.targets[i]
		if _, ok := named.byID[e.Completion.ID]; ok {
			continue
		}
		for _, n := range slices.Sorted(maps.Keys(q.src.shared)) {
			if _, ok := q.src.shared[n].byID[e.Completion.ID]; ok {
				v.expected, v.actual = fmt.Sprintf("a receive request of shared receive queue %d", m.srq), fmt.Sprintf("one of queue %d", n)
				v.detail, v.event = fmt.Sprintf("receive request %d", e.Completion.ID), e
				a.accuse(q, v)
				return
			}
		}
	}
}
