package cm

import (
	"fmt"
	"time"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// flight is for how long a packet may be in flight in a channel adapter that is told to stop.
const flight = int64(50 * time.Microsecond)

// dreq steps an exchange with a DREQ. Both sides may send one, and at once.
func (v *Verifier) dreq(m *message, d *mad.DREQ) {
	v.nonzero(m, d.LocalCommID)
	v.reserved(m, uint32(d.Reserved))
	x, side, agrees := v.namedExchange(m, d.LocalCommID, d.RemoteCommID, d.TID)
	v.address(m, x)
	if x == nil {
		v.dreqMidway(m, d)
		return
	}
	if !agrees || v.afterEnd(m, x, side, "DREQ") {
		return
	}
	if side == active && x.ids[passive] == 0 {
		x.ids[passive] = d.RemoteCommID // the REP was missed
	}
	v.covered(rule.CMREQ001)
	wrong := x.service <= mad.TransportUC && x.qpn[1-side] > 1 && !x.hasQPN(1-side, d.RemoteQPN)
	if wrong {
		v.accuse(m, rule.CMREQ001, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("QP 0x%06x of the other side", x.qpn[1-side]), Actual: fmt.Sprintf("QP 0x%06x", d.RemoteQPN),
			Evidence: []uint64{[2]uint64{x.req.frame, x.rep.frame}[1-side]},
		})
	}
	v.atEnd(x)
	s := &x.dreq[side]
	switch {
	case !s.sent():
		v.drepBeforeDREQ(x, m, 1-side)
		s.begin(m)
		v.answerable(x, side, d.TID)
		v.covered(rule.CMSM011)
		if wrong {
			break // its receiver ignores it
		}
		v.expect(x, m, answerDREQ, 1-side, int64(x.retries+1)*x.timeout[1-side])
	case s.copied(m):
	case s.tid != d.TID:
		v.anotherDREQ(x, side, m)
		if !wrong {
			v.expect(x, m, answerDREQ, 1-side, int64(x.retries+1)*x.timeout[1-side])
		}
	default:
		limit := x.retries
		if !x.rep.sent() {
			limit = -1 // it may be of the connection before, whose ID the REQ has again
		}
		v.retransmission(x, side, s, m, limit, true)
	}
}

// anotherDREQ takes a DREQ of a transaction of its own, of a side that has sent others. Those were given up: nothing is retransmitted.
func (v *Verifier) anotherDREQ(x *exchange, side int, m *message) {
	s := &x.dreq[side]
	before, others := s.tid, min(s.others+1, 2)
	if others > 1 {
		v.unanswerable(v.index(x), x, side, s.before)
	}
	s.begin(m)
	s.before, s.others = before, others
	v.answerable(x, side, m.h.TID)
}

// answeredBy reports whether a message with a transaction ID may answer s, or one of the others that were sent before it.
func (s *sending) answeredBy(tid uint64) bool {
	return tid == s.tid || s.others == 1 && tid == s.before || s.others > 1
}

// dreqMidway begins an exchange with the DREQ of a connection that was made before the capture.
func (v *Verifier) dreqMidway(m *message, d *mad.DREQ) {
	k := key{active: m.Src, passive: m.Dst, id: d.LocalCommID}
	if _, ok := v.byID[k]; ok {
		return
	}
	x := v.begin(k)
	x.ids[passive], x.qpn[passive], x.retries = d.RemoteCommID, d.RemoteQPN, -1
	x.dreq[active].begin(m)
	x.noteTap(m, active)
}

// drep steps an exchange with a DREP.
func (v *Verifier) drep(m *message, d *mad.DREP) {
	x, side, agrees := v.namedExchange(m, d.LocalCommID, d.RemoteCommID, d.TID)
	if x == nil || x.misnamed.frame == 0 || x.misnamed.tid != d.TID { // else it repeats the IDs of the DREQ
		v.nonzero(m, d.LocalCommID)
	}
	v.address(m, x)
	if x == nil {
		return
	}
	if !agrees {
		x.disconnectAnswered(side)
		return
	}
	s := &x.dreq[1-side]
	v.covered(rule.CMTID002)
	if s.sent() && !s.answeredBy(d.TID) {
		v.accuse(m, rule.CMTID002, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("transaction ID 0x%016x of the DREQ", s.tid), Actual: fmt.Sprintf("0x%016x", d.TID), Evidence: []uint64{s.frame},
		})
	}
	if x.asked && x.rep.sent() && !s.sent() {
		v.expectCause(x, m, dreqOfDREP, side)
	}
	if !x.drep[side].happened() {
		x.drep[side] = seen{m.Time, m.Frame}
	}
}

