package cq

import (
	"fmt"
	"math"
	"sort"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// operations are what the operations of work requests are on the wire.
var operations = [256]wqe.Op{
	wqe.OpSend: wqe.Send, wqe.OpSendImm: wqe.Send, wqe.OpSendInv: wqe.Send, wqe.OpWrite: wqe.Write,
	wqe.OpWriteImm: wqe.Write, wqe.OpRead: wqe.Read, wqe.OpCmpSwap: wqe.CmpSwap, wqe.OpFetchAdd: wqe.FetchAdd,
	wqe.OpFlush: wqe.Flush, wqe.OpAtomicWrite: wqe.AtomicWrite,
}

// role of a queue pair that sends requests.
func (q *queuePair) sender() rule.Role {
	if q.reliable() {
		return rule.Requester
	}
	return rule.Sender
}

// complete reports whether the log tells of all that was posted to the queue pair.
func (q *queuePair) complete() bool { return q.known && !q.src.cut && (q.src.exact || q.gone) }

// sent holds the messages on the wire against the work requests.
func (a *Agent) sent(q *queuePair) {
	s, list := &q.sending, &q.out.msgs
	if n := list.end(); s.drained == n && s.compared == n && !q.out.opens && len(q.out.departed) == 0 {
		return // nothing has come
	}
	for ; s.drained < list.end(); s.drained++ {
		a.draining(q, list.at(s.drained))
	}
	if !q.known || !q.out.anchor || q.out.halted != "" || q.typ == qp.TypeSMI || q.typ == qp.TypeGSI {
		s.compared = list.end()
		return
	}
	for ; s.compared < list.end() && q.unmatched == nil; s.compared++ {
		if !a.request(q, list.at(s.compared)) {
			return
		}
	}
	if s.compared == list.end() && q.unmatched == nil {
		a.opening(q)
	}
	if len(q.out.departed) > 0 {
		q.out.compared(s.wire(q.out) - s.unsent)
	}
}

// opening compares the first packet of a message that goes on with its work request, so that what is wrong there is told at that packet.
func (a *Agent) opening(q *queuePair) {
	m := q.out.opened()
	if m == nil || q.typ == qp.TypeUD || q.stopped != nil {
		return
	}
	posted := q.sending.posted.all()
	k := sort.Search(len(posted), func(i int) bool { return posted[i].first >= m.First })
	if k == len(posted) || posted[k].first != m.First {
		return
	}
	w := posted[k]
	if wqe.OpOf(m.Op.Fn()) != operations[w.req().Op] {
		return // it may be the message of the request before once more
	}
	differs := false
	a.headers(q, m, w, func(rule.ID, expect.ID, string, string) { differs = true })
	if !differs {
		return
	}
	if k > 0 && wqe.OpOf(m.Op.Fn()) == operations[posted[k-1].req().Op] {
		repeated := true
		a.headers(q, m, posted[k-1], func(rule.ID, expect.ID, string, string) { repeated = false })
		if repeated {
			return
		}
	}
	w.opened = true
	a.headers(q, m, w, a.departs(q, m, w))
}

// mismatch reports that a message departs from its work request in a field of one of its packets.
type mismatch func(id rule.ID, field expect.ID, expected, actual string)

// departs returns what reports that a message departs from its work request.
func (a *Agent) departs(q *queuePair, m *Message, w *work) mismatch {
	return func(id rule.ID, field expect.ID, expected, actual string) {
		a.accuse(q, q.out.shows(m, field, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: rule.Violation, Role: q.sender(), Expected: expected, Actual: actual,
				Detail: fmt.Sprintf("work request %d", w.req().ID),
			},
			event: w.event,
		}))
	}
}

// comes reports whether the event that belongs to a packet may yet come, as the log has a clock of its own.
func (s *Source) comes() bool { return !s.exact && !s.ended }

