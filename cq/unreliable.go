package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// sees reports whether the capture shows when messages reach the queue pair, by the clock of its events.
func (a *Agent) sees(q *queuePair) bool {
	return q.src.exact && !q.reliable() && a.shows(q.addr())
}

// copied reports whether a packet of a message came more than once: the receiver may have dropped the first one and taken the other.
func (q *queuePair) copied(m *Message) bool {
	if len(q.in.again) == 0 || q.service() == packet.UD {
		return false
	}
	for ord := m.First; ord <= m.Last(); ord++ {
		if q.in.again[ord] > 0 {
			return true
		}
	}
	return false
}

// missed reports whether a message on UC or UD came before the receive request was posted that a completion is of: it was dropped then.
func (q *queuePair) missed(m *Message, t *receiveCompletion) bool {
	at := m.Begin
	if m.HasImm && wqe.OpOf(m.Op.Fn()) == wqe.Write {
		at = m.End
	}
	return t.of.event.Time > at.Time && !q.copied(m)
}

// pick returns the message from k on that a completion is of, or the end of the list. One that the receiver must have dropped comes last.
func (a *Agent) pick(q *queuePair, k int, t *receiveCompletion) int {
	list := &q.receiving.arrived
	first, sees := list.end(), a.sees(q)
	for n := max(k, list.first()); n < list.end(); n++ {
		switch {
		case !q.matches(list.at(n), t):
		case !sees || !q.missed(list.at(n), t):
			return n
		case first == list.end():
			first = n
		}
	}
	return first
}

// late judges that a message was not taken by a receive request that was posted after it.
func (a *Agent) late(q *queuePair, m *Message, t *receiveCompletion) {
	if q.recvs.shared || !a.sees(q) {
		return
	}
	id := rule.UCRWQE001
	if q.service() == packet.UD {
		id = rule.UDRWQE001
	}
	a.covered(id)
	if q.missed(m, t) {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: rule.Violation, Role: rule.Receiver, Expected: "the message dropped: no receive request was available",
				Actual: fmt.Sprintf("receive request %d, posted later, completes with it", t.event.Completion.ID),
			},
			at: m.End, event: t.event,
		})
	}
}

// granted judges the key of a UC WRITE whose immediate data was delivered.
func (a *Agent) granted(q *queuePair, m *Message, t *receiveCompletion) {
	if q.typ != qp.TypeUC || wqe.OpOf(m.Op.Fn()) != wqe.Write || m.DMALen == 0 {
		return
	}
	why, sure := q.src.refusal(m, nil)
	if q.complete(m.Begin.Time) && q.src.noMore(m) != "" {
		why, sure = q.src.noMore(m), true
	}
	if q.forbids(wqe.RemoteWrite, m.Begin.Time) {
		why, sure = "the queue pair does not permit it", true
	}
	if !sure || !q.complete(m.End.Time) && q.src.regions[m.RKey] == nil {
		return
	}
	a.covered(rule.UCACC001)
	if why != "" && q.src.tellsClosed(m.RKey) {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.UCACC001, Class: rule.Violation, Role: rule.Receiver, Expected: "the message dropped: " + why,
				Actual: "a receive completion", Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID),
			},
			at: m.End, event: t.event,
		})
	}
}

// keyless judges that a UC WRITE of no bytes is not dropped for its key: its immediate data takes the receive request that t is of, which the
// message n has taken instead.
func (a *Agent) keyless(q *queuePair, n int, t *receiveCompletion) {
	if q.typ != qp.TypeUC || q.recvs.shared || !a.sees(q) || q.forbids(wqe.RemoteWrite, 0) {
		return
	}
	list := &q.receiving.arrived
	first := n
	for first > list.first() && !list.at(first-1).used {
		first--
	}
	for i := first; i <= n; i++ {
		if m := list.at(i); wqe.OpOf(m.Op.Fn()) == wqe.Write && m.DMALen == 0 && !q.copied(m) {
			a.keylessTaken(q, m, list.at(n), t)
		}
	}
}

