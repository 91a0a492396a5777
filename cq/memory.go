package cq

import (
	"fmt"
	"strings"

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
	mr         wqe.MR // by which, or by its L_Key, a log may name it when it is deregistered
	lkey       uint32
	by         *queuePair // that has bound a window of type 2
	uncertain  bool       // it is not known at which packet it begins or ceases to hold
	closed     *Event     // that deregistered it, or deallocated the window; nil: none
	told       bool       // it was used after that, as was reported
}

// openedRegion is what an R_Key opens.
type openedRegion struct {
	key   uint32
	known bool
	*region
}

// region returns what an R_Key opens, nil: nothing.
func (s *Source) region(key uint32) *region {
	x := &s.opened[key%uint32(len(s.opened))]
	if !x.known || x.key != key {
		*x = openedRegion{key, true, s.regions[key]}
	}
	return x.region
}

// open has an R_Key open a region or window.
func (s *Source) open(key uint32, r *region) {
	s.keys++
	s.regions[key] = r
	clear(s.opened[:])
}

func (a *Agent) regionEvent(s *Source, e *Event) {
	if e.Region == nil || e.Failed {
		return
	}
	s.keys++
	switch e.Kind {
	case EvRegisterMR:
		s.registered(e)
	case EvDeregisterMR:
		s.deregistered(e)
		s.closed(e)
	}
	if e.Region.RKey == 0 {
		return
	}
	s.objects(e)
	k := e.Region.RKey
	switch e.Kind {
	case EvRegisterMR:
		r := &region{va: e.Region.VA, length: e.Region.Length, access: e.Region.Access, pd: e.Region.PD, mr: e.Region.MR, lkey: e.Region.LKey}
		r.uncertain = s.region(k) != nil
		s.open(k, r)
	case EvAllocateMW:
		s.open(k, &region{window: true, uncertain: true, one: e.Region.Window == 1, pd: e.Region.PD}) // not bound yet
	default:
		if r := s.region(k); r != nil {
			r.close(e)
		}
	}
}

