package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// consumes reports whether a message takes a receive request.
func (m *Message) consumes() bool {
	return !m.Partial && (wqe.OpOf(m.Op.Fn()) == wqe.Send || m.HasImm)
}

func (q *queuePair) receiver() rule.Role {
	if q.reliable() {
		return rule.Responder
	}
	return rule.Receiver
}

// received compares the receive completions with the messages.
func (a *Agent) received(q *queuePair) {
	for len(q.receiving.waiting) > 0 {
		t := q.receiving.waiting[0]
		if q.known && !a.match(q, t) {
			return
		}
		a.untoldReceive(q, t)
		if t.of != nil {
			t.of.judged = true
		}
		q.receiving.waiting[0] = nil
		q.receiving.waiting = q.receiving.waiting[1:]
	}
}

// hold is how long a completion that fits the message of its place in nothing waits for the next one, which may.
const hold = int64(1e6)

// match compares a receive completion with its message. It returns false where that is not certain yet.
func (a *Agent) match(q *queuePair, t *receiveCompletion) bool {
	if q.doubledFrom != 0 && t.n > q.doubledFrom {
		return true
	}
	if !a.reached(q.src, t.event.Time) {
		a.wait(q, t.event.Time)
		return false
	}
	if !q.in.first.Seen() && (q.typ != qp.TypeUD || len(a.groupDatagrams) == 0) {
		return a.ended // the capture may begin later
	}
	if t.event.Completion.Status != Success {
		a.fails(q, t)
		return true
	}
	if q.typ == qp.TypeUC && !a.found(q, t) {
		q.in.giveUp()
		a.arrive(q)
	}
	n := q.receiving.matched
	if q.ordered() {
		q.cameLater(t)
		q.receiving.madeUp, t.unlisted = q.receiving.madeUp-t.unlisted, 0
		n = max(t.of.place-q.receiving.madeUp, 0)
	}
	if q.receiving.arrived.has(n) && q.certain(n) {
		return a.matchPlaced(q, n, t)
	}
	if !a.found(q, t) && !a.ended {
		until := t.event.Time
		if a.proven(q) == rule.Unproven {
			until += patience // its message may have another way than by the tap
		}
		if !a.passed(q.src, until) {
			a.wait(q, until)
			return false
		}
	}
	q.receiving.matched++
	if q.reliable() && q.in.mixed {
		q.doubledFrom = -1 // which message it is of, and any later one, is not known any more
		return true
	}
	a.choose(q, t)
	return true
}

// matchPlaced compares a receive completion with message n, which is that of its place. It returns false where a later completion may show that the device made this
// one up.
func (a *Agent) matchPlaced(q *queuePair, n int, t *receiveCompletion) bool {
	m := q.receiving.arrived.at(n)
	next := q.nextSuccess()
	switch until := t.event.Time + hold; {
	case q.ordered() && q.otherMessage(m, t) && q.src.exact && m.Begin.Time > t.event.Time, next != nil && q.invented(n, t, next):
		q.receiving.matched++
		q.receiving.madeUp++
		a.noMessage(q, t)
		return true
	case next == nil && q.ordered() && q.differences(m, t) > 1 && !a.passed(q.src, until) && !a.ended:
		a.wait(q, until)
		return false
	case q.overlooked(n, t) && next == nil && !a.passed(q.src, until) && !a.ended:
		a.wait(q, until)
		return false
	case q.overlooked(n, t) && (next == nil || !q.receiving.arrived.has(n+2) || q.matches(q.receiving.arrived.at(n+2), next)):
		a.covered(rule.CPLORD001)
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLORD001, Class: rule.Violation, Role: q.receiver(), Expected: fmt.Sprintf("the completion of the message that ends in frame %d", m.End.Frame),
				Actual: "that of the next message", Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
			},
			at: m.End, event: t.event,
		})
		q.receiving.matched++
		n++
		m = q.receiving.arrived.at(n)
	}
	q.receiving.matched++
	q.receiving.place = max(q.receiving.place, n+1)
	t.message = m
	q.seesStored(m, t.event.Time)
	a.sharedTaken(q, m, t)
	a.same(q, m, t)
	return true
}

// found reports whether there is a message that a completion may be of, where their order is not certain.
func (a *Agent) found(q *queuePair, t *receiveCompletion) bool {
	n := a.pick(q, q.receiving.place, t)
	return n < q.receiving.arrived.end() && !(a.sees(q) && q.missed(q.receiving.arrived.at(n), t))
}

