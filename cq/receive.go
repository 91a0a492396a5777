package cq

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// consumes reports whether a message takes a receive request.
func (m *message) consumes() bool {
	return !m.partial && (wqe.OpOf(m.op.Fn()) == wqe.Send || m.hasImm)
}

func (q *queuePair) receiver() rule.Role {
	if q.reliable() {
		return rule.Responder
	}
	return rule.Receiver
}

// received compares the receive completions with the messages.
func (a *Agent) received(q *queuePair) {
	if !q.known || !q.in.first.seen() && (q.typ != qp.TypeUD || len(a.casts) == 0) {
		return
	}
	if len(q.in.dropped) > 0 {
		a.covered(rule.UDQKEY004)
	}
	if len(q.in.spoiled) > 0 {
		a.covered(rule.ROCV2021)
	}
	list, sure := q.consumers()
	done := q.successes()
	k := 0 // of the next message
	used := make([]bool, len(list))
	var over []skippedOver
	// The next message is that of the next completion, unless it was not received.
	aligned := q.in.joined <= 0 && (q.unbroken() || a.proven(q) == rule.Violation)
	places := q.places(list[:sure], done)
	for i, t := range done {
		if q.doubled > 0 && i >= q.doubled-1 || q.reliable() && q.in.mixed && places[i] >= sure {
			break // which message they are of is not known any more
		}
		switch n := places[i]; {
		case n == nothing:
			a.noMessage(q, t)
			continue
		case n < sure:
			k = max(k, n+1)
			t.message = list[n]
			a.same(q, list[n], t)
			continue
		}
		n := a.pick(q, list, k, t)
		switch {
		case n < len(list) && q.src.clock.before(t.event.Time, list[n].end.time) && a.outOfTurn(q, list[:k], used, t):
			// not the one that came later, but one as long that the network held up
		case n < len(list):
			for ; k < n; k++ {
				if list[k].av != nil && list[k].av.must {
					over = append(over, skippedOver{k, t})
				}
			}
			k, used[n] = n+1, true
			a.keyless(q, list, used, n, t)
			a.overtook(q, list, list[n], t)
			a.same(q, list[n], t)
		case a.outOfTurn(q, list[:k], used, t):
		case aligned && k < len(list) && (q.reliable() || len(list) == len(done)) && q.resembles(list[k], t):
			a.same(q, list[k], t)
			k++
		default:
			a.noMessage(q, t)
		}
	}
	a.uncast(q, list, used, over)
	a.posted(q, list[:sure])
	a.notReady(q, list[:sure])
}

// notReady judges that a receive request was missing where an RNR NAK says so: each message takes one, in order.
func (a *Agent) notReady(q *queuePair, list []*message) {
	if q.recvs.shared && q.in.joined <= 0 {
		a.sharedReady(q)
	}
	if q.recvs.shared || !q.reliable() || q.in.joined > 0 {
		return
	}
	k := 0
	for _, n := range q.in.naks {
		if n.syndrome.Type() != packet.RNRNAK {
			continue
		}
		for k < len(list) && list[k].last() < n.ord {
			k++
		}
		if k == len(list) || n.ord < list[k].first {
			continue
		}
		a.covered(rule.RCRSP020)
		if q.failed != nil && !q.src.clock.after(q.failed.Time, n.at.time) {
			return // its requests are flushed, and what it still answers is judged by rule QPS-ERR-001
		}
		if m := list[k]; k < len(q.recvs.list) && q.src.clock.before(q.recvs.list[k].event.Time, m.begin.time) {
			r := q.recvs.list[k].event
			a.accuse(q, verdict{
				rule: rule.RCRSP020, class: rule.Violation, role: rule.Responder,
				expected: fmt.Sprintf("the message accepted: receive request %d was posted before it arrived", r.Receive.ID), actual: n.syndrome.String(),
				at: n.at, evidence: []uint64{m.begin.frame}, event: r,
			})
			return
		}
	}
}

