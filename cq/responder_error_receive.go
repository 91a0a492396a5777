package cq

import (
	"fmt"
	"strings"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// refusals judges what a responder did with its receive requests and its consumer when it refused a message for good.
func (a *Agent) refusals(q *queuePair) {
	if !q.known || !q.reliable() {
		return
	}
	first := q.failing
	n, m := q.refusedMessage()
	if n != nil {
		switch n.Syndrome {
		case packet.NAKRemoteOp:
			a.flushedOnly(q, n, m)
		case packet.NAKRemoteAccess:
			a.violated(q, n, m, first)
			a.writeConsumedReceive(q, n, m, first)
		case packet.NAKInvalidRequest:
			a.writeConsumedReceive(q, n, m, first)
		}
	}
	if first != nil && a.failedAccepted(q, first) {
		return
	}
	if first != nil && first.event.Completion.Status == LocProtErr && q.wasErr == nil && !q.gone && q.in.first.Seen() {
		a.covered(rule.CPLSTS010)
		if n == nil || n.Syndrome != packet.NAKRemoteOp {
			a.protectedUnrefused(q, first)
		}
	}
}

// refusedMessage is the first message that a queue pair has refused for good, with the NAK, or nil.
func (q *queuePair) refusedMessage() (*NAK, *Message) {
	for i := range q.in.naks {
		n := &q.in.naks[i]
		if m := q.in.Find(n.Ord); m != nil && n.Syndrome.Fatal() {
			return n, m
		}
	}
	return nil, nil
}

// flushedOnly judges that a NAK Remote Operational Error to a SEND comes with a receive request that has failed, and was not just flushed.
func (a *Agent) flushedOnly(q *queuePair, n *NAK, m *Message) {
	last := q.newestReceive
	if wqe.OpOf(m.Op.Fn()) != wqe.Send || !q.complete(n.At.Time) || last == nil {
		return
	}
	a.covered(rule.CPLSTS010)
	if q.failing == nil && last.event.Completion.Status == WRFlushErr {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLSTS010, Class: rule.Violation, Role: rule.Responder,
				Expected: "LOC_QP_OP_ERR or LOC_PROT_ERR for the receive request of the message", Actual: "all were flushed",
				Evidence: []uint64{m.Begin.Frame},
			},
			at: n.At, event: last.event,
		})
	}
}

// failedAccepted judges that a receive request has not failed whose message the responder has acknowledged. It reports whether it has.
func (a *Agent) failedAccepted(q *queuePair, t *receiveCompletion) bool {
	var id rule.ID
	switch t.event.Completion.Status {
	case LocLenErr, RemInvReqErr:
		id = rule.CPLSTS009
	case LocProtErr, LocQPOpErr:
		id = rule.CPLSTS010
	default:
		return false
	}
	if !q.ordered() || q.receiving.moved || t.of == nil {
		return false
	}
	n := t.of.place - q.receiving.invented
	if n < 0 || !q.receiving.arrived.has(n) || !q.certain(n) {
		return false
	}
	m := q.receiving.arrived.at(n)
	ack := q.in.ackOf(m.Last())
	if ack == nil || !q.in.ackNames(m.Last()) {
		return false
	}
	a.covered(id)
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: rule.Violation, Role: rule.Responder, Expected: "success: the message was acknowledged", Actual: t.event.Completion.Status.String(),
			Detail: fmt.Sprintf("receive request %d", t.event.Completion.ID), Evidence: []uint64{m.Begin.Frame},
		},
		at: *ack, event: t.event,
	})
	return true
}

// protectedUnrefused judges that a message is refused whose receive request has completed with LOC_PROT_ERR.
func (a *Agent) protectedUnrefused(q *queuePair, t *receiveCompletion) {
	if !a.passed(q.src, t.event.Time) {
		return
	}
	v := verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS010, Class: a.provenAt(q), Role: rule.Responder, Expected: "a NAK Remote Operational Error",
			Actual: "none", Detail: fmt.Sprintf("receive request %d completes with LOC_PROT_ERR", t.event.Completion.ID),
		},
		at: q.in.newest, event: t.event,
	}
	if n := q.in.fatal; n != nil {
		v.at, v.Actual = n.At, n.Syndrome.String()
	}
	v.unshown()
	a.accuse(q, v)
}