// choose finds the message of a completion where their order does not tell for certain, and compares the two.
func (a *Agent) choose(q *queuePair, t *receiveCompletion) {
	list, k := &q.receiving.arrived, q.receiving.place
	// The next message is that of the next completion, unless it was not received.
	aligned := q.in.joined <= 0 && (q.unbroken() || a.proven(q) == rule.Violation)
	switch n := a.pick(q, k, t); {
	case n < list.end() && q.src.clock.before(t.event.Time, list.at(n).End.Time) && a.outOfTurn(q, list.before(k), t):
		// not the one that came later, but one as long that the network held up
	case n < list.end():
		for ; k < n; k++ {
			if m := list.at(k); m.Net != nil && m.Net.must {
				q.receiving.skipped = append(q.receiving.skipped, skippedOver{m, t})
			}
		}
		m := list.at(n)
		q.receiving.place, m.used, t.guessed = n+1, true, !aligned
		a.keyless(q, n, t)
		a.overtook(q, list.all(), m, t)
		a.same(q, m, t)
	case a.outOfTurn(q, list.before(k), t):
	case aligned && list.has(k) && (q.reliable() || a.nothingElse(q, k)) && q.resembles(list.at(k), t):
		a.same(q, list.at(k), t)
		q.receiving.place++
	default:
		if q.ordered() && q.in.joined <= 0 {
			q.receiving.early = append(q.receiving.early, placed{t.of.place - q.receiving.madeUp, t})
		}
		a.noMessage(q, t)
	}
}

// nothingElse reports whether a completion that fits none of the messages must be that of the next one, message k: each message so far has a completion, and
// no other can have come.
func (a *Agent) nothingElse(q *queuePair, k int) bool {
	if a.proven(q) == rule.Violation {
		return k == q.receiving.matched-1
	}
	n := q.receiving.matched - 1
	for _, t := range q.receiving.waiting {
		if t.event.Completion.Status == Success {
			n++
		}
	}
	return a.ended && q.receiving.arrived.end() == n
}

// cameLater finds out of completions that came before a message of their place whether the device made them up: the message that came since is that of the
// next completion, which is t for the last of them.
func (q *queuePair) cameLater(t *receiveCompletion) {
	for r := &q.receiving; len(r.early) > 0; r.early = r.early[1:] {
		x, next := r.early[0], t
		if len(r.early) > 1 {
			next = r.early[1].t
		}
		if x.n >= r.arrived.end() {
			return
		}
		if q.invented(x.n, x.t, next) {
			r.madeUp++
			for i := range r.early[1:] {
				r.early[1+i].n--
			}
		}
	}
}