// request compares a message with the work requests. It returns false where the request may yet come.
func (a *Agent) request(q *queuePair, m *Message) bool {
	if q.typ == qp.TypeUD {
		q.sending.longest = max(q.sending.longest, m.Length)
	}
	posted, unsent := q.sending.posted.all(), q.sending.unsent // datagrams that took no PSN
	if q.sending.posted.first() > 0 && len(posted) > 0 && m.Last()+unsent < posted[0].first {
		return true // of a request that is forgotten
	}
	k := q.sending.place(posted, m.First+unsent)
	for n := beyondMTU(posted[k:], m.Length, q.longestSent()); n > 0; n-- {
		unsent += int64(posted[k].packets)
		k++
	}
	if k == len(posted) && q.src.comes() && q.out.msgs.end()-q.sending.compared < mostWaiting {
		return false
	}
	q.sending.unsent = unsent
	a.covered(rule.RCSEQ006)
	if k == len(posted) {
		class, detail := rule.Violation, ""
		if !q.complete() {
			class, detail = rule.Unproven, "the log may end before the request was posted"
		}
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCSEQ006, Class: class, Role: q.sender(), Expected: "no packet: no further request was posted",
				Actual: m.Op.String(), Detail: detail,
			},
			at: m.Begin,
		})
		q.unmatched = &work{n: q.src.n + 1} // what is posted later has other PSNs
		return true
	}
	w := posted[k]
	if q.stopped != nil && m.First+unsent >= q.stopped.first { // what failed or was flushed there took no PSN
		q.unmatched = noWork
		return true
	}
	if m.First+unsent != w.first {
		if m.Partial {
			return true
		}
		a.accuse(q, q.out.shows(m, expect.Opcode, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCSEQ006, Class: rule.Violation, Role: q.sender(),
				Expected: fmt.Sprintf("the rest of request %d", w.req().ID), Actual: m.Op.String(),
			},
			event: w.event,
		}))
		q.unmatched = w
		return true
	}
	a.begun(q, m, w)
	if k > 0 && a.repeats(q, m, posted[k-1], w) || !a.compare(q, m, w) {
		q.unmatched = w
		return true
	}
	if w.foreign {
		a.foreignSent(q, w, m)
	}
	if w.req().Flags&wqe.Fence != 0 {
		a.fence(q, m, w)
	}
	return true
}

// noWork says that what is sent is not compared any more, and what follows in the queue is certain nonetheless.
var noWork = &work{n: math.MaxInt}

// begun takes over that a message of a request is on the wire.
func (a *Agent) begun(q *queuePair, m *Message, w *work) {
	a.leaves(q.src, m.Begin.Time-w.event.Time)
	for _, v := range q.sending.settling {
		if !v.later.Seen() && w.n > v.doneN && w.event.Time >= v.done.Time {
			v.later = m.Begin
		}
	}
}

// repeats judges that a message is not that of the request before once more.
func (a *Agent) repeats(q *queuePair, m *Message, before, w *work) bool {
	is := func(w *work) bool {
		return wqe.OpOf(m.Op.Fn()) == operations[w.req().Op] && m.Length == w.length && w.event.Summed && m.CRC == w.event.Sum
	}
	if m.Partial || m.Cut || m.Length == 0 || m.Response != nil || !w.event.Summed || !is(before) || is(w) {
		return false
	}
	a.accuse(q, q.out.shows(m, expect.Payload, verdict{
		Verdict: rule.Verdict{
			Rule: rule.RCSEQ006, Class: rule.Violation, Role: q.sender(),
			Expected: fmt.Sprintf("the message of request %d", w.req().ID),
			Actual:   fmt.Sprintf("the message of request %d again", before.req().ID),
		},
		event: w.event,
	}))
	return true
}

// leastMTU is the smallest MTU of a port.
const leastMTU = 256

// longestSent is a length up to which datagrams of a queue pair surely fit its port; of other queue pairs all do.
func (q *queuePair) longestSent() uint32 {
	if q.typ != qp.TypeUD {
		return math.MaxUint32
	}
	return max(leastMTU, q.sending.longest)
}

// beyondMTU counts the datagrams before one of length bytes which may have been too long for the port, and were not sent then (rule UD-LEN-002).
func beyondMTU(posted []*work, length, fits uint32) int {
	for i, w := range posted {
		switch {
		case w.length == length:
			return i
		case w.length <= fits:
			return 0
		}
	}
	return 0
}

// fenced is a message with the fence indicator that left before a READ or atomic was known to be answered.
type fenced struct {
	begin PacketRef
	w, v  *work // its request, and the newest READ or atomic before that
}

