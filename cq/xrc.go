package cq

import (
	"fmt"
	"maps"
	"slices"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// sharedNamed judges that a message to an XRC target which was accepted names a shared receive queue of its domain.
func (a *Agent) sharedNamed(q *queuePair) {
	if !q.xrc() {
		q.receiving.named = q.receiving.sure
	}
	for ; q.receiving.named < q.receiving.sure; q.receiving.named++ {
		m := q.receiving.arrived.at(q.receiving.named)
		at := q.in.ackOf(m.Last())
		acked := at != nil
		if !acked && !a.ended {
			return
		}
		a.covered(rule.XRCSRQ001)
		domain, made := q.src.queues[wqe.SRQ(m.SRQ)]
		why := ""
		switch {
		case !made && q.src.shared[wqe.SRQ(m.SRQ)] == nil:
			why = fmt.Sprintf("a NAK: there is no shared receive queue %d", m.SRQ)
		case made && q.made.XRCD != 0 && domain != q.made.XRCD:
			why = fmt.Sprintf("a NAK: shared receive queue %d is not of XRC domain %d", m.SRQ, q.made.XRCD)
		}
		if why != "" && acked && q.in.refused(m) == nil && !q.receiving.wrongQueue {
			q.receiving.wrongQueue = true
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.XRCSRQ001, Class: rule.Violation, Role: rule.Responder, Expected: why, Actual: "the message was accepted",
					Evidence: []uint64{m.End.Frame},
				},
				at: *at, expects: syndrome("a NAK"),
			})
		}
	}
}

// xrc reports whether a queue pair is an XRC target whose shared receive queues are known.
func (q *queuePair) xrc() bool {
	return q.typ == qp.TypeXRCTarget && q.known && q.src.exact && q.in.anchor && q.made != nil
}

// sharedTaken holds the receive completion of an XRC target against the shared receive queue that its message names.
func (a *Agent) sharedTaken(q *queuePair, m *Message, t *receiveCompletion) {
	named := q.src.shared[wqe.SRQ(m.SRQ)]
	if !q.xrc() || q.receiving.wrongQueue || named == nil {
		return
	}
	e := t.event
	if _, ok := named.byID[e.Completion.ID]; ok {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(q.src.shared)) {
		if _, ok := q.src.shared[n].byID[e.Completion.ID]; ok {
			q.receiving.wrongQueue = true
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.XRCSRQ001, Class: rule.Violation, Role: rule.Responder,
					Expected: fmt.Sprintf("a receive request of shared receive queue %d", m.SRQ), Actual: fmt.Sprintf("one of queue %d", n),
					Detail: fmt.Sprintf("receive request %d", e.Completion.ID),
				},
				at: m.End, event: e,
			})
			return
		}
	}
}

// sharedWith are the shared receive queues to which a request with an ID was posted, where q is an XRC target.
func (q *queuePair) sharedWith(id uint64) (list []*receiveQueue) {
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

// ambiguousReceive takes a receive completion of an XRC target with an ID that several shared receive queues know.
func (a *Agent) ambiguousReceive(q *queuePair, e *Event) bool {
	if len(q.sharedWith(e.Completion.ID)) < 2 {
		return false
	}
	for lives := q.src.qps[q.qpn]; len(lives) > 1 && q.unready(e.Completion); q = lives[len(lives)-1] {
		lives = lives[:len(lives)-1] // it waited in the queue when the queue pair was reset
	}
	a.addReceiveCompletion(q, a.receiveCompletions.Put(receiveCompletion{event: e, n: q.src.n}))
	return true
}
