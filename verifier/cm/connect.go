package cm

import (
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/mad"
	"ibwitness/rule"
)

func qpOf(x *exchange, side int) hcaagent.QP {
	return hcaagent.QP{Addr: x.addr(side), QPN: x.qpn[side]}
}

// req steps an exchange with a REQ: it opens it, or is a repetition.
func (v *Verifier) req(m *message, q *mad.REQ) {
	k := key{active: m.Src, passive: m.Dst, id: q.LocalCommID}
	i, ok := v.byID[k]
	if ok && v.slots[i].req.times > 0 && v.slots[i].tid == q.TID && v.repeated(m, q, &v.slots[i]) {
		return
	}
	v.address(m, nil)
	v.request(m, q)
	v.covered(rule.CMID001)
	var early *exchange
	if ok {
		x := &v.slots[i]
		switch _, over := x.over(); {
		case !x.asked && x.rep.times > 0 && x.tid == q.TID:
			early = x
		case x.asked && x.rep.times > 0 && !over && x.dreq[0].times+x.dreq[1].times == 0:
			v.accuse(m, rule.CMID001, proven(m.sees[sender]), verdict{
				expected: "a communication ID that names no other connection", actual: fmt.Sprintf("0x%08x", q.LocalCommID), evidence: []uint64{x.req.frame},
				detail: unless(m.sees[sender], "the end of the other connection may not have been seen"),
			})
		}
		if early == nil {
			v.drop(i)
		}
	}
	v.covered(rule.CMTID001)
	if j, taken := v.byTID[tidKey{m.Src, m.Dst, q.TID}]; taken && early == nil {
		if y := &v.slots[j]; y.key.id != q.LocalCommID && y.asked {
			v.accuse(m, rule.CMTID001, rule.Violation, verdict{
				expected: "a new transaction ID", actual: fmt.Sprintf("0x%016x, that of another REQ", q.TID), evidence: []uint64{y.req.frame},
			})
		}
	}
	x := early
	if x == nil {
		x = v.begin(k)
	} else {
		v.covered(rule.CMSM001)
		if m.Time-x.rep.time > slack {
			v.accuseOther(m, rule.CMSM001, proven(m.sees[receiver]), verdict{
				expected: "the REP behind the REQ", actual: "the REP before it", evidence: []uint64{x.rep.frame},
				detail: unless(m.sees[receiver], "the tap may have missed an earlier REQ"),
			})
		}
	}
	v.open(x, m, q)
}

// open notes what a new REQ says.
func (v *Verifier) open(x *exchange, m *message, q *mad.REQ) {
	x.asked, x.tid, x.service, x.retries = true, q.TID, q.Transport, int(q.MaxCMRetries)
	x.resources, x.depth, x.pkey, x.serviceID = q.ResponderResources, q.InitiatorDepth, q.PKey, q.ServiceID
	x.qpn[active], x.guid[active], x.psn[active] = q.LocalQPN, q.LocalCAGUID, q.StartingPSN
	x.counts[active] = q.RetryCount<<3 | q.RNRRetryCount
	x.timeout = [2]int64{active: period(q.LocalCMTimeout), passive: period(q.RemoteCMTimeout)}
	x.ackCode, x.failover = q.Primary.LocalAckTimeout, !q.Alternate.IsZero()
	x.req.begin(m)
	x.req.answered = x.rep.times > 0
	x.look(m, active)
	v.byTID[tidKey{m.Src, m.Dst, q.TID}] = v.index(x)
	v.reused(m, x, active)
	v.covered(rule.CMSM005)
	v.expect(x, m, answerREQ, passive, x.timeout[passive])
}

