package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
	"ibwitness/wqe"
)

func qpOf(x *exchange, side int) wqe.QP {
	return wqe.QP{Addr: x.addr(side), QPN: x.qpn[side]}
}

// req steps an exchange with a REQ: it opens it, or is a repetition.
func (v *Verifier) req(m *message, q *mad.REQ) {
	k := key{active: m.Src, passive: m.Dst, id: q.LocalCommID}
	i, ok := v.byID[k]
	if ok && v.slots[i].req.sent() && v.slots[i].tid == q.TID && v.repeated(m, q, &v.slots[i]) {
		return
	}
	redirected := ok && v.slots[i].told&toldRedirected != 0
	if !redirected { // else it goes where it was sent
		v.address(m, nil)
	}
	v.request(m, q)
	v.covered(rule.CMID001)
	was, alive := uint64(0), false
	if ok {
		x := &v.slots[i]
		if x.awaitsREQ(m, q) {
			v.open(x, m, q)
			v.repBeforeREQ(m, x)
			return
		}
		was, alive = x.tid, v.reusesID(m, q, x)
		v.drop(i)
	}
	v.newTID(m, q)
	x := v.begin(k)
	if redirected {
		x.told |= toldRedirected
	}
	if x.anew = ok && was == q.TID; was != q.TID {
		x.was = was
	}
	x.rival = alive // to the other side this is the connection that it knows by the ID
	v.open(x, m, q)
}

// awaitsREQ reports whether an exchange has a REP that was recorded before its REQ, so that a REQ may be that one.
func (x *exchange) awaitsREQ(m *message, q *mad.REQ) bool {
	return !x.asked && x.rep.sent() && x.tid == q.TID && !x.disconnecting() && m.Time-x.rep.time <= int64(q.MaxCMRetries+1)*period(q.RemoteCMTimeout)
}

// reusesID judges a REQ that has the communication ID of an exchange before (rule CM-ID-001), and reports whether that one is not over.
func (v *Verifier) reusesID(m *message, q *mad.REQ, x *exchange) bool {
	_, over := x.over()
	alive := x.asked && !over
	if alive && x.rtu.happened() && !x.disconnecting() {
		v.accuse(m, rule.CMID001, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "a communication ID of no other connection", Actual: fmt.Sprintf("0x%08x", q.LocalCommID), Evidence: []uint64{x.req.frame},
			Detail: unless(m.sees[sender], "the capture may not hold the end of the other connection"),
		})
	}
	return alive
}

// newTID judges that a REQ has a transaction ID of its own (rule CM-TID-001).
func (v *Verifier) newTID(m *message, q *mad.REQ) {
	v.covered(rule.CMTID001)
	i, taken := v.byTID[tidKey{m.Src, m.Dst, q.TID}]
	if !taken {
		return
	}
	if x := &v.slots[i]; x.asked && m.Time-x.req.time <= hold {
		v.accuse(m, rule.CMTID001, rule.Violation, rule.Verdict{
			Expected: "a new transaction ID", Actual: fmt.Sprintf("0x%016x, the transaction ID of another REQ", q.TID), Evidence: []uint64{x.req.frame},
		})
	}
}

// repBeforeREQ judges a REP that is recorded before its REQ.
func (v *Verifier) repBeforeREQ(m *message, x *exchange) {
	v.covered(rule.CMSM001)
	x.rep.excuse()
	if m.Time-x.rep.time <= x.disorder(passive, x.rep.tap, m) {
		return
	}
	x.rep.first = 0 // it may be the answer to an earlier attempt
	sure := m.sees[receiver] && x.rep.time-v.Since(m.Src, m.Dst) > hold+x.life(active)
	v.accuseOther(m, rule.CMSM001, rule.Proven(sure), rule.Verdict{
		Expected: "the REP after the REQ", Actual: "the REP before the REQ", Evidence: []uint64{x.rep.frame},
		Detail: unless(sure, "the tap may have missed an earlier REQ"),
	})
}

// open notes what a new REQ says.
func (v *Verifier) open(x *exchange, m *message, q *mad.REQ) {
	x.asked, x.tid, x.service, x.retries = true, q.TID, q.Transport, int(q.MaxCMRetries)
	x.resources, x.pkey, x.serviceID = q.ResponderResources, q.PKey, q.ServiceID
	x.qpn[active], x.guid[active], x.psn[active] = q.LocalQPN, q.LocalCAGUID, q.StartingPSN
	x.counts[active] = q.RetryCount<<3 | q.RNRRetryCount
	x.timeout = [2]int64{active: period(q.LocalCMTimeout), passive: period(q.RemoteCMTimeout)}
	x.station, x.hops, x.came = m.Station, m.HopLmt, m.cameFrom()
	x.ackCode, x.failover = q.Primary.LocalAckTimeout, !q.Alternate.IsZero()
	x.req.begin(m)
	x.req.answered = x.rep.sent()
	x.noteTap(m, active)
	v.byTID[tidKey{m.Src, m.Dst, q.TID}] = v.index(x)
	v.byService[x.asks()] = v.index(x)
	if i, ok := v.byService[serviceKey{x.key.passive, x.key.active, x.serviceID}]; ok {
		if y := &v.slots[i]; !y.rtu.happened() && m.Time-y.req.time <= hold {
			x.rival, y.rival = true, true
		}
	}
	v.reused(m, x, active)
	if x.rep.sent() {
		v.bind(x)
	}
	v.covered(rule.CMSM005)
	v.answer(x, m)
}

