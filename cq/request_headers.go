package cq

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// mismatch reports that a message departs from its work request in a field of one of its packets.
type mismatch func(id rule.ID, field expect.ID, expected, actual string)

// departs returns what reports that a message departs from its work request.
func (a *Agent) departs(q *queuePair, m *Message, w *sendRequest) mismatch {
	return func(id rule.ID, field expect.ID, expected, actual string) {
		a.departing(q, m, w)
		a.accuse(q, q.out.shows(m, field, verdict{
			Verdict: rule.Verdict{
				Rule: id, Class: rule.Violation, Role: q.sender(), Expected: expected, Actual: actual,
				Detail: fmt.Sprintf("work request %d", w.req().ID),
			},
			event: w.event,
		}))
	}
}

// departing takes over that a message departs from its work request.
func (a *Agent) departing(q *queuePair, m *Message, w *sendRequest) {
	q.sending.departed = w
	a.another(q, m)
	op := w.req().Op
	if !m.unlike && m.consumes() != (op <= wqe.OpSendInv || op == wqe.OpWriteImm) {
		m.unlike = true
		if r := q.out.responder; r != nil {
			r.unsure(m)
		}
	}
}

// another takes over that a message is another than its work request asks for, or may be.
func (a *Agent) another(q *queuePair, m *Message) {
	m.departs = true
	if q.service() == packet.UD { // its receiver has a message of its own
		a.departed[a.nextDeparted%len(a.departed)] = m.Begin.Pos
		a.nextDeparted++
	}
}

// compare compares a message with its work request. It returns false where what follows cannot be judged.
func (a *Agent) compare(q *queuePair, m *Message, w *sendRequest) bool {
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
	if !m.Partial && (m.Packets == w.packets || q.out.pmtu == 0) { // else its last packet is another than that of the request
		a.lastHeaders(m, w, mismatch)
	}
	if m.Partial || op == wqe.Flush || op.Atomic() {
		return true
	}
	return a.payload(m, w, mismatch)
}

// payload compares the payload of a message, or the length that a READ asks for, with its work request. It returns false where what follows cannot be judged.
func (a *Agent) payload(m *Message, w *sendRequest, mismatch mismatch) bool {
	op := wqe.OpOf(m.Op.Fn())
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

// unless reports a field of a header that has another value than the work request lets expect.
func (report mismatch) unless(field expect.ID, name string, expected, actual uint64) {
	if expected != actual {
		report(rule.RCLEN010, field, fmt.Sprintf("%s %#x", name, expected), fmt.Sprintf("%#x", actual))
	}
}

// headers compares the fields of the first packet of a message with its work request.
func (a *Agent) headers(q *queuePair, m *Message, w *sendRequest, mismatch mismatch) {
	a.memoryHeaders(m, w, mismatch)
	if r := w.req(); r.XRCSRQ != 0 && q.typ == qp.TypeXRCInitiator {
		mismatch.unless(expect.XRCSRQ, "shared receive queue", uint64(r.XRCSRQ), uint64(m.SRQ))
	}
	if q.service() == packet.UD {
		a.datagramHeaders(q, m, w, mismatch)
	}
}

// memoryHeaders compares what RETH, AtomicETH and FETH say of the memory of the responder.
func (a *Agent) memoryHeaders(m *Message, w *sendRequest, mismatch mismatch) {
	r := w.req()
	address := func() { mismatch.unless(expect.VA, "virtual address", r.RemoteVA, m.VA) }
	key := func() { mismatch.unless(expect.RKey, "R_Key", uint64(r.RKey), uint64(m.RKey)) }
	switch wqe.OpOf(m.Op.Fn()) {
	case wqe.Write, wqe.Read:
		mismatch.unless(expect.DMALen, "DMALen", uint64(w.length), uint64(m.DMALen))
		if w.length > 0 { // else address and key are not used
			address()
			key()
		}
	case wqe.CmpSwap, wqe.FetchAdd:
		address()
		key()
		a.operands(m, w, mismatch)
	case wqe.AtomicWrite:
		address()
		key()
	case wqe.Flush:
		key()
		if !r.Flush.Whole {
			address()
			mismatch.unless(expect.DMALen, "DMALen", uint64(r.Flush.Length), uint64(m.DMALen))
		}
		if r.Flush.Placement != 0 { // else the log does not tell
			mismatch.unless(expect.Placement, "placement type", uint64(r.Flush.Placement), uint64(m.FETH&0xF))
			mismatch.unless(expect.Selectivity, "selectivity", uint64(bit(r.Flush.Whole)), uint64(m.FETH>>4&3))
		}
	}
}

// operands compares those of an atomic.
func (a *Agent) operands(m *Message, w *sendRequest, mismatch mismatch) {
	r := w.req()
	if r.Op == wqe.OpFetchAdd {
		mismatch.unless(expect.SwapAdd, "add operand", r.SwapAdd, m.Swap)
		return
	}
	a.covered(rule.RCATM003)
	if r.Compare != r.SwapAdd && m.Compare == r.SwapAdd && m.Swap == r.Compare {
		mismatch(rule.RCATM003, expect.SwapAdd, fmt.Sprintf("swap operand %#x, then compare operand %#x", r.SwapAdd, r.Compare), "the two exchanged")
		return
	}
	mismatch.unless(expect.Compare, "compare operand", r.Compare, m.Compare)
	mismatch.unless(expect.SwapAdd, "swap operand", r.SwapAdd, m.Swap)
}

// datagramHeaders compares where a datagram goes, and its Q_Key.
func (a *Agent) datagramHeaders(q *queuePair, m *Message, w *sendRequest, mismatch mismatch) {
	r := w.req()
	a.addressed(q, m, w, mismatch)
	if m.Net != nil && r.Dest.QPN != 0 {
		mismatch.unless(expect.DestQP, "destination QP", uint64(r.Dest.QPN), uint64(m.Net.DestQP))
	}
	switch {
	case r.QKey>>31 == 0:
		if r.QKey != 0 {
			mismatch.unless(expect.QKey, "Q_Key", uint64(r.QKey), uint64(m.QKey))
		}
	case q.attr.Has(qp.KnowsQKey):
		a.covered(rule.UDQKEY002)
		if m.QKey != q.attr.QKey {
			mismatch(rule.UDQKEY002, expect.QKey, fmt.Sprintf("Q_Key %#x, that of the queue pair", q.attr.QKey), fmt.Sprintf("%#x", m.QKey))
		}
	}
}

// lastHeaders compares the fields of the last packet of a message with its work request, and the solicited event of all.
func (a *Agent) lastHeaders(m *Message, w *sendRequest, mismatch mismatch) {
	r := w.req()
	withImm, withInv := r.Op == wqe.OpSendImm || r.Op == wqe.OpWriteImm, r.Op == wqe.OpSendInv
	switch {
	case m.HasImm != withImm || m.HasInv != withInv:
		mismatch(rule.RCLEN010, expect.Opcode, extras(withImm, withInv), extras(m.HasImm, m.HasInv))
	case withImm:
		mismatch.unless(expect.Imm, "immediate data", uint64(r.Imm), uint64(m.Imm))
	case withInv:
		mismatch.unless(expect.InvRKey, "R_Key to invalidate", uint64(r.InvKey), uint64(m.InvRKey))
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