// repeated takes a REQ whose communication ID and transaction are known, and reports whether it is a repetition. Behind the end of the exchange
// one with other content begins another.
func (v *Verifier) repeated(m *message, q *mad.REQ, x *exchange) bool {
	end, over := x.over()
	if over && (!x.req.same(m) || m.Time-end > hold) {
		return false
	}
	v.touch(x)
	x.look(m, active)
	if x.req.copied(m) {
		return true
	}
	switch {
	case over:
		v.covered(rule.CMSM008)
		x.req.excused = true // when it was answered is judged
	case q.LocalQPN != x.qpn[active]:
		v.changed(m, rule.CMREQ001, &x.req, fmt.Sprintf("QP 0x%06x", x.qpn[active]), fmt.Sprintf("QP 0x%06x", q.LocalQPN))
		return true
	case q.StartingPSN != x.psn[active]:
		v.changed(m, rule.CMREQ002, &x.req, "start PSN "+x.psn[active].String(), "start PSN "+q.StartingPSN.String())
		return true
	case q.RetryCount<<3|q.RNRRetryCount != x.counts[active]:
		v.changed(m, rule.CMREQ007, &x.req, counted(x.counts[active]), counted(q.RetryCount<<3|q.RNRRetryCount))
		return true
	}
	v.address(m, nil)
	v.again(x, active, &x.req, m, x.retries)
	x.rep.excused = x.rep.times > 0
	if !over && !x.req.answered {
		v.expect(x, m, answerREQ, passive, x.timeout[passive])
	}
	return true
}

func counted(c uint8) string { return fmt.Sprintf("retry count %d, RNR retry count %d", c>>3, c&7) }

// changed accuses the sender of a repetition that says something else than before.
func (v *Verifier) changed(m *message, id rule.ID, s *sending, expected, actual string) {
	v.covered(id)
	v.accuse(m, id, rule.Violation, verdict{expected: expected + ", as in the same message before", actual: actual, evidence: []uint64{s.frame}})
	s.time, s.frame, s.ipid, s.digest = m.Time, m.Frame, m.IPID, digest(m.b)
}

