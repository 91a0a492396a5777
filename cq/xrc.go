package cq

import (
	"fmt"
	"maps"
	"slices"

	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// sharedTaken holds the receive completions of an XRC target against the shared receive queues that its messages name.
func (a *Agent) sharedTaken(q *queuePair) {
	if q.typ != qp.TypeXRCTarget || !q.known || !q.src.exact || !q.in.anchor || q.made == nil {
		return
	}
	list, sure := q.consumers()
	done := q.successes()
	for i, m := range list[:sure] {
		named := q.src.shared[wqe.SRQ(m.srq)]
		at, acked := q.in.ackOf(m.last())
		a.covered(rule.XRCSRQ001)
		v := verdict{rule: rule.XRCSRQ001, class: rule.Violation, role: rule.Responder, at: m.end}
		domain, made := q.src.queues[wqe.SRQ(m.srq)]
		why := ""
		switch {
		case !made && named == nil:
			why = fmt.Sprintf("a NAK: there is no shared receive queue %d", m.srq)
		case made && q.made.XRCD != 0 && domain != q.made.XRCD:
			why = fmt.Sprintf("a NAK: shared receive queue %d is not of XRC domain %d", m.srq, q.made.XRCD)
		}
		switch {
		case why != "" && acked && q.in.refused(m) == nil:
			v.expected, v.actual, v.at = why, "the message was accepted", at
			v.evidence = []uint64{m.end.frame}
			a.accuse(q, v)
			return
		case named == nil || i >= len(done):
			continue
		}
		e := done[i].event
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

// sharedWith are the shared receive queues to which a request with an ID was posted, where q is an XRC target.
func (q *queuePair) sharedWith(id uint64) (list []*receives) {
	if q.typ != qp.TypeXRCTarget || !q.src.exact {
		return nil
	}
	for _, r := range q.src.shared {
		if _, ok := r.byID[id]; ok {
			list = append(list, r)
		}
	}
	return list
}

// openReceive returns the oldest receive request with an ID that is not completed, or nil: for an XRC target, where it is certain in which
// shared receive queue it was.
func (q *queuePair) openReceive(id uint64) *receive {
	if q.typ != qp.TypeXRCTarget {
		return q.recvs.open(id)
	}
	if list := q.sharedWith(id); len(list) == 1 {
		return list[0].open(id)
	}
	return nil
}

// vague takes a receive completion of an XRC target with an ID that several shared receive queues know.
func (a *Agent) vague(q *queuePair, e *hcaagent.Event) bool {
	if len(q.sharedWith(e.Completion.ID)) < 2 {
		return false
	}
	for lives := q.src.qps[q.qpn]; len(lives) > 1 && q.unready(e.Completion); q = lives[len(lives)-1] {
		lives = lives[:len(lives)-1] // it waited in the queue when the queue pair was reset
	}
	q.taken = append(q.taken, a.takens.Put(taken{event: e, n: q.src.n}))
	a.errorOrder(q, &q.rq, e)
	return true
}