// fence judges that all earlier READs and atomics were answered when a request left.
func (a *Agent) fence(q *queuePair, m *Message, w *work) {
	if !q.reliable() || a.Lossy || m.First < q.out.joined {
		return
	}
	a.covered(rule.RCFEN001)
	for i := q.sends.end() - 1; i >= q.sends.first(); i-- {
		if v := q.sends.at(i); v.n < w.n && v.response() {
			q.sending.fences = append(q.sending.fences, fenced{m.Begin, w, v})
			return // the newest is enough: answers come in order
		}
	}
}

// answeredFences judges the requests with the fence indicator that wait for the answer to an earlier one.
func (a *Agent) answeredFences(q *queuePair) {
	for len(q.sending.fences) > 0 {
		f := &q.sending.fences[0]
		at := q.answered(f.v)
		if at == nil {
			return
		}
		margin := int64(slackRecord)
		if q.src.exact {
			margin = 0
		}
		if f.begin.Pos < at.Pos && f.begin.Time+margin < at.Time {
			a.accuse(q, verdict{
				Verdict: rule.Verdict{
					Rule: rule.RCFEN001, Class: rule.Violation, Role: rule.Requester,
					Expected: fmt.Sprintf("request %d after the response to request %d: it has the fence indicator", f.w.req().ID, f.v.req().ID),
					Actual:   "it was sent before the response", Evidence: []uint64{at.Frame},
				},
				at: f.begin, event: f.w.event,
			})
		}
		q.sending.fences = q.sending.fences[1:]
	}
}

// compare compares a message with its work request. It returns false where what follows cannot be judged.
func (a *Agent) compare(q *queuePair, m *Message, w *work) bool {
	r := w.req()
	mismatch := a.departs(q, m, w)
	op := wqe.OpOf(m.Op.Fn())
	if op != operations[r.Op] {
		mismatch(rule.RCSEQ006, expect.Opcode, operations[r.Op].String(), m.Op.String())
		return false
	}
	if a.covered(rule.RCLEN010); !w.opened {
		a.headers(q, m, w, mismatch)
	}
	if !m.Partial {
		a.lastHeaders(m, w, mismatch)
	}
	if m.Partial || op == wqe.Flush {
		return true
	}
	if op.Atomic() {
		return true
	}
	a.covered(rule.CPLLEN004)
	if op != wqe.AtomicWrite && (m.Length != w.length || m.Packets != w.packets) { // rule FLW-005
		field := expect.Payload
		if op == wqe.Read {
			field = expect.DMALen
		}
		mismatch(rule.CPLLEN004, field, fmt.Sprintf("%d bytes in %d packets", w.length, w.packets), fmt.Sprintf("%d bytes in %d packets", m.Length, m.Packets))
		return m.Packets == w.packets
	}
	if w.event.Summed && op != wqe.Read && !m.Cut {
		id := rule.CPLMEM003
		if op != wqe.Send {
			id = rule.RCLEN009
		}
		a.covered(id)
		if m.CRC != w.event.Sum {
			mismatch(id, expect.Payload, fmt.Sprintf("data with CRC-32 %#08x", w.event.Sum), fmt.Sprintf("%#08x", m.CRC))
		}
	}
	return true
}

