package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// expected is what the receive completion of a message says.
func (q *queuePair) expected(m *Message) (op CompletionOp, length uint32) {
	op, length = DoneRecv, m.Length
	if wqe.OpOf(m.Op.Fn()) == wqe.Write {
		op = DoneRecvWriteImm
	}
	if q.service() == packet.UD {
		length += 40
	}
	return op, length
}

// otherMessage reports whether a completion cannot be that of a message, whatever the memory holds.
func (q *queuePair) otherMessage(m *Message, t *receiveCompletion) bool {
	n := q.differences(m, t)
	return n > 1 || n == 1 && !q.otherData(m, t)
}

// otherData reports whether what a completion says of the memory is not what its message brought, which is not known where a retransmission had other data.
func (q *queuePair) otherData(m *Message, t *receiveCompletion) bool {
	op, _ := q.expected(m)
	return t.event.Summed && op == DoneRecv && !m.Cut && !m.Mixed && m.CRC != t.event.Sum
}

// differences counts in how many ways a completion differs from that of a message.
func (q *queuePair) differences(m *Message, t *receiveCompletion) (n int) {
	c := t.event.Completion
	op, length := q.expected(m)
	if op != c.Op {
		n++
	}
	if length != c.ByteLen {
		n++
	}
	if m.HasImm != (c.Flags&WithImm != 0) || m.HasImm && m.Imm != c.Imm {
		n++
	}
	if q.otherData(m, t) {
		n++
	}
	return n
}

func (q *queuePair) matches(m *Message, t *receiveCompletion) bool { return q.differences(m, t) == 0 }

func (q *queuePair) resembles(m *Message, t *receiveCompletion) bool { return q.differences(m, t) == 1 }

// comparison is a receive completion and its message.
type comparison struct {
	a *Agent
	q *queuePair
	m *Message
	t *receiveCompletion
}

// differs reports that the completion is not what the message lets expect.
func (x comparison) differs(id rule.ID, expected, actual string) {
	class, why := x.a.brought(x.m)
	x.a.accuse(x.q, verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: class, Role: x.q.receiver(), Expected: expected, Actual: actual,
			Detail: fmt.Sprintf("receive request %d%s", x.t.event.Completion.ID, why),
		},
		at: x.m.End, event: x.t.event,
	})
}

// same compares a completion with its message.
func (a *Agent) same(q *queuePair, m *Message, t *receiveCompletion) {
	x := comparison{a, q, m, t}
	x.expected()
	x.receivedInError()
	x.sized()
	c := t.event.Completion
	op, length := q.expected(m)
	a.covered(rule.CPLOPC001)
	if c.Op != op {
		x.differs(rule.CPLOPC001, "a completion of "+op.String(), c.Op.String())
	}
	x.length(op, length)
	x.immediate()
	// A log of a host may not say what was invalidated.
	if c.Flags&WithInv != 0 || q.src.exact {
		x.invalidated()
	}
	if a.grhSpace(q, m, t) {
		return
	}
	x.data(op, length)
	if m.Net != nil && m.Net.must {
		a.covered(rule.UDMC003)
	}
	a.late(q, m, t)
	a.granted(q, m, t)
	if q.service() != packet.UD {
		a.covered(rule.CPLSTS014)
		a.tooEarly(q, rule.CPLSTS014, q.receiver(), t.event, t.posted(), m.End, PacketRef{}, "the whole message", len(q.in.again) == 0 && !t.guessed)
		return
	}
	if x.sender(); !t.guessed && a.provenAt(q) == rule.Violation { // a datagram like it may have come another way than by the tap
		a.covered(rule.CPLSTS014)
		a.tooEarly(q, rule.CPLSTS014, q.receiver(), t.event, t.posted(), m.End, PacketRef{}, "the datagram", true)
	}
}