// disconnectAnswered notes that a side has answered a DREQ with a message that is wrong: the other one may take it for a DREP.
func (x *exchange) disconnectAnswered(side int) {
	x.told |= toldSilent << side
	x.req.excuse()
}

// timeWait is for how long at least the QP of a side waits before it is of use again: the round trip, and the ACK delay of the other channel
// adapter. 0: not known.
func (x *exchange) timeWait(side int) (wait int64) {
	switch {
	case !x.asked || !x.rep.sent():
	case side == active:
		wait = period(x.delay)
	case x.ackCode != 0:
		wait = period(x.ackCode) / 2 // the code is rounded up
	}
	return wait
}

// ended returns since when the QP of a side may rest: it has sent a DREP, or got one. The time is 0 where neither was seen.
func (x *exchange) ended(side int) seen {
	mine, other := x.drep[side], x.drep[1-side]
	if !mine.happened() || other.happened() && other.time < mine.time {
		return other
	}
	return mine
}

// reused judges the QP that a side names when it connects (rules CM-SM-012, CM-SM-015).
func (v *Verifier) reused(m *message, x *exchange, side int) {
	v.covered(rule.CMSM012)
	ref, ok := v.byQP[x.qp(side)]
	if !ok || ref>>1 == v.index(x) {
		return
	}
	y, was := &v.slots[ref>>1], int(ref&1)
	end := y.ended(was)
	switch {
	case end.happened():
		if waited := m.Time - end.time; waited < lenient(y.timeWait(was)) {
			v.accuse(m, rule.CMSM012, rule.Proven(m.sees[sender]), rule.Verdict{
				Expected: fmt.Sprintf("QP 0x%06x in TimeWait for %s after the DREP", x.qpn[side], rule.Span(y.timeWait(was))), Actual: "a new connection after " + rule.Span(waited),
				Evidence: []uint64{end.frame},
			})
		}
	case y.rtu.happened() && !y.disconnecting() && !y.reject.happened() && y.guid[was] == x.guid[side]:
		x.stale[side] = y.rep.frame
		v.covered(rule.CMSM015)
	}
}

// stale judges the answer to a REQ or REP that names a QP which is connected (rule CM-SM-015).
func (v *Verifier) staleAnswer(m *message, x *exchange, of int, actual string) {
	if x.stale[of] == 0 {
		return
	}
	v.accuse(m, rule.CMSM015, rule.Proven(m.sees[sender]), rule.Verdict{
		Expected: fmt.Sprintf("REJ, stale connection: QP 0x%06x is connected", x.qpn[of]), Actual: actual, Evidence: []uint64{x.stale[of]},
		Detail: unless(m.sees[sender], "the capture may not hold the end of the previous connection"),
	})
	x.stale[of] = 0
}

// Data judges a packet of a connection that CM has ended, sent by q to the host peer (rule CM-SM-012).
func (v *Verifier) Data(q wqe.QP, peer packet.Addr, near bool, p *packet.Packet) {
	ref, ok := v.byQP[qpKey{q.Addr, peer, q.QPN}]
	if !ok {
		return
	}
	x, side := &v.slots[ref>>1], int(ref&1)
	v.covered(rule.CMSM012)
	end, least, detail := x.drep[side], flight, ""
	near = near && !v.Lossy()
	switch {
	case end.happened() && !near:
		least, detail = slack, "the two may have been reordered by the network"
	case !end.happened():
		end, least = x.drep[1-side], crossing
		detail = unless(near, "the DREP may not have arrived")
	}
	waited := p.Time - end.time
	if !end.happened() || waited < least || waited >= x.timeWait(side) || !x.once(toldWait<<side) {
		return
	}
	d := rule.Verdict{
		Rule: rule.CMSM012, Class: rule.Proven(near && !p.Cut), Role: rule.Sender,
		Expected: "no packet of the QP for " + rule.Span(x.timeWait(side)) + " after the DREP", Actual: "a packet after " + rule.Span(waited),
		Detail: detail, Evidence: []uint64{end.frame},
	}
	f := d.On(p, rule.Endpoint{Addr: q.Addr, QPN: q.QPN, QPNKnown: true}, rule.Endpoint{Addr: peer, QPN: p.DestQP, QPNKnown: true})
	f.Assumes = rule.AssumesNear
	v.Rec.Add(f)
}
