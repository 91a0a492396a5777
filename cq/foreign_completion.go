package cq

import (
	"fmt"
	"maps"
	"slices"

	"ibwitness/qp"
	"ibwitness/rule"
)

// owner returns the queue pair that a completion is of which names q, where it has the request and q has none with that ID, or nil. Without
// that request nothing is known of the completion.
func (q *queuePair) owner(c *Completion) *queuePair {
	for _, n := range slices.Sorted(maps.Keys(q.src.qps)) {
		list := q.src.qps[n]
		p := list[len(list)-1]
		if p == q || !p.known || p.gone {
			continue
		}
		if c.received() {
			if p.typ != qp.TypeXRCTarget && p.recvs.open(c.ID) != nil {
				return p
			}
		} else if w := p.openSend(c); w != nil && !w.event.Anonymous {
			return p
		}
	}
	return nil
}

// misnamed judges a completion that names a queue pair which has no such request, where another has.
func (a *Agent) misnamed(q *queuePair, e *Event) bool {
	if !q.src.exact || q.hasPosted(e.Completion.ID) {
		return false
	}
	p := q.owner(e.Completion)
	if p == nil {
		return false
	}
	a.covered(rule.CPLQP001)
	a.verb(p, rule.CPLQP001, e, fmt.Sprintf("queue pair %#x, which request %d was posted to", p.qpn, e.Completion.ID),
		fmt.Sprintf("queue pair %#x", q.qpn))
	p.over(e)
	return true
}

// otherCQ judges a completion of a request that is in another completion queue than that of its queue pair.
func (a *Agent) otherCQ(q *queuePair, w *sendRequest, r *receive, e *Event) bool {
	if q.made == nil || e.CQ == 0 || w == nil && r == nil {
		return false
	}
	want := q.made.SendCQ
	if r != nil {
		want = q.made.RecvCQ
	}
	if want == 0 || want == e.CQ {
		return false
	}
	a.covered(rule.CPLQP001)
	a.verb(q, rule.CPLQP001, e, fmt.Sprintf("completion queue %d of the queue pair", want), fmt.Sprintf("completion queue %d", e.CQ))
	return true
}
