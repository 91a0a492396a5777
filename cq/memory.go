package cq

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// region is what an R_Key opens.
type region struct {
	va, length uint64
	access     wqe.Access
	window     bool
	one        bool // a window of type 1
	pd         wqe.PD
	by         *queuePair // that has bound a window of type 2
	vague      bool       // it is not known at which packet it begins or ceases to hold
}

func (a *Agent) regionEvent(s *Source, e *Event) {
	if e.Region == nil || e.Failed || e.Region.RKey == 0 {
		return
	}
	s.objects(e)
	k := e.Region.RKey
	switch e.Kind {
	case EvRegisterMR:
		r := &region{va: e.Region.VA, length: e.Region.Length, access: e.Region.Access, pd: e.Region.PD}
		r.vague = s.regions[k] != nil
		s.regions[k] = r
	case EvAllocateMW:
		s.regions[k] = &region{window: true, vague: true, one: e.Region.Window == 1, pd: e.Region.PD} // not bound yet
	default:
		if r := s.regions[k]; r != nil {
			r.vague = true
		}
	}
}

// bind takes over what a window is bound to.
func (s *Source) bind(q *queuePair, e *Event) {
	b := e.Send.Window
	w := s.mws[b.MW]
	if b.RKey == 0 || w != nil && b.MW != 0 && w.Window == 1 { // the device gives a window of type 1 its key
		return
	}
	r := &region{va: b.VA, length: b.Length, access: b.Access, window: true}
	if r.vague = s.regions[b.RKey] != nil; w != nil && b.MW != 0 {
		r.pd, r.by = w.PD, q
	}
	if b.Access&wqe.ZeroBased != 0 {
		r.va = 0
	}
	if r.access == 0 {
		r.access = wqe.RemoteRead | wqe.RemoteWrite | wqe.RemoteAtomic | wqe.RemoteFlush | wqe.RemotePersist // the log does not say
	}
	s.regions[b.RKey] = r
}

// needs is what a request wants of memory.
func (m *message) needs() (access wqe.Access, length uint64, ok bool) {
	switch wqe.OpOf(m.op.Fn()) {
	case wqe.Write:
		return wqe.RemoteWrite, uint64(m.dma), m.dma > 0
	case wqe.Read:
		return wqe.RemoteRead, uint64(m.dma), m.dma > 0
	case wqe.CmpSwap, wqe.FetchAdd:
		return wqe.RemoteAtomic, 8, true
	case wqe.AtomicWrite:
		return wqe.RemoteWrite, 8, true
	case wqe.Flush:
		if m.feth>>4&3 == 0 {
			length = uint64(m.dma)
		}
		return placement(m.feth), length, length > 0 || m.feth>>4&3 == 1
	}
	return 0, 0, false
}

// placement is what the placement types of a FLUSH need.
func placement(feth uint32) (access wqe.Access) {
	if feth&1 != 0 {
		access |= wqe.RemoteFlush
	}
	if feth&2 != 0 {
		access |= wqe.RemotePersist
	}
	return access
}

// refusal says why a responder must refuse an access; "" if it must not. sure is false where the log does not tell.
func (s *Source) refusal(m *message, invalid map[uint32]bool) (why string, sure bool) {
	access, length, _ := m.needs()
	r := s.regions[m.rkey]
	switch {
	case r == nil:
		return fmt.Sprintf("R_Key %#x is not registered", m.rkey), len(s.regions) > 0
	case invalid[m.rkey]:
		return fmt.Sprintf("R_Key %#x was invalidated", m.rkey), true
	case r.vague:
		return "", false
	case m.va < r.va || length > r.length || m.va-r.va > r.length-length:
		return fmt.Sprintf("%d bytes from %#x are not inside the region of R_Key %#x", length, m.va, m.rkey), true
	case r.access&access != access:
		return fmt.Sprintf("R_Key %#x does not permit it", m.rkey), true
	}
	return "", true
}

// executed holds what a responder did against its keys: each message when it is answered, in their order.
func (a *Agent) executed(q *queuePair) {
	if q.typ != qp.TypeRC || !q.known || !q.in.anchor {
		q.receiving.executed = q.in.msgs.end()
		return
	}
	for ; q.receiving.executed < q.in.msgs.end(); q.receiving.executed++ {
		if !a.execution(q, q.in.msgs.at(q.receiving.executed)) {
			return
		}
	}
}