// expected judges that a responder does not take a message before the PSN that it expects first, where its requester was given another one.
func (x comparison) expected() {
	in := x.q.in
	if !x.q.reliable() || in.requester != nil || in.lead == 0 {
		return
	}
	x.a.covered(rule.RCRSP001)
	if due := int64(in.due.Diff(in.start)); in.early && x.m.First < due && !x.q.receiving.began {
		x.q.receiving.began = true
		x.a.accuse(x.q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCRSP001, Class: rule.Violation, Role: rule.Responder, Expected: "no completion: the expected PSN starts at " + in.due.String(),
				Actual: "success, of a message that starts at PSN " + x.m.Begin.PSN.String(), Detail: fmt.Sprintf("receive request %d", x.t.event.Completion.ID),
			},
			at: x.m.Begin, event: x.t.event,
		})
	}
}

// data compares what a SEND has put into memory. Where the completion has another length, that was told.
func (x comparison) data(op CompletionOp, length uint32) {
	e, m := x.t.event, x.m
	if !e.Summed || op != DoneRecv || m.Cut || m.Mixed || e.Completion.ByteLen != length {
		return
	}
	x.a.covered(rule.CPLMEM001)
	if m.CRC != e.Sum {
		x.differs(rule.CPLMEM001, fmt.Sprintf("data with CRC-32 %#08x in memory", m.CRC), fmt.Sprintf("%#08x", e.Sum))
	}
}

// length compares the number of bytes, which the receive request must have room for.
func (x comparison) length(op CompletionOp, length uint32) {
	c := x.t.event.Completion
	id := rule.CPLLEN001
	switch {
	case x.q.service() == packet.UD:
		id = rule.UDGRH004
	case op == DoneRecvWriteImm:
		id = rule.CPLLEN002
	}
	x.a.covered(id)
	if c.ByteLen != length {
		x.differs(id, fmt.Sprintf("byte_len %d", length), fmt.Sprintf("%d", c.ByteLen))
	}
	if op == DoneRecv && x.t.of != nil {
		x.a.covered(rule.CPLSTS009)
		if n := room(x.t.of.event.Receive); uint64(length) > n {
			x.differs(rule.CPLSTS009, fmt.Sprintf("an error: the receive request has room for %d bytes", n), fmt.Sprintf("success with %d", length))
		}
	}
}

// immediate compares the immediate data.
func (x comparison) immediate() {
	c, m := x.t.event.Completion, x.m
	x.a.covered(rule.CPLIMM001)
	switch has := c.Flags&WithImm != 0; {
	case has && !m.HasImm:
		x.differs(rule.CPLIMM001, "no immediate data", fmt.Sprintf("immediate data %#x", c.Imm))
	case m.HasImm && !has:
		x.differs(rule.CPLIMM001, fmt.Sprintf("immediate data %#x", m.Imm), "none")
	case has && c.Imm != m.Imm:
		x.differs(rule.CPLIMM001, fmt.Sprintf("immediate data %#x", m.Imm), fmt.Sprintf("%#x", c.Imm))
	}
}

// invalidated compares the R_Key that the message invalidated.
func (x comparison) invalidated() {
	c, m := x.t.event.Completion, x.m
	x.a.covered(rule.CPLINV001)
	switch has := c.Flags&WithInv != 0; {
	case has && !m.HasInv:
		x.differs(rule.CPLINV001, "no invalidated R_Key", fmt.Sprintf("R_Key %#x", c.InvKey))
	case m.HasInv && !has:
		x.differs(rule.CPLINV001, fmt.Sprintf("invalidated R_Key %#x", m.InvRKey), "none")
	case has && c.InvKey != m.InvRKey:
		x.differs(rule.CPLINV001, fmt.Sprintf("invalidated R_Key %#x", m.InvRKey), fmt.Sprintf("%#x", c.InvKey))
	}
}

// sender compares what the completion of a datagram says of its sender.
func (x comparison) sender() {
	c, m := x.t.event.Completion, x.m
	x.a.covered(rule.UDGRH002)
	if has := c.Flags&WithGRH != 0; has != m.GRH {
		x.differs(rule.UDGRH002, fmt.Sprintf("GRH flag %d", bit(m.GRH)), fmt.Sprintf("%d", bit(has)))
	}
	x.a.covered(rule.UDCQE001)
	if c.SrcQP != m.SrcQP {
		x.differs(rule.UDCQE001, fmt.Sprintf("source QP %#x", m.SrcQP), fmt.Sprintf("%#x", c.SrcQP))
	}
}
