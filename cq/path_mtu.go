package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// otherSize reports whether packets of a SEND or WRITE have another length than the path MTU of the queue pair that they came to lets them have: then the message has not as many as it is to
// have. Where its requester was given the same path MTU, that is wrong, and judged by what it sends.
func (q *queuePair) otherSize(m *Message) bool {
	op := wqe.OpOf(m.Op.Fn())
	if !q.known || !q.attr.Has(qp.KnowsPMTU) || !wqe.ValidMTU(int(q.attr.PMTU)) || q.receiving.oversize || m.Partial || m.Mixed || m.Other || op != wqe.Send && op != wqe.Write {
		return false
	}
	if r := q.in.requester; r != nil && r.attr.Has(qp.KnowsPMTU) && r.attr.PMTU == q.attr.PMTU {
		return false
	}
	return m.Packets != wqe.Packets(m.Length, q.attr.PMTU) && sizeOf(m) != 0
}

// sizeOf is the greatest path MTU that lets a message have as many packets as it has, in bytes; 0: none does, it is rather malformed.
func sizeOf(m *Message) uint32 {
	for mtu := uint32(longest); mtu >= 256; mtu /= 2 {
		if m.Packets == wqe.Packets(m.Length, mtu) {
			return mtu
		}
	}
	return 0
}

// sized judges that a responder refuses a SEND or WRITE whose packets have another length than its path MTU lets them have (rule RC-RSP-023). The first of a queue pair tells of it.
func (a *Agent) sized(q *queuePair, x execution) {
	if !x.done || x.refused != nil || !q.otherSize(x.Message) {
		return
	}
	q.receiving.oversize = true
	a.covered(rule.RCRSP023)
	a.executedDespite(q, x, q.wasRTR, rule.RCRSP023, packet.NAKInvalidRequest, ": "+q.sizes(x.Message))
}

// sizes says how the length of the packets of a message and the path MTU differ.
func (q *queuePair) sizes(m *Message) string {
	return fmt.Sprintf("%d bytes in %d packets, the path MTU is %d", m.Length, m.Packets, q.attr.PMTU)
}

// sized judges that a receiver of UC drops such a message (rule UC-LEN-001).
func (x comparison) sized() {
	q, m := x.q, x.m
	if q.typ != qp.TypeUC || x.t.guessed || !q.otherSize(m) {
		return
	}
	q.receiving.oversize = true
	x.a.covered(rule.UCLEN001)
	x.differs(rule.UCLEN001, "the message dropped: "+q.sizes(m), "a receive completion")
}
