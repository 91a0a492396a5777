package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// lap steps an exchange with a LAP, which proposes an alternate path (rules CM-LAP-001, CM-LAP-002).
func (v *Verifier) lap(m *message, l *mad.LAP) {
	v.nonzero(m, l.LocalCommID)
	v.reserved(m, l.Reserved1, uint32(l.Reserved2), l.Reserved3, uint32(l.Reserved4), uint32(l.Reserved5), uint32(l.Reserved6), uint32(l.Reserved7))
	v.alternate(m, &mad.Path{LocalLID: l.LocalLID, RemoteLID: l.RemoteLID, LocalGID: l.LocalGID, RemoteGID: l.RemoteGID, SubnetLocal: l.SubnetLocal},
		"an alternate path with unicast GIDs and LIDs", false)
	x, side, agrees := v.namedExchange(m, l.LocalCommID, l.RemoteCommID, l.TID)
	v.address(m, x)
	if x == nil || !agrees {
		return
	}
	first := !x.lap.sent()
	established := v.lapEstablished(m, x, side)
	if first {
		v.proposes(x, side, m)
	}
	if !established {
		return
	}
	if x.service <= mad.TransportUC && x.qpn[1-side] != 0 {
		v.judge(m, rule.CMREQ001, !x.hasQPN(1-side, l.RemoteQPN), func() rule.Verdict {
			return rule.Verdict{Expected: fmt.Sprintf("QP 0x%06x of the other side", x.qpn[1-side]), Actual: fmt.Sprintf("QP 0x%06x", l.RemoteQPN)}
		})
	}
	v.covered(rule.CMLAP002)
	if !first {
		v.furtherLAP(m, l, x, side)
	}
}

// lapEstablished judges that the connection of a LAP is established (rule CM-LAP-001), and reports whether.
func (v *Verifier) lapEstablished(m *message, x *exchange, side int) bool {
	v.covered(rule.CMLAP001)
	end, over := x.over()
	switch {
	case over && m.Time > end, x.dreq[side].sent():
		v.accuse(m, rule.CMLAP001, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "a LAP only in an established connection", Actual: "a LAP after its end", Detail: unless(m.sees[sender], "the two may have been reordered by the network"),
		})
		return false
	case x.asked && side == active && !x.rtu.happened() && !x.early.happened():
		v.accuse(m, rule.CMLAP001, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "a LAP only in an established connection", Actual: "a LAP before the RTU", Evidence: []uint64{x.req.frame},
			Detail: unless(m.sees[sender], "the tap may have missed the RTU"),
		})
		return false
	}
	return true
}

// furtherLAP takes a LAP that is not the first of its exchange: a repetition, or another one (rule CM-LAP-002).
func (v *Verifier) furtherLAP(m *message, l *mad.LAP, x *exchange, side int) {
	s := &x.lap
	open := !s.answered && m.Time-s.first <= int64(x.retries+1)*x.timeout[1-side]
	switch {
	case s.copied(m):
	case open && s.tid == l.TID:
		v.retransmission(x, side, s, m, -1, true)
	case open && x.lapper == side:
		v.accuse(m, rule.CMLAP002, rule.Proven(m.sees[sender]), rule.Verdict{
			Expected: "no further LAP before the response to the previous LAP", Actual: "a LAP with another transaction ID", Evidence: []uint64{s.frame},
			Detail: unless(m.sees[sender], "the tap may have missed the response"),
		})
		v.proposes(x, side, m)
	default:
		v.proposes(x, side, m)
	}
}

// proposes takes the first sending of a LAP.
func (v *Verifier) proposes(x *exchange, side int, m *message) {
	v.unanswerable(v.index(x), x, x.lapper, x.lap.tid)
	x.lap.begin(m)
	x.lapper = side
	v.answerable(x, side, m.h.TID)
}

// apr steps an exchange with an APR.
func (v *Verifier) apr(m *message, a *mad.APR) {
	v.nonzero(m, a.LocalCommID)
	v.reserved(m, uint32(a.Reserved))
	v.judge(m, rule.CMLAP001, !a.Status.Defined(), func() rule.Verdict {
		return rule.Verdict{Expected: "a status of 0 to 13", Actual: fmt.Sprint(uint8(a.Status))}
	})
	x, side, agrees := v.namedExchange(m, a.LocalCommID, a.RemoteCommID, a.TID)
	v.address(m, x)
	if x == nil || !agrees {
		return
	}
	v.covered(rule.CMTID002)
	if x.asked && !x.lap.sent() {
		v.expectCause(x, m, lapOfAPR, side)
	}
	if !x.lap.sent() || x.lapper == side {
		return
	}
	if !x.lap.answered && a.TID != x.lap.tid {
		v.accuse(m, rule.CMTID002, rule.Violation, rule.Verdict{
			Expected: fmt.Sprintf("transaction ID 0x%016x of the LAP", x.lap.tid), Actual: fmt.Sprintf("0x%016x", a.TID), Evidence: []uint64{x.lap.frame},
		})
	}
	x.lap.answered = true
}