// notReady judges that a receive request was missing where an RNR NAK says so: each message takes one, in order.
func (a *Agent) notReady(q *queuePair) {
	if !q.known || !q.reliable() || q.in.joined > 0 {
		q.receiving.naks = q.in.naksGone + len(q.in.naks)
		return
	}
	for ; q.receiving.naks < q.in.naksGone+len(q.in.naks); q.receiving.naks++ {
		n := &q.in.naks[q.receiving.naks-q.in.naksGone]
		if n.Syndrome.Fatal() && q.src.exact && q.typ == qp.TypeRC && q.in.anchor {
			a.tooLong(q, n)
		}
		if n.Syndrome.Type() != packet.RNRNAK {
			continue
		}
		if n.Ord >= q.receiving.next && !q.receiving.gap && !a.ended {
			return // the message has not come whole yet
		}
		if q.recvs.shared {
			a.sharedReady(q, n)
			continue
		}
		k, ok := q.messageAt(n.Ord)
		if !ok || q.receiving.wrongRNR {
			continue
		}
		a.covered(rule.RCRSP020)
		if q.failed != nil && !q.src.clock.after(q.failed.Time, n.At.Time) {
			q.receiving.wrongRNR = true // its requests are flushed, and what it still answers is judged by rule QPS-ERR-001
			continue
		}
		if m := q.receiving.arrived.at(k); q.recvs.list.has(k) && q.src.clock.before(q.recvs.list.at(k).event.Time, m.Begin.Time) {
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
}

// outOfTurn reports whether a completion is that of a message before those that completed last: UC and UD take one that the network let
// others overtake, and take a copy that it made for another one. Near the receiver the copy is seen.
func (a *Agent) outOfTurn(q *queuePair, list []*Message, t *receiveCompletion) bool {
	if q.reliable() {
		return false
	}
	for _, m := range list {
		if q.matches(m, t) && (!m.used || !a.near(q.addr()) || q.in.again[m.Last()] > 0) {
			if !m.used {
				a.overtook(q, list, m, t)
			}
			m.used = true
			return true
		}
	}
	return false
}

// unbroken reports whether the capture holds every message to a queue pair, as far as their PSNs tell.
func (q *queuePair) unbroken() bool { return !q.receiving.broken }

// noMessage judges a completion without a message.
func (a *Agent) noMessage(q *queuePair, t *receiveCompletion) {
	for _, m := range q.in.dropped {
		if q.matches(m, t) {
			a.covered(rule.UDQKEY004)
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.UDQKEY004, Class: rule.Violation, Role: q.receiver(),
					Expected: fmt.Sprintf("no completion: the Q_Key is not %#x", q.attr.QKey), Actual: "a receive completion",
					Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
				},
				at: m.End, event: t.event,
			})
			return
		}
	}
	if a.spoiled(q, t) || a.duplicateGroupCompletion(q, t) || q.in.joined > 0 || !a.passed(q.src, t.event.Time) || a.broken(q, t) {
		return
	}
	a.covered(rule.CPLSTS014)
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS014, Class: a.proven(q), Role: q.receiver(), Expected: "a message that was received",
			Actual: "none that matches the completion", Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
		},
		event: t.event, at: q.in.newest,
	}
	switch {
	case q.in.mixed:
		v.Class = rule.Unproven
		v.Detail += "; several packets have one PSN, and which of them was accepted is unknown"
	case v.Class == rule.Unproven:
		v.Detail += "; " + notShown
	}
	a.accuse(q, v)
}

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

// otherData reports whether what a completion says of the memory is not what its message brought.
func (q *queuePair) otherData(m *Message, t *receiveCompletion) bool {
	op, _ := q.expected(m)
	return t.event.Summed && op == DoneRecv && !m.Cut && m.CRC != t.event.Sum
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
	x.a.accuse(x.q, verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: rule.Violation, Role: x.q.receiver(), Expected: expected, Actual: actual,
			Detail: fmt.Sprintf("receive request %d", x.t.event.Completion.ID),
		},
		at: x.m.End, event: x.t.event,
	})
}

// same compares a completion with its message.
func (a *Agent) same(q *queuePair, m *Message, t *receiveCompletion) {
	x := comparison{a, q, m, t}
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
	if t.event.Summed && op == DoneRecv && !m.Cut && !m.Mixed && c.ByteLen == length {
		a.covered(rule.CPLMEM001)
		if m.CRC != t.event.Sum {
			x.differs(rule.CPLMEM001, fmt.Sprintf("data with CRC-32 %#08x in memory", m.CRC), fmt.Sprintf("%#08x", t.event.Sum))
		}
	}
	if m.Net != nil && m.Net.must {
		a.covered(rule.UDMC003)
	}
	a.late(q, m, t)
	a.granted(q, m, t)
	if q.service() == packet.UD {
		x.sender()
		return
	}
	a.covered(rule.CPLSTS014)
	a.early(q, rule.CPLSTS014, q.receiver(), t.event, m.End, PacketRef{}, "the whole message", len(q.in.again) == 0 && !t.guessed)
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
			if q.complete() {
				a.covered(rule.RCRSP038)
			}
			if q.recvs.list.has(q.receiving.accepted) {
				a.leaves(q.src, at.Time-q.recvs.list.at(q.receiving.accepted).event.Time)
			}
			continue
		case q.src.comes() && !q.gone:
			return
		case !q.complete() || !q.src.exact && !q.src.receives || q.receiving.unreceived:
			continue
		}
		a.covered(rule.RCRSP038)
		q.receiving.unreceived = true
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCRSP038, Class: rule.Violation, Role: rule.Responder, Expected: "an RNR NAK: all receive requests are used",
				Actual: "an acknowledgement", Detail: fmt.Sprintf("%d receive requests were posted", q.recvs.list.end()),
				Evidence: []uint64{m.End.Frame},
			},
			at: *at, expects: syndrome("RNR NAK"),
		})
	}
}