// rep steps an exchange with a REP.
func (v *Verifier) rep(m *message, r *mad.REP) {
	x := v.answers(m, r.RemoteCommID, r.TID)
	v.address(m, x)
	v.reply(m, r, x)
	if x == nil {
		v.orphan(m, r)
		return
	}
	v.covered(rule.CMTID001)
	v.covered(rule.CMID002)
	switch {
	case x.ids[active] != r.RemoteCommID:
		v.accuse(m, rule.CMID002, rule.Violation, verdict{
			expected: fmt.Sprintf("remote communication ID 0x%08x of the REQ", x.ids[active]), actual: fmt.Sprintf("0x%08x", r.RemoteCommID), evidence: []uint64{x.req.frame},
		})
		x.req.answered = true
		return
	case x.asked && r.TID != x.tid:
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	v.covered(rule.CMSM007)
	v.covered(rule.CMREQ001)
	v.covered(rule.CMREQ002)
	v.covered(rule.CMREQ007)
	if v.late(m, x, passive, "REP") {
		return
	}
	if x.rep.times > 0 {
		v.another(m, r, x)
		return
	}
	x.req.answered = true
	v.covered(rule.CMID001)
	if x.ids[passive] != 0 && x.ids[passive] != r.LocalCommID {
		v.accuse(m, rule.CMID001, rule.Violation, verdict{
			expected: fmt.Sprintf("local communication ID 0x%08x, as in the MRA", x.ids[passive]), actual: fmt.Sprintf("0x%08x", r.LocalCommID),
			evidence: []uint64{x.patience[passive].frame},
		})
	}
	x.rep.begin(m)
	x.ids[passive], x.qpn[passive], x.guid[passive], x.psn[passive] = r.LocalCommID, r.LocalQPN, r.LocalCAGUID, r.StartingPSN
	x.counts[passive], x.delay = r.RNRRetryCount, r.TargetAckDelay
	v.reused(m, x, passive)
	v.staleAnswer(m, x, active, "REP")
	if x.service == mad.TransportRC || x.service == mad.TransportUC {
		for side := range 2 {
			v.byQP[x.qp(side)] = v.index(x)<<1 | int32(side)
		}
	}
	v.covered(rule.CMSM001)
	if x.early.time > 0 && m.Time-x.early.time > slack {
		v.accuseOther(m, rule.CMSM001, proven(m.sees[receiver]), verdict{
			expected: "the RTU behind the REP", actual: "the RTU before it", evidence: []uint64{x.early.frame},
			detail: unless(m.sees[receiver], "the tap may have missed an earlier REP"),
		})
	}
	if x.early.time > 0 {
		x.rtu = x.early
	}
}

// orphan keeps a REP whose REQ was not seen: it may stand before it.
func (v *Verifier) orphan(m *message, r *mad.REP) {
	x := v.begin(key{active: m.Dst, passive: m.Src, id: r.RemoteCommID})
	x.tid, x.ids[passive], x.qpn[passive], x.guid[passive] = r.TID, r.LocalCommID, r.LocalQPN, r.LocalCAGUID
	x.psn[passive], x.counts[passive], x.delay, x.retries = r.StartingPSN, r.RNRRetryCount, r.TargetAckDelay, -1
	x.rep.begin(m)
	x.look(m, passive)
}

// another takes a REP that is not the first of its exchange: a repetition, or another answer to the same REQ (rule CM-SM-007).
func (v *Verifier) another(m *message, r *mad.REP, x *exchange) {
	if x.rep.copied(m) {
		return
	}
	switch {
	case r.LocalCommID != x.ids[passive] || r.LocalQPN != x.qpn[passive]:
		v.accuse(m, rule.CMSM007, rule.Violation, verdict{
			expected: fmt.Sprintf("one REP for a REQ: communication ID 0x%08x, QP 0x%06x", x.ids[passive], x.qpn[passive]),
			actual:   fmt.Sprintf("communication ID 0x%08x, QP 0x%06x", r.LocalCommID, r.LocalQPN), evidence: []uint64{x.rep.frame},
		})
		return
	case r.StartingPSN != x.psn[passive]:
		v.changed(m, rule.CMREQ002, &x.rep, "start PSN "+x.psn[passive].String(), "start PSN "+r.StartingPSN.String())
		return
	case r.RNRRetryCount != x.counts[passive]:
		v.changed(m, rule.CMREQ007, &x.rep, fmt.Sprintf("RNR retry count %d", x.counts[passive]), fmt.Sprintf("RNR retry count %d", r.RNRRetryCount))
		return
	}
	v.established(m, x)
	v.again(x, passive, &x.rep, m, x.retries)
	if x.rtu.time > 0 {
		v.covered(rule.CMSM009)
		v.expect(x, m, repeatRTU, active, x.timeout[active])
	}
}

// rtu steps an exchange with an RTU.
func (v *Verifier) rtu(m *message, r *mad.RTU) {
	v.nonzero(m, r.LocalCommID)
	x, side, agrees := v.named(m, r.LocalCommID, r.RemoteCommID, r.TID)
	v.address(m, x)
	if x == nil || !agrees {
		return
	}
	v.covered(rule.CMSM001)
	if side == passive && x.asked {
		v.accuse(m, rule.CMSM001, rule.Violation, verdict{expected: "an RTU from the side that sent the REQ", actual: "one from the other side", evidence: []uint64{x.req.frame}})
		return
	}
	v.covered(rule.CMTID001)
	if x.asked && r.TID != x.tid {
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	if v.late(m, x, active, "RTU") {
		return
	}
	if x.rep.times == 0 {
		x.early = seen{m.Time, m.Frame}
		return
	}
	if x.rtu.time == 0 {
		x.rtu = seen{m.Time, m.Frame}
		v.before(m, x)
		return
	}
	x.rtu = seen{m.Time, m.Frame}
}

// mra steps an exchange with an MRA (rule CM-SM-006).
func (v *Verifier) mra(m *message, r *mad.MRA) {
	v.nonzero(m, r.LocalCommID)
	v.reserved(m, uint32(r.Reserved1), uint32(r.Reserved2))
	v.covered(rule.CMSM006)
	if r.Answered > mad.AnsweredOther {
		v.accuse(m, rule.CMSM006, rule.Violation, verdict{expected: "an MRA for a REQ, a REP or a LAP", actual: fmt.Sprintf("message %d", r.Answered)})
		return
	}
	x, side, agrees := v.named(m, r.LocalCommID, r.RemoteCommID, r.TID)
	v.address(m, x)
	if x == nil || !agrees {
		return
	}
	if x.asked && (r.Answered == mad.AnsweredREQ) != (side == passive) && r.Answered != mad.AnsweredOther {
		v.accuse(m, rule.CMSM006, rule.Violation, verdict{
			expected: "an MRA for a message of the other side", actual: fmt.Sprintf("the %s side speaks of its own", sideNames[side]), evidence: []uint64{x.req.frame},
		})
		return
	}
	v.covered(rule.CMTID001)
	if x.asked && r.Answered != mad.AnsweredOther && r.TID != x.tid {
		v.tid(m, x, "REQ", x.tid, x.req.frame)
	}
	var answer seen
	switch {
	case r.Answered == mad.AnsweredREQ && x.rep.times > 0:
		answer = seen{x.rep.time, x.rep.frame}
	case r.Answered == mad.AnsweredREP && x.rtu.time > 0:
		answer = x.rtu
	}
	if x.reject.time > 0 && x.rejecter == side {
		answer = x.reject
	}
	if answer.time > 0 {
		v.accuse(m, rule.CMSM006, proven(m.sees[sender]), verdict{
			expected: "no MRA for what is answered", actual: "an MRA", evidence: []uint64{answer.frame},
			detail: unless(m.sees[sender], "the two may have changed places on the way"),
		})
		return
	}
	x.patience[side], x.wait[side] = seen{m.Time, m.Frame}, period(r.ServiceTimeout)
	if r.Answered == mad.AnsweredREQ {
		x.req.answered = true
		x.ids[passive] = r.LocalCommID
		v.expect(x, m, answerAfter, passive, x.wait[passive])
	}
}

// unless is why something is not proven.
func unless(sure bool, why string) string {
	if sure {
		return ""
	}
	return why
}

// tid accuses the sender of an answer of its transaction ID (rule CM-TID-001).
func (v *Verifier) tid(m *message, x *exchange, of string, want uint64, frame uint64) {
	v.accuse(m, rule.CMTID001, rule.Violation, verdict{
		expected: fmt.Sprintf("transaction ID 0x%016x of the %s", want, of), actual: fmt.Sprintf("0x%016x", m.h.TID), evidence: []uint64{frame},
	})
}

// answers returns the exchange that a message of the passive side belongs to: by the communication ID, else by the transaction of its REQ.
func (v *Verifier) answers(m *message, remote uint32, tid uint64) *exchange {
	i, ok := v.byID[key{active: m.Dst, passive: m.Src, id: remote}]
	if !ok {
		if i, ok = v.byTID[tidKey{m.Dst, m.Src, tid}]; !ok || !v.slots[i].asked || v.slots[i].rep.times > 0 {
			return nil
		}
	}
	x := &v.slots[i]
	v.touch(x)
	x.look(m, passive)
	return x
}

// named returns the exchange that a message names by both communication IDs, and judges them (rules CM-ID-001, CM-ID-002).
func (v *Verifier) named(m *message, local, remote uint32, tid uint64) (x *exchange, side int, agrees bool) {
	x, side, agrees = v.find(m, local, remote)
	if x == nil {
		if i, ok := v.byTID[tidKey{m.Dst, m.Src, tid}]; ok && v.slots[i].asked && v.slots[i].rep.times == 0 {
			x, side = &v.slots[i], passive
			v.wrongID(m, x, side, rule.CMID002, x.ids[active], remote)
		}
		return nil, 0, false
	}
	v.covered(rule.CMID002)
	if agrees {
		return x, side, true
	}
	if side == active {
		v.wrongID(m, x, side, rule.CMID002, x.ids[passive], remote)
	} else {
		v.wrongID(m, x, side, rule.CMID001, x.ids[passive], local)
	}
	return x, side, false
}

func (v *Verifier) wrongID(m *message, x *exchange, side int, id rule.ID, want, got uint32) {
	of := "remote communication ID"
	if id == rule.CMID001 {
		of = "local communication ID"
	}
	frame := x.req.frame
	if side == active || id == rule.CMID001 {
		frame = x.rep.frame
	}
	v.covered(id)
	v.accuse(m, id, rule.Violation, verdict{
		expected: fmt.Sprintf("%s 0x%08x", of, want), actual: fmt.Sprintf("0x%08x", got), evidence: []uint64{frame},
	})
}

// accuseOther makes a finding on a message against its receiver.
func (v *Verifier) accuseOther(m *message, id rule.ID, class rule.Class, d verdict) {
	o := *m
	p := *m.Packet
	o.Packet = &p
	p.Src, p.Dst, p.SrcQP, p.DestQP = m.Dst, m.Src, m.DestQP, m.SrcQP
	v.accuse(&o, id, class, d)
}