// outOfTurn reports whether a completion is that of a message before those that completed last: UC and UD take one that the network let
// others overtake, and take a copy that it made for another one. Near the receiver the copy is seen.
func (a *Agent) outOfTurn(q *queuePair, list []*message, used []bool, t *taken) bool {
	if q.reliable() {
		return false
	}
	for i, m := range list {
		if q.matches(m, t) && (!used[i] || !a.near(q.addr()) || q.in.again[m.last()] > 0) {
			if !used[i] {
				a.overtook(q, list, m, t)
			}
			used[i] = true
			return true
		}
	}
	return false
}

// unbroken reports whether the capture holds every message to a queue pair, as far as their PSNs tell.
func (q *queuePair) unbroken() bool {
	for i := range q.in.msgs {
		m := &q.in.msgs[i]
		if m.partial || i > 0 && m.begin.psn != q.in.msgs[i-1].begin.psn.Add(q.in.msgs[i-1].packets) {
			return false
		}
	}
	return true
}

// noMessage judges a completion without a message.
func (a *Agent) noMessage(q *queuePair, t *taken) {
	for _, m := range q.in.dropped {
		if q.matches(m, t) {
			a.covered(rule.UDQKEY004)
			a.accuse(q, verdict{
				rule: rule.UDQKEY004, class: rule.Violation, role: q.receiver(), expected: fmt.Sprintf("no completion: the Q_Key is not %#x", q.attr.QKey),
				actual: "a receive completion", detail: fmt.Sprintf("receive request %d", t.event.Completion.ID), at: m.end, event: t.event,
			})
			return
		}
	}
	if a.spoiled(q, t) || a.castTwice(q, t) || q.in.joined > 0 || q.src.clock.mayBeAfter(t.event.Time, a.last) || a.broken(q, t) {
		return
	}
	a.covered(rule.CPLSTS014)
	v := verdict{
		rule: rule.CPLSTS014, class: a.proven(q), role: q.receiver(), expected: "a message that was received", actual: "none that matches the completion",
		detail: fmt.Sprintf("receive request %d", t.event.Completion.ID), event: t.event, at: q.in.newest,
	}
	switch {
	case q.in.mixed:
		v.class = rule.Unproven
		v.detail += "; several packets have one PSN, and which of them was accepted is unknown"
	case v.class == rule.Unproven:
		v.detail += "; " + notShown
	}
	a.accuse(q, v)
}

// expected is what the receive completion of a message says.
func (q *queuePair) expected(m *message) (op hcaagent.CompletionOp, length uint32) {
	op, length = hcaagent.DoneRecv, m.length
	if wqe.OpOf(m.op.Fn()) == wqe.Write {
		op = hcaagent.DoneRecvWriteImm
	}
	if q.service() == packet.UD {
		length += 40
	}
	return op, length
}

// differences counts in how many ways a completion differs from that of a message.
func (q *queuePair) differences(m *message, t *taken) (n int) {
	c := t.event.Completion
	op, length := q.expected(m)
	if op != c.Op {
		n++
	}
	if length != c.ByteLen {
		n++
	}
	if m.hasImm != (c.Flags&hcaagent.WithImm != 0) || m.hasImm && m.imm != c.Imm {
		n++
	}
	if t.event.Summed && op == hcaagent.DoneRecv && !m.cut && m.crc != t.event.Sum {
		n++
	}
	return n
}

func (q *queuePair) matches(m *message, t *taken) bool   { return q.differences(m, t) == 0 }
func (q *queuePair) resembles(m *message, t *taken) bool { return q.differences(m, t) == 1 }