// deniedTaken judges that a receive request whose L_Key is none does not complete with success (rules CPL-STS-010 of RC, CPL-STS-017 of others). Its data goes where no
// region is. In a log with a clock of its own, a completion may name another request of a shared queue.
func (a *Agent) deniedTaken(q *queuePair, t *receiveCompletion) {
	c := t.event.Completion
	if !q.known || c.Op != DoneRecv || c.ByteLen == 0 || t.of == nil || t.of.queue.shared && !q.src.exact {
		return
	}
	id := rule.CPLSTS017
	if q.reliable() {
		id = rule.CPLSTS010
	}
	a.covered(id)
	list := t.of.event.Receive.Segments
	for len(list) > 0 && list[0].Length == 0 {
		list = list[1:]
	}
	if len(list) == 0 {
		return
	}
	pd := wqe.PD(0)
	if !t.of.queue.shared {
		pd = q.pd()
	}
	first := list[0] // a short message may need no more than the first
	first.Length = min(first.Length, c.ByteLen)
	if why := q.src.denied(&first, pd, t.of.event, t.of.n, true); why != "" {
		a.verb(q, id, t.event, "LOC_QP_OP_ERR or LOC_PROT_ERR: "+why, "success")
	}
}

// violated judges that the consumer of a responder learns of a remote access violation: by an event, or by the completion of the receive
// request that was taken.
func (a *Agent) violated(q *queuePair, n *NAK, m *Message, first *receiveCompletion) {
	if !q.src.exact || !q.complete(n.At.Time) {
		return // events of a host may be in no log, and a log may end before
	}
	a.covered(rule.CPLSTS011)
	if q.access || first != nil {
		return
	}
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: rule.CPLSTS011, Class: rule.Violation, Role: rule.Responder,
			Expected: "an event, or REM_ACCESS_ERR or LOC_ACCESS_ERR for a receive request", Actual: "neither",
			Detail: "after " + n.Syndrome.String(), Evidence: []uint64{m.Begin.Frame},
		},
		at: n.At,
	})
}

// writeConsumedReceive judges that a WRITE with immediate data that failed has taken no receive request.
func (a *Agent) writeConsumedReceive(q *queuePair, n *NAK, m *Message, first *receiveCompletion) {
	if wqe.OpOf(m.Op.Fn()) != wqe.Write {
		return
	}
	a.covered(rule.CPLRWQ001)
	if first == nil {
		return
	}
	switch c := first.event.Completion; c.Status {
	case RemAccessErr, RemInvReqErr, LocAccessErr, LocLenErr:
		class, why := a.brought(m)
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.CPLRWQ001, Class: class, Role: rule.Responder,
				Expected: fmt.Sprintf("receive request %d not used: the WRITE failed", c.ID), Actual: c.Status.String(),
				Detail: strings.TrimPrefix(why, "; "), Evidence: []uint64{m.Begin.Frame},
			},
			at: n.At, event: first.event,
		})
	}
}

// mustStay says why a key cannot be invalidated by a SEND; "" if it can, or if that is not known.
func (s *Source) mustStay(q *queuePair, key uint32, invalid map[uint32]bool) string {
	r := s.region(key)
	switch {
	case r == nil:
		if s.exact && s.tellsRegions() {
			return "it is not registered"
		}
	case invalid[key]:
		return "it was invalidated before"
	case r.uncertain:
	case r.one:
		return "it is that of a window of type 1"
	case foreign(r.pd, q.pd()):
		return "it belongs to another protection domain"
	case r.window && r.by != nil && r.by != q:
		return "it is that of a window of another queue pair"
	}
	return ""
}
