package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// rep steps an exchange with a REP.
func (v *Verifier) rep(m *message, r *mad.REP) {
	x := v.exchangeOf(m, r.RemoteCommID, r.TID)
	v.address(m, x)
	if x != nil && x.older(m) {
		return
	}
	v.reply(m, r, x)
	if x == nil {
		v.repWithoutREQ(m, r)
		return
	}
	x.gaveUp = false
	v.covered(rule.CMTID001)
	v.covered(rule.CMID002)
	switch {
	case x.ids[active] == 0 && r.RemoteCommID != 0: // the REQ had none, which is reported
		x.req.answered, x.told = true, x.told|toldEarly
		return
	case x.ids[active] != r.RemoteCommID:
		v.accuse(m, rule.CMID002, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("remote communication ID 0x%08x of the REQ", x.ids[active]), Actual: fmt.Sprintf("0x%08x", r.RemoteCommID), Evidence: []uint64{x.req.frame},
		})
		x.req.answered, x.told = true, x.told|toldEarly
		return
	case x.asked && r.TID != x.tid:
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	v.covered(rule.CMSM007)
	v.covered(rule.CMREQ001)
	v.covered(rule.CMREQ002)
	v.covered(rule.CMREQ007)
	if v.afterEnd(m, x, passive, "REP") {
		return
	}
	if x.rep.sent() {
		v.furtherREP(m, r, x)
		return
	}
	v.firstREP(m, r, x)
}

// firstREP takes the first REP of an exchange.
func (v *Verifier) firstREP(m *message, r *mad.REP, x *exchange) {
	x.req.answered = true
	v.covered(rule.CMID001)
	if x.ids[passive] != 0 && x.ids[passive] != r.LocalCommID {
		sure := x.keepsID(m)
		v.accuse(m, rule.CMID001, rule.Proven(sure), rule.Verdict{
			Expected: fmt.Sprintf("local communication ID 0x%08x, as in the MRA", x.ids[passive]), Actual: fmt.Sprintf("0x%08x", r.LocalCommID),
			Evidence: []uint64{x.mra[passive].frame}, Detail: unless(sure, "the tap may have missed a REJ and a retransmission of the REQ"),
		})
	}
	x.rep.begin(m)
	x.went = m.Station
	x.ids[passive], x.qpn[passive], x.guid[passive], x.psn[passive] = r.LocalCommID, r.LocalQPN, r.LocalCAGUID, r.StartingPSN
	x.counts[passive], x.delay = r.RNRRetryCount, r.TargetAckDelay
	v.reused(m, x, passive)
	v.staleAnswer(m, x, active, "REP")
	v.requestBeforeREP(m, x)
	v.bind(x)
	v.covered(rule.CMSM001)
	if x.early.happened() && m.Time-x.early.time > x.disorder(active, x.earlyTap, m) {
		d := deadline{side: active, seen: x.early, psn: x.earlyPSN, tap: x.req.tap}
		v.accused(x, &d, rule.CMSM001, "the RTU after the REP", "the RTU before the REP", []uint64{m.Frame}, true)
	}
	if x.early.happened() {
		x.rtu = x.early
	}
}

// repWithoutREQ keeps a REP whose REQ was not seen: the REQ may be recorded later. Who sent the REQ sends no REP to itself.
func (v *Verifier) repWithoutREQ(m *message, r *mad.REP) {
	if i, ok := v.byTID[tidKey{m.Src, m.Dst, r.TID}]; ok && v.slots[i].asked && v.slots[i].ids[active] == r.RemoteCommID {
		x := &v.slots[i]
		x.told |= toldEarly
		x.misnamed = misnamed{tid: r.TID, side: active, frame: m.Frame}
		v.covered(rule.CMSM001)
		v.accuse(m, rule.CMSM001, rule.Violation, rule.Verdict{
			Expected: "a REP from the passive side, which received the REQ", Actual: "a REP from the active side, for its own communication ID", Evidence: []uint64{x.req.frame},
		})
		return
	}
	x := v.begin(key{active: m.Dst, passive: m.Src, id: r.RemoteCommID})
	x.tid, x.ids[passive], x.qpn[passive], x.guid[passive] = r.TID, r.LocalCommID, r.LocalQPN, r.LocalCAGUID
	x.psn[passive], x.counts[passive], x.delay, x.retries = r.StartingPSN, r.RNRRetryCount, r.TargetAckDelay, -1
	x.rep.begin(m)
	x.noteTap(m, passive)
}

// furtherREP takes a REP that is not the first of its exchange: a repetition, or another answer to the same REQ (rule CM-SM-007).
func (v *Verifier) furtherREP(m *message, r *mad.REP, x *exchange) {
	if x.rep.copied(m) {
		return
	}
	if !x.rep.same(m) && x.asked && x.gaveUpREP(m) {
		x.rep, x.ids[passive] = sending{}, 0
		v.firstREP(m, r, x)
		return
	}
	switch {
	case r.LocalCommID != x.ids[passive] || r.LocalQPN != x.qpn[passive]:
		v.accuse(m, rule.CMSM007, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("one REP for a REQ: communication ID 0x%08x, QP 0x%06x", x.ids[passive], x.qpn[passive]),
			Actual:   fmt.Sprintf("communication ID 0x%08x, QP 0x%06x", r.LocalCommID, r.LocalQPN), Evidence: []uint64{x.rep.frame},
		})
		return
	case r.StartingPSN != x.psn[passive]:
		v.changed(m, rule.CMREQ002, true, &x.rep, "start PSN "+x.psn[passive].String(), "start PSN "+r.StartingPSN.String())
		return
	case r.RNRRetryCount != x.counts[passive]:
		v.changed(m, rule.CMREQ007, true, &x.rep, fmt.Sprintf("RNR retry count %d", x.counts[passive]), fmt.Sprintf("RNR retry count %d", r.RNRRetryCount))
		return
	}
	v.established(m, x)
	v.retransmission(x, passive, &x.rep, m, x.retries, true)
	if x.rtu.happened() {
		v.covered(rule.CMSM009)
		v.expect(x, m, repeatRTU, active, x.timeout[active])
	}
}