// same compares a completion with its message.
func (a *Agent) same(q *queuePair, m *message, t *taken) {
	c := t.event.Completion
	mismatch := func(id rule.ID, expected, actual string) {
		a.accuse(q, verdict{
			rule: id, class: rule.Violation, role: q.receiver(), expected: expected, actual: actual,
			detail: fmt.Sprintf("receive request %d", c.ID), at: m.end, event: t.event,
		})
	}
	op, length := q.expected(m)
	a.covered(rule.CPLOPC001)
	if c.Op != op {
		mismatch(rule.CPLOPC001, "a completion of "+op.String(), c.Op.String())
	}
	id := rule.CPLLEN001
	switch {
	case q.service() == packet.UD:
		id = rule.UDGRH004
	case op == hcaagent.DoneRecvWriteImm:
		id = rule.CPLLEN002
	}
	a.covered(id)
	if c.ByteLen != length {
		mismatch(id, fmt.Sprintf("byte_len %d", length), fmt.Sprintf("%d", c.ByteLen))
	}
	if op == hcaagent.DoneRecv && t.of != nil {
		a.covered(rule.CPLSTS009)
		if n := room(t.of.event.Receive); uint64(length) > n {
			mismatch(rule.CPLSTS009, fmt.Sprintf("an error: the receive request has room for %d bytes", n), fmt.Sprintf("success with %d", length))
		}
	}
	a.covered(rule.CPLIMM001)
	switch has := c.Flags&hcaagent.WithImm != 0; {
	case has && !m.hasImm:
		mismatch(rule.CPLIMM001, "no immediate data", fmt.Sprintf("immediate data %#x", c.Imm))
	case m.hasImm && !has:
		mismatch(rule.CPLIMM001, fmt.Sprintf("immediate data %#x", m.imm), "none")
	case has && c.Imm != m.imm:
		mismatch(rule.CPLIMM001, fmt.Sprintf("immediate data %#x", m.imm), fmt.Sprintf("%#x", c.Imm))
	}
	// A log of a host may not say what was invalidated.
	if has := c.Flags&hcaagent.WithInv != 0; has || q.src.exact {
		a.covered(rule.CPLINV001)
		switch {
		case has && !m.inval:
			mismatch(rule.CPLINV001, "no invalidated R_Key", fmt.Sprintf("R_Key %#x", c.InvKey))
		case m.inval && !has:
			mismatch(rule.CPLINV001, fmt.Sprintf("invalidated R_Key %#x", m.inv), "none")
		case has && c.InvKey != m.inv:
			mismatch(rule.CPLINV001, fmt.Sprintf("invalidated R_Key %#x", m.inv), fmt.Sprintf("%#x", c.InvKey))
		}
	}
	if a.front(q, m, t) {
		return
	}
	if t.event.Summed && op == hcaagent.DoneRecv && !m.cut && !m.mixed && c.ByteLen == length {
		a.covered(rule.CPLMEM001)
		if m.crc != t.event.Sum {
			mismatch(rule.CPLMEM001, fmt.Sprintf("data with CRC-32 %#08x in memory", m.crc), fmt.Sprintf("%#08x", t.event.Sum))
		}
	}
	if m.av != nil && m.av.must {
		a.covered(rule.UDMC003)
	}
	a.late(q, m, t)
	a.granted(q, m, t)
	if q.service() == packet.UD {
		a.covered(rule.UDGRH002)
		if has := c.Flags&hcaagent.WithGRH != 0; has != m.grh {
			mismatch(rule.UDGRH002, fmt.Sprintf("GRH flag %d", bit(m.grh)), fmt.Sprintf("%d", bit(has)))
		}
		a.covered(rule.UDCQE001)
		if c.SrcQP != m.srcQP {
			mismatch(rule.UDCQE001, fmt.Sprintf("source QP %#x", m.srcQP), fmt.Sprintf("%#x", c.SrcQP))
		}
		return
	}
	a.covered(rule.CPLSTS014)
	a.early(q, rule.CPLSTS014, q.receiver(), t.event, m.end, where{}, "the whole message", len(q.in.again) == 0)
}

// posted judges that a receive request was there for each message that was taken.
func (a *Agent) posted(q *queuePair, list []*message) {
	if !q.complete() || q.recvs.shared || !q.reliable() {
		return
	}
	for i, m := range list {
		at, ok := q.in.ackOf(m.last())
		if !ok {
			return
		}
		a.covered(rule.RCRSP038)
		if i < len(q.recvs.list) {
			continue
		}
		a.accuse(q, verdict{
			rule: rule.RCRSP038, class: rule.Violation, role: rule.Responder, expected: "an RNR NAK: all receive requests are used",
			actual: "an acknowledgement", detail: fmt.Sprintf("%d receive requests were posted", len(q.recvs.list)), at: at,
			evidence: []uint64{m.end.frame},
		})
		return
	}
}