// keylessTaken judges such a WRITE. taken is the message that has completed.
func (a *Agent) keylessTaken(q *queuePair, m, taken *Message, t *receiveCompletion) {
	why, sure := q.src.refusal(m, nil)
	if why == "" || !sure {
		return
	}
	a.covered(rule.UCACC002)
	if m != taken && t.of.event.Time < m.Begin.Time && m.End.Pos < taken.Begin.Pos {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.UCACC002, Class: rule.Violation, Role: rule.Receiver,
				Expected: "a receive completion: a WRITE of no bytes needs no R_Key",
				Actual:   fmt.Sprintf("none; receive request %d, which was available, completes with the next message", t.event.Completion.ID),
				Detail:   why, Evidence: []uint64{taken.End.Frame},
			},
			at: m.End, event: t.event,
		})
	}
}

// forbids reports whether a queue pair does not permit its peer an access from a time of the packets on, for certain; from 0: it never has.
func (q *queuePair) forbids(access wqe.Access, from int64) bool {
	if !q.complete(from) { // the log may have told of more
		from = 0
	}
	return len(q.grants) > 0 && q.permitsFrom(from)&access == 0
}

// overtook judges a UC message that completes after one which arrived later. Both must be the only ones that their completions fit.
func (a *Agent) overtook(q *queuePair, list []*Message, m *Message, t *receiveCompletion) {
	if q.typ != qp.TypeUC || !a.shows(q.addr()) {
		return
	}
	a.covered(rule.UCCPL002)
	if q.copied(m) {
		q.newest = nil
		return
	}
	fits := 0
	for _, x := range list {
		if q.matches(x, t) {
			fits++
		}
	}
	if last := q.newest; fits == 1 && last != nil && m.End.Pos < last.End.Pos {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.UCCPL002, Class: rule.Violation, Role: rule.Receiver,
				Expected: "the message completed before the next one, which arrived later", Actual: "it completed after the next one",
				Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID), Evidence: []uint64{last.End.Frame},
			},
			at: m.End, event: t.event,
		})
	}
	if q.newest = nil; fits == 1 {
		q.newest = m
	}
}

// pieces are what came of a UC message that is not whole.
type pieces struct {
	headless   bool
	length     uint32
	hasImm     bool
	imm        uint32
	op         wqe.Op
	begin, end PacketRef
}

// interrupted returns the UC messages of which something is missing, but not their ends.
func (q *queuePair) interrupted() (list []pieces) {
	var p *pieces
	for _, m := range q.in.msgs.all() {
		if !m.Partial {
			p = nil
			continue
		}
		in := m.Op.Info()
		if p == nil || in.First {
			p = &pieces{headless: !in.First, op: wqe.OpOf(m.Op.Fn()), begin: m.Begin}
		}
		p.length += m.Length
		p.end = m.End
		if in.Last {
			p.hasImm, p.imm = m.HasImm, m.Imm
			list = append(list, *p)
			p = nil
		}
	}
	return list
}

// broken judges a UC completion that fits a message of which packets are missing.
func (a *Agent) broken(q *queuePair, t *receiveCompletion) bool {
	if q.typ != qp.TypeUC {
		return false
	}
	c := t.event.Completion
	q.in.giveUp()
	for _, p := range q.interrupted() {
		op := DoneRecv
		if p.op == wqe.Write {
			op = DoneRecvWriteImm
		}
		if c.Op != op || c.ByteLen != p.length || p.hasImm != (c.Flags&WithImm != 0) || p.hasImm && p.imm != c.Imm {
			continue
		}
		v := verdict{
			Verdict: rule.Verdict{
				Rule: rule.UCPSN003, Class: a.proven(q), Role: rule.Receiver,
				Expected: "no completion: packets of the message are missing", Actual: fmt.Sprintf("success with %d bytes", c.ByteLen),
				Detail: fmt.Sprintf("receive request %d", c.ID), Evidence: []uint64{p.begin.Frame},
			},
			at: p.end, event: t.event,
		}
		if p.headless {
			v.Rule, v.Expected = rule.UCPSN004, "no completion: the message has no First packet"
		}
		if p.begin.Frame == p.end.Frame {
			v.Evidence = nil
		}
		v.unshown()
		a.covered(v.Rule)
		a.accuse(q, v)
		return true
	}
	return false
}

// fails takes over a receive request of UC or UD that failed.
func (a *Agent) fails(q *queuePair, t *receiveCompletion) {
	r := &q.receiving
	if q.reliable() || q.recvs.shared || r.failedDrop || r.failing != nil {
		return
	}
	switch t.event.Completion.Status {
	case LocLenErr, RemInvReqErr, LocQPOpErr, LocAccessErr, GeneralErr:
		r.failing = t
		q.in.giveUp()
		a.dropFails(q)
	default:
		r.failedDrop = true // and what fails then is not for a message
	}
}

