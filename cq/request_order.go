package cq

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// mostPassed is how many requests a message may be sent before that are told to be posted before its own.
const mostPassed = 64

// shown are the fields that tell which request a message is of, in the order in which a finding is about them.
var shown = [...]expect.ID{expect.Opcode, expect.VA, expect.RKey, expect.DMALen, expect.Imm, expect.Payload}

// overtakes judges that a message whose place is that of request k is of that, and not of a later one (rule RC-SEQ-006). From there on the two are taken in the order in which they
// were sent: the device has changed it, or the log tells of the posting too late.
func (a *Agent) overtakes(q *queuePair, m *Message, k int) bool {
	n := q.overtaking(m, k)
	if n < 0 {
		return false
	}
	posted := q.sending.posted.all()
	w, v := posted[k], posted[n]
	told := v.told()
	if !told && !w.passed { // else the first message sent before w has told of it
		w.passed = true
		a.tellPassed(q, m, w, v)
	}
	first := w.first
	copy(posted[k+1:n+1], posted[k:n])
	posted[k], v.moved = v, true
	for _, x := range posted[k : n+1] {
		x.first = first
		first += int64(x.packets)
	}
	a.generation++
	return true
}

// overtaking is the request after k that a message in its place is of, as what the message carries tells; -1: none.
func (q *queuePair) overtaking(m *Message, k int) int {
	posted := q.sending.posted.all()
	w := posted[k]
	if w.fits(m) {
		return -1
	}
	n := k + 1
	for n < len(posted) && n-k <= mostPassed && !(posted[n].distinct(m) && posted[n].fits(m)) {
		n++
	}
	if n == len(posted) || n-k > mostPassed {
		return -1
	}
	v := posted[n]
	if !v.told() && (q.src.clock.after(v.event.Time, m.Begin.Time) || !v.carried(m) && w.resembles(m)) {
		return -1 // it was not posted then, or it is rather that of request k with a wrong field
	}
	return n
}

// told reports whether its completion has told that a request was carried out before those that were posted before it.
func (w *sendRequest) told() bool { return w.over != nil || w.renames != nil }

// carried reports whether a message that fits a request has its data too.
func (w *sendRequest) carried(m *Message) bool {
	return w.event.Summed && !m.Partial && !m.Cut && m.Response == nil && m.Length > 0
}

// resembles reports whether a message asks for the address that a request names, and for another length or by another key.
func (w *sendRequest) resembles(m *Message) bool {
	r := w.req()
	return operations[r.Op] == wqe.OpOf(m.Op.Fn()) && m.VA == r.RemoteVA && r.RemoteVA != 0 && w.carries(m)
}

// tellPassed reports that a message is that of request v, and in the place of request w.
func (a *Agent) tellPassed(q *queuePair, m *Message, w, v *sendRequest) {
	a.accuse(q, q.passes(m, w, v))
}

// passes is the verdict that says so.
func (q *queuePair) passes(m *Message, w, v *sendRequest) verdict {
	field := expect.Opcode
	for _, f := range shown {
		if q.out.departure(m, f) != nil {
			field = f
			break
		}
	}
	return q.out.shows(m, field, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: rule.Violation, Role: q.sender(), Expected: fmt.Sprintf("the message of request %d", w.req().ID),
			Actual: fmt.Sprintf("that of request %d, which was posted after it", v.req().ID),
		},
		event: v.event,
	})
}

// fits reports whether a message, or what there is of it, is that of a request as far as its fields tell.
func (w *sendRequest) fits(m *Message) bool {
	switch {
	case !w.asks(m):
		return false
	case m.Partial:
		return true
	case !w.carries(m):
		return false
	case m.Response != nil:
		return true
	}
	return m.Length == w.length && (!w.event.Summed || m.Cut || m.CRC == w.event.Sum)
}

// unlike reports whether a message has neither the length of a request nor its operation, destination, addresses, immediate data or R_Key: it is rather none that it asks for.
func (w *sendRequest) unlike(m *Message) bool {
	return !m.Partial && m.Length != w.length && !(w.asks(m) && w.carries(m))
}

// asks reports whether a message has the operation that a request asks for, its addresses and its destination.
func (w *sendRequest) asks(m *Message) bool {
	op, dest := wqe.OpOf(m.Op.Fn()), w.req().Dest.QPN
	return operations[w.req().Op] == op && w.addresses(m, op) && (m.Net == nil || dest == 0 || dest == m.Net.DestQP)
}

// addresses reports whether a message asks for the memory, and an atomic for the operands, that a request names (RETH and AtomicETH).
func (w *sendRequest) addresses(m *Message, op wqe.Op) bool {
	r := w.req()
	there := m.VA == r.RemoteVA && m.RKey == r.RKey
	switch op {
	case wqe.Write, wqe.Read:
		return m.DMALen == w.length && (w.length == 0 || there)
	case wqe.CmpSwap:
		return there && m.Swap == r.SwapAdd && m.Compare == r.Compare
	case wqe.FetchAdd:
		return there && m.Swap == r.SwapAdd
	case wqe.AtomicWrite:
		return there
	}
	return true
}

// carries reports whether a message has the immediate data, or the R_Key to invalidate, that a request gives it (ImmDt and IETH).
func (w *sendRequest) carries(m *Message) bool {
	r := w.req()
	imm, inv := r.Op == wqe.OpSendImm || r.Op == wqe.OpWriteImm, r.Op == wqe.OpSendInv
	return m.HasImm == imm && (!imm || m.Imm == r.Imm) && m.HasInv == inv && (!inv || m.InvRKey == r.InvKey)
}

// distinct reports whether a message that fits a request is of that for certain, and not just like it.
func (w *sendRequest) distinct(m *Message) bool {
	switch wqe.OpOf(m.Op.Fn()) {
	case wqe.Send:
		return !m.Partial && w.event.Summed && !m.Cut && m.Length > 0
	case wqe.Flush:
		return false
	}
	return w.req().RemoteVA != 0
}
