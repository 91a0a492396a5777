package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// consumerNotice is what the consumer of a responder was told of its own side of a refusal.
type consumerNotice struct {
	failed  bool // a receive request completed with an error of its own
	polled  bool // something of the receive queue completed after the NAK left
	event   bool // an asynchronous event of a request that was refused, or worse
	damaged bool // an asynchronous event of a queue pair that has failed
}

func (q *queuePair) consumerNotice(n *NAK) consumerNotice {
	return consumerNotice{failed: q.failing != nil, polled: q.polledAt > n.At.Time, event: q.asyncs.refusing || q.overrun != nil, damaged: q.asyncs.fatal || q.overrun != nil}
}

// refusing judges the NAK that ended a connection by what the responder told its consumer.
func (a *Agent) refusing(q *queuePair) {
	if q.typ != qp.TypeRC || !q.known || !q.in.anchor {
		return
	}
	for i := range q.in.naks {
		n := &q.in.naks[i]
		if !n.Syndrome.Fatal() {
			continue
		}
		if !q.src.exact {
			a.tooLong(q, n)
		}
		if q.src.exact && q.wasRTR != nil {
			a.refusalKnown(q, n)
		}
		return
	}
}

// refusalKnown judges whether the consumer knows of the refusal.
func (a *Agent) refusalKnown(q *queuePair, n *NAK) {
	m := q.in.Find(n.Ord)
	v := verdict{Verdict: rule.Verdict{Class: rule.Violation, Role: rule.Responder}, at: n.At}
	if m != nil {
		v.Evidence = []uint64{m.Begin.Frame}
	}
	t := q.consumerNotice(n)
	t.polled = t.polled || m != nil && !m.mayConsume() // it takes no receive request that could fail
	switch n.Syndrome {
	case packet.NAKRemoteOp: // of a SEND: CPL-STS-010
		if m == nil || wqe.OpOf(m.Op.Fn()) == wqe.Send {
			return
		}
		a.covered(rule.RCRSP025)
		if !t.failed && !t.damaged && t.polled {
			v.Rule, v.Expected, v.Actual = rule.RCRSP025, "a receive request that fails, for its memory or the queue pair", "none, and "+n.Syndrome.String()
			a.accuse(q, v)
		}
	case packet.NAKInvalidRequest:
		a.covered(rule.RCRSP028)
		if !t.failed && !t.event && t.polled {
			v.Rule, v.Expected, v.Actual = rule.RCRSP028, "an event, or a receive request that fails, after "+n.Syndrome.String(), "neither"
			a.accuse(q, v)
		}
	}
}

// tooLong judges how a SEND is refused that is longer than its receive request.
func (a *Agent) tooLong(q *queuePair, n *NAK) {
	if q.recvs.shared || q.in.joined > 0 {
		return
	}
	m := q.in.Find(n.Ord)
	if m == nil {
		m = q.in.open(n.Ord)
	}
	if m == nil || q.receiving.gap && !q.certainTo(n.Ord) || wqe.OpOf(m.Op.Fn()) != wqe.Send {
		return
	}
	k, ok := q.messageAt(n.Ord)
	if !ok {
		k = q.receiving.sure // it has not come whole
	}
	if !q.recvs.list.has(k) {
		return
	}
	r := q.recvs.list.at(k).event.Receive
	size := uint64(m.Length)
	if m.Partial || n.Ord != m.Last() {
		size = uint64(n.Ord-m.First+1) * uint64(q.in.pmtu)
	}
	if have := room(r); size > have {
		a.covered(rule.RCRSP039)
		if n.Syndrome != packet.NAKInvalidRequest {
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.RCRSP039, Class: rule.Violation, Role: rule.Responder,
					Expected: fmt.Sprintf("%v: the receive request has room for %d bytes", packet.NAKInvalidRequest, have),
					Actual:   n.Syndrome.String(), Detail: fmt.Sprintf("receive request %d", r.ID), Evidence: []uint64{m.Begin.Frame},
				},
				at: n.At, expects: refusal(packet.NAKInvalidRequest),
			})
		}
	}
}

// room is how many bytes a receive request takes.
func room(r *wqe.ReceiveRequest) (n uint64) {
	for _, g := range r.Segments {
		n += uint64(g.Length)
	}
	return n
}
