package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// notReady judges that a receive request was missing where an RNR NAK says so: each message takes one, in order.
func (a *Agent) notReady(q *queuePair) {
	r := &q.receiving
	if !q.known || !q.reliable() || q.in.joined > 0 {
		r.naks = q.in.naksGone + len(q.in.naks)
		return
	}
	for ; r.naks < q.in.naksGone+len(q.in.naks); r.naks++ {
		n := &q.in.naks[r.naks-q.in.naksGone]
		if n.Syndrome.Fatal() && q.src.exact && q.typ == qp.TypeRC && q.in.anchor {
			a.tooLong(q, n)
		}
		if n.Syndrome.Type() != packet.RNRNAK {
			continue
		}
		if n.Ord >= r.next && !r.gap && !a.ended {
			return // the message has not come whole yet
		}
		if q.recvs.shared {
			a.sharedReady(q, n)
		} else {
			a.ready(q, n)
		}
	}
}

// ready judges an RNR NAK of a queue pair with a receive queue of its own (rule RC-RSP-020).
func (a *Agent) ready(q *queuePair, n *NAK) {
	k, ok := q.messageAt(n.Ord)
	if !ok || q.receiving.wrongRNR {
		return
	}
	a.covered(rule.RCRSP020)
	if q.failed != nil && !q.src.clock.after(q.failed.Time, n.At.Time) {
		q.receiving.wrongRNR = true // its requests are flushed, and what it still answers is judged by rule QPS-ERR-001
		return
	}
	if m := q.receiving.arrived.at(k); q.recvs.list.has(k) && m.Begin.Pos < n.At.Pos && q.src.clock.before(q.recvs.list.at(k).event.Time, m.Begin.Time) {
		r := q.recvs.list.at(k).event
		q.receiving.wrongRNR = true
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCRSP020, Class: rule.Violation, Role: rule.Responder,
				Expected: fmt.Sprintf("the message accepted: receive request %d was posted before it arrived", r.Receive.ID),
				Actual:   n.Syndrome.String(), Evidence: []uint64{m.Begin.Frame},
			},
			at: n.At, event: r, expects: syndrome("an ACK: a receive request was there"),
		})
	}
}

// accepted judges that a receive request was there for each message that was acknowledged.
func (a *Agent) accepted(q *queuePair) {
	if !q.known || q.recvs.shared || !q.reliable() {
		q.receiving.accepted = q.receiving.sure
		return
	}
	for ; q.receiving.accepted < q.receiving.sure; q.receiving.accepted++ {
		m := q.receiving.arrived.at(q.receiving.accepted)
		at := q.in.ackOf(m.Last())
		switch {
		case at == nil:
			return
		case q.receiving.accepted < q.recvs.list.end():
			if q.whole() {
				a.covered(rule.RCRSP038)
			}
			if q.recvs.list.has(q.receiving.accepted) {
				a.leaves(q.src, q.recvs.list.at(q.receiving.accepted).event.Time, at.Time)
			}
			continue
		case q.src.comes(at.Time) && !q.gone && q.receiving.sure-q.receiving.accepted < mostWaiting:
			return
		case !q.complete(at.Time) || !q.src.exact && !q.src.receives || q.receiving.unreceived:
			continue
		}
		a.acceptedWithout(q, m, *at)
	}
}

// acceptedWithout reports that a message was acknowledged for which no receive request was left.
func (a *Agent) acceptedWithout(q *queuePair, m *Message, at PacketRef) {
	a.covered(rule.RCRSP038)
	q.receiving.unreceived = true
	class, detail := rule.Violation, fmt.Sprintf("%d receive requests were posted", q.recvs.list.end())
	if q.recvs.unposted {
		class, detail = rule.Unproven, notAllPosted
	}
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCRSP038, Class: class, Role: rule.Responder, Expected: "an RNR NAK: all receive requests are used",
			Actual: "an acknowledgement", Detail: detail,
			Evidence: []uint64{m.End.Frame},
		},
		at: at, expects: syndrome("RNR NAK"),
	})
}