// headers compares the fields of the first packet of a message with its work request.
func (a *Agent) headers(q *queuePair, m *Message, w *work, mismatch mismatch) {
	r := w.req()
	want := func(field expect.ID, name string, expected, actual uint64) {
		if expected != actual {
			mismatch(rule.RCLEN010, field, fmt.Sprintf("%s %#x", name, expected), fmt.Sprintf("%#x", actual))
		}
	}
	switch wqe.OpOf(m.Op.Fn()) {
	case wqe.Write, wqe.Read:
		want(expect.DMALen, "DMALen", uint64(w.length), uint64(m.DMALen))
		if w.length > 0 { // else address and key are not used
			want(expect.VA, "virtual address", r.RemoteVA, m.VA)
			want(expect.RKey, "R_Key", uint64(r.RKey), uint64(m.RKey))
		}
	case wqe.CmpSwap, wqe.FetchAdd:
		want(expect.VA, "virtual address", r.RemoteVA, m.VA)
		want(expect.RKey, "R_Key", uint64(r.RKey), uint64(m.RKey))
		if r.Op == wqe.OpFetchAdd {
			want(expect.SwapAdd, "add operand", r.SwapAdd, m.Swap)
			break
		}
		a.covered(rule.RCATM003)
		if r.Compare != r.SwapAdd && m.Compare == r.SwapAdd && m.Swap == r.Compare {
			mismatch(rule.RCATM003, expect.SwapAdd, fmt.Sprintf("swap operand %#x, then compare operand %#x", r.SwapAdd, r.Compare), "the two exchanged")
			break
		}
		want(expect.Compare, "compare operand", r.Compare, m.Compare)
		want(expect.SwapAdd, "swap operand", r.SwapAdd, m.Swap)
	case wqe.AtomicWrite:
		want(expect.VA, "virtual address", r.RemoteVA, m.VA)
		want(expect.RKey, "R_Key", uint64(r.RKey), uint64(m.RKey))
	case wqe.Flush:
		want(expect.RKey, "R_Key", uint64(r.RKey), uint64(m.RKey))
		if !r.Flush.Whole {
			want(expect.VA, "virtual address", r.RemoteVA, m.VA)
			want(expect.DMALen, "DMALen", uint64(r.Flush.Length), uint64(m.DMALen))
		}
		if r.Flush.Placement != 0 { // else the log does not tell
			want(expect.Placement, "placement type", uint64(r.Flush.Placement), uint64(m.FETH&0xF))
			want(expect.Selectivity, "selectivity", uint64(bit(r.Flush.Whole)), uint64(m.FETH>>4&3))
		}
	}
	if r.XRCSRQ != 0 && q.typ == qp.TypeXRCInitiator {
		want(expect.XRCSRQ, "shared receive queue", uint64(r.XRCSRQ), uint64(m.SRQ))
	}
	if q.service() == packet.UD {
		a.addressed(q, m, w, mismatch)
		switch {
		case r.QKey>>31 == 0:
			if r.QKey != 0 {
				want(expect.QKey, "Q_Key", uint64(r.QKey), uint64(m.QKey))
			}
		case q.attr.Has(qp.KnowsQKey):
			a.covered(rule.UDQKEY002)
			if m.QKey != q.attr.QKey {
				mismatch(rule.UDQKEY002, expect.QKey, fmt.Sprintf("Q_Key %#x, that of the queue pair", q.attr.QKey), fmt.Sprintf("%#x", m.QKey))
			}
		}
	}
}

// lastHeaders compares the fields of the last packet of a message with its work request, and the solicited event of all.
func (a *Agent) lastHeaders(m *Message, w *work, mismatch mismatch) {
	r := w.req()
	want := func(field expect.ID, name string, expected, actual uint64) {
		if expected != actual {
			mismatch(rule.RCLEN010, field, fmt.Sprintf("%s %#x", name, expected), fmt.Sprintf("%#x", actual))
		}
	}
	withImm, withInv := r.Op == wqe.OpSendImm || r.Op == wqe.OpWriteImm, r.Op == wqe.OpSendInv
	switch {
	case m.HasImm != withImm || m.HasInv != withInv:
		mismatch(rule.RCLEN010, expect.Opcode, extras(withImm, withInv), extras(m.HasImm, m.HasInv))
	case withImm:
		want(expect.Imm, "immediate data", uint64(r.Imm), uint64(m.Imm))
	case withInv:
		want(expect.InvRKey, "R_Key to invalidate", uint64(r.InvKey), uint64(m.InvRKey))
	}
	if wqe.OpOf(m.Op.Fn()) == wqe.Send || withImm {
		a.covered(rule.BTH012)
		if asked := r.Flags&wqe.Solicited != 0; asked != m.SE {
			mismatch(rule.BTH012, expect.SE, fmt.Sprintf("SE %d, as the work request asks", bit(asked)), fmt.Sprintf("SE %d", bit(m.SE)))
		}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func extras(imm, inv bool) string {
	switch {
	case imm:
		return "with immediate data"
	case inv:
		return "with invalidate"
	}
	return "neither immediate data nor invalidate"
}