// closed takes over that a region is no more, which a log may name without its R_Key.
func (s *Source) closed(e *Event) {
	gone := e.Region
	if gone.RKey != 0 {
		return
	}
	delete(s.mrs, gone.MR)
	for _, r := range s.regions {
		if gone.MR != 0 && r.mr == gone.MR || gone.MR == 0 && gone.LKey != 0 && r.lkey == gone.LKey {
			r.close(e)
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
	if r.uncertain = s.region(b.RKey) != nil; w != nil && b.MW != 0 {
		r.pd, r.by = w.PD, q
	}
	if b.Access&wqe.ZeroBased != 0 {
		r.va = 0
	}
	if r.access == 0 {
		r.access = wqe.RemoteRead | wqe.RemoteWrite | wqe.RemoteAtomic | wqe.RemoteFlush | wqe.RemotePersist // the log does not say
	}
	s.open(b.RKey, r)
}

// notBound takes over that a window was not bound: what the R_Key that it was to have permits is open.
func (s *Source) notBound(b *wqe.Bind) {
	if r := s.region(b.RKey); r != nil {
		s.keys++
		r.uncertain = true
	}
}

// needs is what a request wants of memory.
func (m *Message) needs() (access wqe.Access, length uint64, ok bool) {
	switch wqe.OpOf(m.Op.Fn()) {
	case wqe.Write:
		return wqe.RemoteWrite, uint64(m.DMALen), m.DMALen > 0
	case wqe.Read:
		return wqe.RemoteRead, uint64(m.DMALen), m.DMALen > 0
	case wqe.CmpSwap, wqe.FetchAdd:
		return wqe.RemoteAtomic, 8, true
	case wqe.AtomicWrite:
		return wqe.RemoteWrite, 8, true
	case wqe.Flush:
		if m.FETH>>4&3 == 0 {
			length = uint64(m.DMALen)
		}
		return placement(m.FETH), length, length > 0 || m.FETH>>4&3 == 1
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

// tellsRegions reports whether a log tells of all regions: one that tells of any does.
func (s *Source) tellsRegions() bool {
	return len(s.regions)+len(s.lkeys) > 0 && !s.lost && !s.joined && !s.untoldRKeys
}

// refusal says why a responder must refuse an access; "" if it must not. sure is false where the log does not tell.
func (s *Source) refusal(m *Message, invalid map[uint32]bool) (why string, sure bool) {
	access, length, _ := m.needs()
	r := s.region(m.RKey)
	switch {
	case r == nil:
		return fmt.Sprintf("R_Key %#x is not registered", m.RKey), s.tellsRegions()
	case invalid[m.RKey]:
		return fmt.Sprintf("R_Key %#x was invalidated", m.RKey), true
	case s.exact && s.noMore(m) != "":
		return s.noMore(m), true
	case r.uncertain:
		return "", false
	case !inside(m.VA, length, r.va, r.length):
		return fmt.Sprintf("%d bytes from %#x are not inside the region of R_Key %#x", length, m.VA, m.RKey), true
	case r.access&access != access:
		return fmt.Sprintf("R_Key %#x does not permit it", m.RKey), true
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
func (a *Agent) execution(q *queuePair, m *Message) bool {
	x := executionOf(q, m)
	_, _, needs := m.needs()
	unclear := m.Partial || m.Mixed || m.Other
	if (needs || m.HasInv || q.otherSize(m)) && !unclear && !x.known() && !a.ended || needs && !unclear && q.awaitsRegion(m) {
		return false
	}
	r := &q.receiving
	r.missing = r.missing || m.Partial || m.Mixed || m.First != r.after // a message that the capture has missed may have invalidated a key
	r.after = m.Last() + 1
	if unclear {
		return true
	}
	a.answeredAs(q, x, needs)
	return true
}

// answeredAs judges what became of a message that is known whole. needs says that it wants memory.
func (a *Agent) answeredAs(q *queuePair, x execution, needs bool) {
	a.sized(q, x)
	if x.HasInv && x.done {
		a.invalidated(q, x)
	}
	if needs {
		a.permitted(q, x)
		a.keyed(q, x)
		q.undecided(x)
	}
}

// awaitsRegion reports whether a log with the clock of the packets may yet tell of the region that a message names.
func (q *queuePair) awaitsRegion(m *Message) bool {
	return q.src.exact && q.src.regions[m.RKey] == nil && q.src.comes(m.Begin.Time) && q.in.msgs.end()-q.receiving.executed < mostWaiting
}

// execution is what became of a message at its responder.
type execution struct {
	*Message
	done    bool      // it was executed, as the response at says
	at      PacketRef // response
	refused *NAK
}

// known reports whether it is known what became of the message.
func (x *execution) known() bool { return x.done || x.refused != nil }

func executionOf(q *queuePair, m *Message) execution {
	x := execution{Message: m, refused: q.in.refused(m)}
	if at := q.in.ackOf(m.Last()); at != nil {
		x.at, x.done = *at, true
	}
	if m.Response != nil && m.Response.Begin.Seen() && !x.done {
		x.at, x.done = m.Response.Begin, true
	}
	return x
}

// executedDespite reports a message that was executed, and should have been refused. e is the event for which it should; nil: none.
func (a *Agent) executedDespite(q *queuePair, x execution, e *Event, id rule.ID, s packet.Syndrome, why string) {
	class, doubt := a.brought(x.Message)
	a.accuse(q, verdict{
		Verdict: rule.Verdict{
			Rule: id, Class: class, Role: rule.Responder, Expected: s.String() + why, Actual: "the responder executed the request",
			Detail: strings.TrimPrefix(doubt, "; "), Evidence: []uint64{x.Message.Begin.Frame},
		},
		at: x.at, event: e, expects: refusal(s),
	})
}

// invalidated judges that the key which an executed message invalidates is one that it may.
func (a *Agent) invalidated(q *queuePair, x execution) {
	r := &q.receiving
	a.covered(rule.CPLINV002)
	if why := q.src.mustStay(q, x.InvRKey, r.invalid); why != "" && x.refused == nil && q.complete(x.at.Time) && !r.missing {
		a.executedDespite(q, x, nil, rule.CPLINV002, packet.NAKRemoteAccess, fmt.Sprintf(": R_Key %#x cannot be invalidated, %s", x.InvRKey, why))
	}
	if r.invalid == nil {
		r.invalid = map[uint32]bool{}
	}
	r.invalid[x.InvRKey] = true
}

// permitted judges that the queue pair permits the operation of an executed message.
func (a *Agent) permitted(q *queuePair, x execution) {
	op := wqe.OpOf(x.Op.Fn())
	if op == wqe.Flush || len(q.grants) == 0 {
		return
	}
	id := rule.QPSACT001
	if op == wqe.AtomicWrite {
		id = rule.FLW009
	}
	a.covered(id)
	access, _, _ := x.needs()
	switch {
	case !x.done || x.refused != nil:
	case q.permits&access == 0:
		a.executedDespite(q, x, nil, id, packet.NAKInvalidRequest, ": the queue pair does not permit it")
	case q.withdrawn(x) && q.complete(x.Begin.Time) && q.permitsFrom(x.Begin.Time)&access == 0:
		q.receiving.denied = true
		a.executedDespite(q, x, q.grants[len(q.grants)-1].from, id, packet.NAKInvalidRequest, ": the queue pair does not permit it any more")
	}
}

// keyed judges that the R_Key of a message permits what was executed, and does not permit what was refused.
func (a *Agent) keyed(q *queuePair, x execution) {
	m := x.Message
	why, sure := q.src.refusal(m, q.receiving.invalid)
	if !sure || !q.complete(m.Begin.Time) && q.src.regions[m.RKey] == nil { // it may be in the rest of the log
		return
	}
	id := keyRule(m)
	a.covered(id)
	refused := packet.NAKRemoteAccess
	if id == rule.FLW007 && m.VA%8 != 0 {
		why = fmt.Sprintf("%#x is misaligned", m.VA)
		refused = packet.NAKInvalidRequest
	}
	if why != "" && x.done && x.refused == nil && q.src.tellsClosed(m.RKey) {
		a.executedDespite(q, x, q.src.closing(m.RKey), id, refused, ": "+why)
	}
	if x.refused == nil || x.refused.Syndrome != packet.NAKRemoteAccess || !q.enabled(m) {
		return
	}
	a.covered(rule.RCRSP024)
	if why == "" && !q.receiving.missing {
		a.accuse(q, verdict{
			Verdict: rule.Verdict{
				Rule: rule.RCRSP024, Class: rule.Violation, Role: rule.Responder,
				Expected: fmt.Sprintf("the request executed: R_Key %#x permits it", m.RKey), Actual: "NAK Remote Access Error",
				Evidence: []uint64{m.Begin.Frame},
			},
			at: x.refused.At, expects: syndrome("an ACK: the R_Key permits the request"),
		})
	}
}

// keyRule is the rule on the access that a message needs.
func keyRule(m *Message) rule.ID {
	switch wqe.OpOf(m.Op.Fn()) {
	case wqe.Flush:
		return rule.FLW003
	case wqe.AtomicWrite:
		return rule.FLW007
	}
	return rule.CPLMEM005
}

// enabled reports whether the queue pair itself takes the operation.
func (q *queuePair) enabled(m *Message) bool {
	access, _, _ := m.needs()
	return !q.attr.Has(qp.KnowsAccess) || q.attr.Access&access != 0 || wqe.OpOf(m.Op.Fn()) == wqe.Flush
}

// refused returns the NAK that ends the connection and names a packet of the message.
func (s *Requests) refused(m *Message) *NAK {
	for i := range s.naks {
		if n := &s.naks[i]; n.Syndrome.Fatal() && n.Ord >= m.First && n.Ord <= m.Last() {
			return n
		}
	}
	return nil
}