// execution judges what became of a message. It returns false where that is not known yet.
func (a *Agent) execution(q *queuePair, m *message) bool {
	at, done := q.in.ackOf(m.last())
	refused := q.in.refused(m)
	access, _, needs := m.needs()
	if m.read != nil && m.read.touched.seen() && !done {
		at, done = m.read.touched, true
	}
	if (needs || m.inval) && !m.partial && !m.mixed && !m.other && !done && refused == nil && !a.ended {
		return false
	}
	q.receiving.missing = q.receiving.missing || m.partial || m.mixed || m.first != q.receiving.after // a message that the capture has missed may have invalidated a key
	q.receiving.after = m.last() + 1
	if m.partial || m.mixed || m.other {
		return true
	}
	if m.inval && done {
		a.covered(rule.CPLINV002)
		if why := q.src.mustStay(q, m.inv, q.receiving.invalid); why != "" && refused == nil && q.complete() && !q.receiving.missing {
			a.accuse(q, verdict{
				rule: rule.CPLINV002, class: rule.Violation, role: rule.Responder,
				expected: fmt.Sprintf("NAK Remote Access Error: R_Key %#x cannot be invalidated, %s", m.inv, why),
				actual:   "the responder executed the request", at: at, evidence: []uint64{m.begin.frame},
			})
		}
		if q.receiving.invalid == nil {
			q.receiving.invalid = map[uint32]bool{}
		}
		q.receiving.invalid[m.inv] = true
	}
	if !needs {
		return true
	}
	if wqe.OpOf(m.op.Fn()) != wqe.Flush && q.attr.Has(qp.KnowsAccess) {
		id := rule.QPSACT001
		if wqe.OpOf(m.op.Fn()) == wqe.AtomicWrite {
			id = rule.FLW009
		}
		a.covered(id)
		if q.permits&access == 0 && done && refused == nil {
			a.accuse(q, verdict{
				rule: id, class: rule.Violation, role: rule.Responder, expected: "NAK Invalid Request: the queue pair does not permit it",
				actual: "the responder executed the request", at: at, evidence: []uint64{m.begin.frame},
			})
		}
	}
	why, sure := q.src.refusal(m, q.receiving.invalid)
	if !sure || !q.complete() && q.src.regions[m.rkey] == nil { // it may be in the rest of the log
		return true
	}
	id := keyRule(m)
	a.covered(id)
	expected := packet.NAKRemoteAccess.String() + ": " + why
	if id == rule.FLW007 && m.va%8 != 0 {
		why = fmt.Sprintf("%#x is misaligned", m.va)
		expected = packet.NAKInvalidRequest.String() + ": " + why
	}
	if why != "" && done && refused == nil {
		a.accuse(q, verdict{
			rule: id, class: rule.Violation, role: rule.Responder, expected: expected,
			actual: "the responder executed the request", at: at, evidence: []uint64{m.begin.frame},
		})
	}
	if refused != nil && refused.syndrome == packet.NAKRemoteAccess && q.enabled(m) {
		a.covered(rule.RCRSP024)
		if why == "" && !q.receiving.missing {
			a.accuse(q, verdict{
				rule: rule.RCRSP024, class: rule.Violation, role: rule.Responder,
				expected: fmt.Sprintf("the request executed: R_Key %#x permits it", m.rkey), actual: "NAK Remote Access Error",
				at: refused.at, evidence: []uint64{m.begin.frame},
			})
		}
	}
	return true
}

// keyRule is the rule on the access that a message needs.
func keyRule(m *message) rule.ID {
	switch wqe.OpOf(m.op.Fn()) {
	case wqe.Flush:
		return rule.FLW003
	case wqe.AtomicWrite:
		return rule.FLW007
	}
	return rule.CPLMEM005
}

// enabled reports whether the queue pair itself takes the operation.
func (q *queuePair) enabled(m *message) bool {
	access, _, _ := m.needs()
	return !q.attr.Has(qp.KnowsAccess) || q.attr.Access&access != 0 || wqe.OpOf(m.op.Fn()) == wqe.Flush
}

// refused returns the NAK that ends the connection and names a packet of the message.
func (s *stream) refused(m *message) *nak {
	for i := range s.naks {
		if n := &s.naks[i]; n.syndrome.Fatal() && n.ord >= m.first && n.ord <= m.last() {
			return n
		}
	}
	return nil
}