// dropFails judges a receive request of UC or UD that failed because of a message that was to be dropped.
func (a *Agent) dropFails(q *queuePair) {
	r := &q.receiving
	if r.failing == nil {
		return
	}
	v, ok := q.dropped(room(r.failing.of.event.Receive))
	if !ok {
		return
	}
	c := r.failing.event.Completion
	v.Class, v.Role, v.Actual, v.event = rule.Violation, rule.Receiver, c.Status.String(), r.failing.event
	v.Detail = fmt.Sprintf("receive request %d", c.ID)
	r.failing, r.failedDrop = nil, true
	a.accuse(q, v)
}

// dropped finds a message that a receive request does not take.
func (q *queuePair) dropped(room uint64) (v verdict, ok bool) {
	for _, m := range q.in.msgs.all() {
		_, length := q.expected(m)
		if m.Partial || wqe.OpOf(m.Op.Fn()) != wqe.Send || uint64(length) <= room {
			continue
		}
		v = verdict{Verdict: rule.Verdict{Rule: rule.UCRWQE002, Expected: fmt.Sprintf("the request left for the next message: it has room for %d bytes, not %d", room, length)}, at: m.End}
		if q.service() == packet.UD {
			v.Rule = rule.UDLEN003
		}
		return v, true
	}
	if q.typ != qp.TypeUC {
		return v, false
	}
	for _, m := range q.in.msgs.all() {
		if m.Partial && wqe.OpOf(m.Op.Fn()) == wqe.Send {
			return verdict{Verdict: rule.Verdict{Rule: rule.UCRWQE003, Expected: "the request left for the next message: this one was interrupted"}, at: m.End}, true
		}
	}
	return v, false
}

// coverDrops counts the messages that are to be dropped.
func (a *Agent) coverDrops(q *queuePair) {
	if q.reliable() || q.recvs.shared || !q.known {
		return
	}
	if q.typ == qp.TypeUC {
		for _, p := range q.interrupted() {
			if p.headless {
				a.covered(rule.UCPSN004)
			} else {
				a.covered(rule.UCPSN003)
				a.covered(rule.UCRWQE003)
			}
		}
	}
	list := q.recvs.list.all()
	if len(list) == 0 {
		return
	}
	have := room(list[0].event.Receive)
	if v, ok := q.dropped(have); ok && v.Rule != rule.UCRWQE003 {
		a.covered(v.Rule)
	}
}

// Delivers reports whether what comes by a flow reaches a queue pair that events tell of, as the packets before have shown.
func (a *Agent) Delivers(k Flow) bool {
	f := a.flows[k]
	return f != nil && f.to != nil
}

// Damaged says that a message of UC or UD has come with a wrong ICRC: it must not reach its queue pair.
func (a *Agent) Damaged(k Flow, m *Message) {
	a.covered(rule.ROCV2021)
	in := a.flows[k].to.in
	if list := in.spoiled; len(list) == mostNAKs {
		in.spoiled = append(list[:0], list[mostNAKs/2:]...)
	}
	in.spoiled = append(in.spoiled, m)
}

// spoiled judges a completion that fits only a damaged message.
func (a *Agent) spoiled(q *queuePair, t *receiveCompletion) bool {
	for _, m := range q.in.spoiled {
		if q.matches(m, t) {
			class, why := rule.Violation, ""
			if !a.near(q.addr()) {
				class, why = rule.Unproven, "; the packet may have been damaged on the way to the tap"
			}
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.ROCV2021, Class: class, Role: rule.Receiver,
					Expected: "no completion: the ICRC of the packet is wrong", Actual: "a receive completion",
					Detail: fmt.Sprintf("receive request %d%s", t.event.Completion.ID, why),
				},
				at: m.End, event: t.event,
			})
			return true
		}
	}
	return false
}

// datagramStatus judges the status of a UD send request.
func (a *Agent) datagramStatus(q *queuePair, w *sendRequest) {
	a.covered(rule.UDLEN002)
	if s := w.done.Completion.Status; s == LocLenErr {
		a.verb(q, rule.UDLEN002, w.done, "success: a datagram that is too long for the port is not sent, and no error", s.String())
	}
}