// rtu steps an exchange with an RTU.
func (v *Verifier) rtu(m *message, r *mad.RTU) {
	v.nonzero(m, r.LocalCommID)
	x, side, agrees := v.namedExchange(m, r.LocalCommID, r.RemoteCommID, r.TID)
	v.address(m, x)
	if x == nil || !agrees {
		return
	}
	v.covered(rule.CMSM001)
	if side == passive && x.asked {
		if r.TID != x.tid {
			return // of an exchange that the tap did not see begin
		}
		v.wrongRTU(m, x)
		return
	}
	v.covered(rule.CMTID001)
	if x.asked && r.TID != x.tid {
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	if v.afterEnd(m, x, active, "RTU") {
		return
	}
	if !x.rep.sent() {
		x.early, x.earlyPSN, x.earlyTap = seen{m.Time, m.Frame}, m.PSN, m.Tap
		return
	}
	if !x.rtu.happened() {
		x.rtu = seen{m.Time, m.Frame}
		v.requestBeforeRTU(m, x)
		return
	}
	x.rtu = seen{m.Time, m.Frame}
}

// wrongRTU accuses the passive side of an RTU.
func (v *Verifier) wrongRTU(m *message, x *exchange) {
	x.told |= toldEarly
	v.accuse(m, rule.CMSM001, rule.Violation, rule.Verdict{Expected: "an RTU from the active side, which sent the REQ", Actual: "an RTU from the passive side", Evidence: []uint64{x.req.frame}})
}

// mra steps an exchange with an MRA (rule CM-SM-006).
func (v *Verifier) mra(m *message, r *mad.MRA) {
	v.nonzero(m, r.LocalCommID)
	v.reserved(m, uint32(r.Reserved1), uint32(r.Reserved2))
	v.covered(rule.CMSM006)
	if r.Answered > mad.AnsweredOther {
		v.accuse(m, rule.CMSM006, rule.Violation, rule.Verdict{Expected: "an MRA for a REQ, a REP or a LAP", Actual: fmt.Sprintf("message %d", r.Answered)})
		return
	}
	x, side, agrees := v.namedExchange(m, r.LocalCommID, r.RemoteCommID, r.TID)
	v.address(m, x)
	if x == nil || !agrees || !v.mraSide(m, r, x, side) {
		return
	}
	x.gaveUp = x.gaveUp && side == active
	v.covered(rule.CMTID001)
	if x.asked && r.Answered != mad.AnsweredOther && r.TID != x.tid {
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	if answer := x.answerBefore(r, side); answer.happened() {
		v.accuse(m, rule.CMSM006, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "no MRA for a message that has a response", Actual: "an MRA", Evidence: []uint64{answer.frame},
			Detail: unless(m.sees[sender], "the two may have been reordered by the network"),
		})
		return
	}
	switch {
	case !x.asked:
	case r.Answered == mad.AnsweredREP && !x.rep.sent():
		v.expectCause(x, m, repOfMRA, side)
	case r.Answered == mad.AnsweredOther && !x.lap.sent():
		v.expectCause(x, m, lapOfMRA, side)
	}
	x.mra[side], x.mraTimeout[side] = seen{m.Time, m.Frame}, period(r.ServiceTimeout)
	if r.Answered == mad.AnsweredREQ {
		x.req.answered = true
		x.ids[passive] = r.LocalCommID
		v.expect(x, m, answerAfter, passive, x.mraTimeout[passive])
	}
}

// mraSide judges which side sends an MRA: the passive one for a REQ, the active one for a REP. It reports whether that is so.
func (v *Verifier) mraSide(m *message, r *mad.MRA, x *exchange, side int) bool {
	if !x.asked || r.Answered == mad.AnsweredOther || (r.Answered == mad.AnsweredREQ) == (side == passive) {
		return true
	}
	if r.TID == x.tid { // else the other side has asked too, unseen
		v.accuse(m, rule.CMSM006, rule.Violation, rule.Verdict{
			Expected: "an MRA for a message of the other side", Actual: fmt.Sprintf("an MRA of the %s side for its own message", sideNames[side]), Evidence: []uint64{x.req.frame},
		})
	}
	return false
}

// answerBefore is the response that a side has sent already to the message that its MRA is for; it has not happened where there is none.
func (x *exchange) answerBefore(r *mad.MRA, side int) seen {
	switch {
	case x.reject.happened() && x.rejecter == side:
		return x.reject
	case r.Answered == mad.AnsweredREQ && x.rep.sent():
		return seen{x.rep.time, x.rep.frame}
	case r.Answered == mad.AnsweredREP && x.rtu.happened():
		return x.rtu
	}
	return seen{}
}

// exchangeOf returns the exchange that a message of the passive side belongs to: by the communication ID, else by the transaction of its REQ.
func (v *Verifier) exchangeOf(m *message, remote uint32, tid uint64) *exchange {
	i, ok := v.byID[key{active: m.Dst, passive: m.Src, id: remote}]
	if !ok {
		if i, ok = v.byTID[tidKey{m.Dst, m.Src, tid}]; !ok || !v.slots[i].asked || v.slots[i].rep.sent() {
			return nil
		}
	}
	x := &v.slots[i]
	v.touch(x)
	x.noteTap(m, passive)
	return x
}