// answer expects an answer to a REQ.
func (v *Verifier) answer(x *exchange, m *message) {
	within := x.timeout[passive]
	if m.Time-v.Since(m.Src, m.Dst) < x.life(active) { // it may have been answered before the capture began: then the REP is retransmitted in time
		within += x.timeout[active] * 17 / 16
	}
	v.expect(x, m, answerREQ, passive, within)
}

// repeated takes a REQ whose communication ID and transaction are known, and reports whether it is a repetition.
func (v *Verifier) repeated(m *message, q *mad.REQ, x *exchange) bool {
	_, over := x.over()
	same := x.req.same(m)
	if x.anotherAttempt(m, same) {
		return false
	}
	// A side that has sent an RTU needs at least the time for one DREQ until the numbers are free again.
	sure := m.sees[sender] || x.rtu.happened() && m.Time-x.rtu.time < lenient(x.timeout[passive])
	v.touch(x)
	x.noteTap(m, active)
	x.rep.excuse() // one that is yet to come begins without
	if x.req.copied(m) {
		return true
	}
	if over {
		v.covered(rule.CMSM008)
		x.req.excuse() // when it was answered is judged
	} else if !same && v.changedREQ(m, q, x, sure) {
		return true
	}
	v.address(m, nil)
	if !same { // which of them is answered is not known
		x.anew = true
		x.timeout[active] = min(x.timeout[active], period(q.LocalCMTimeout))
	}
	v.retransmission(x, active, &x.req, m, x.retries, sure)
	if !x.req.answered {
		v.answer(x, m)
	}
	return true
}

// anotherAttempt reports whether a REQ with the communication ID and the transaction of an exchange begins another one. What was refused may be asked for again by the
// very same REQ, and one with other content, from a side that has been told the end, or has given up, begins another exchange.
func (x *exchange) anotherAttempt(m *message, same bool) bool {
	end, over := x.over()
	switch {
	case x.reject.happened(), over && m.Time-end >= x.timeWait(passive):
		return true
	case same:
		return false
	}
	return over || x.disconnecting() || x.rival || m.Time-x.req.first >= x.life(active)
}

// changedREQ judges the queue pair, the start PSN and the retry counts of a REQ that is retransmitted with other content (rules CM-REQ-001, -002, -007), and reports
// whether one of them differs.
func (v *Verifier) changedREQ(m *message, q *mad.REQ, x *exchange, sure bool) bool {
	counts := q.RetryCount<<3 | q.RNRRetryCount
	switch {
	case q.LocalQPN != x.qpn[active]:
		v.changed(m, rule.CMREQ001, sure, &x.req, fmt.Sprintf("QP 0x%06x", x.qpn[active]), fmt.Sprintf("QP 0x%06x", q.LocalQPN))
	case q.StartingPSN != x.psn[active]:
		v.changed(m, rule.CMREQ002, sure, &x.req, "start PSN "+x.psn[active].String(), "start PSN "+q.StartingPSN.String())
	case counts != x.counts[active]:
		v.changed(m, rule.CMREQ007, sure, &x.req, counted(x.counts[active]), counted(counts))
	default:
		return false
	}
	return true
}

// bind notes whose the queue pairs of both sides are.
func (v *Verifier) bind(x *exchange) {
	if x.service == mad.TransportRC || x.service == mad.TransportUC {
		for side := range 2 {
			v.byQP[x.qp(side)] = v.index(x)<<1 | int32(side)
		}
	}
}

func counted(c uint8) string { return fmt.Sprintf("retry count %d, RNR retry count %d", c>>3, c&7) }

// unended is why what looks like a repetition with other content is not proven to be one.
const unended = "the capture may not hold the end of the other exchange"

// changed accuses the sender of a repetition that says something else than before.
func (v *Verifier) changed(m *message, id rule.ID, sure bool, s *sending, expected, actual string) {
	v.covered(id)
	v.accuse(m, id, rule.Proven(sure), rule.Verdict{
		Expected: expected + ", as in the original message", Actual: actual, Evidence: []uint64{s.frame},
		Detail: unless(sure, unended), Assumes: rule.AssumesNear,
	})
	s.time, s.frame, s.ipid, s.digest = m.Time, m.Frame, m.IPID, digest(m.b)
}

// unless is why something is not proven.
func unless(sure bool, why string) string {
	if sure {
		return ""
	}
	return why
}

// accuseOther makes a finding on a message against its receiver.
func (v *Verifier) accuseOther(m *message, id rule.ID, class rule.Class, d rule.Verdict) {
	o := *m
	p := *m.Packet
	o.Packet = &p
	p.Src, p.Dst, p.SrcQP, p.DestQP = m.Dst, m.Src, m.DestQP, m.SrcQP
	v.accuse(&o, id, class, d)
}
