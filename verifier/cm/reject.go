package cm

import (
	"encoding/binary"
	"fmt"

	"ibwitness/mad"
	"ibwitness/rule"
)

// The reasons of a REJ that say where else to ask.
const (
	rejRedirectCM   mad.RejReason = 24
	rejRedirectPort mad.RejReason = 25
	rejPrimaryLID   mad.RejReason = 13
	rejAlternateLID mad.RejReason = 19
)

// maxInfo is how many bytes of additional information a REJ has room for.
const maxInfo = 72

// infoLengths says how long the additional information of a REJ is, where there is any (section 12.6.7.2).
var infoLengths = map[mad.RejReason]uint8{
	mad.RejTimeout: 8, 12: 16, 18: 16, rejPrimaryLID: 2, rejAlternateLID: 2, rejRedirectCM: 72, rejRedirectPort: 16,
}

// rej steps an exchange with a REJ, which ends it.
func (v *Verifier) rej(m *message, r *mad.REJ) {
	v.rejFields(m, r)
	x, side, agrees := v.find(m, r.LocalCommID, r.RemoteCommID)
	v.address(m, x)
	if x != nil && x.older(m) {
		if r.Reason == mad.RejStale && side == passive { // its sender took the REQ for a retransmission of the earlier connection's: TimeWait is not over
			x.req.answered = true
		}
		return
	}
	v.rejected(m, r, x, side, agrees)
	if x == nil {
		v.rejOfOtherID(m, r)
		return
	}
	v.covered(rule.CMID002)
	if !agrees && r.Reason != mad.RejInvalidCommID {
		if side == active {
			v.wrongID(m, x, side, rule.CMID002, x.ids[passive], r.RemoteCommID)
		} else {
			v.wrongID(m, x, side, rule.CMID001, x.ids[passive], r.LocalCommID)
		}
		return
	}
	v.timeoutGUID(m, r, x, side)
	v.rejEnds(m, r, x, side)
}

// rejEnds judges the transaction of a REJ, and its reason in TimeWait, and ends the exchange.
func (v *Verifier) rejEnds(m *message, r *mad.REJ, x *exchange, side int) {
	end, over := x.over()
	if x.asked && r.Rejected != mad.AnsweredOther && !over {
		v.covered(rule.CMTID001)
		if r.TID != x.tid {
			v.tid(m, x, "REQ", x.tid, x.req.frame)
		}
	}
	if side == passive && x.waiting(end) && r.Reason != mad.RejStale {
		v.waitingAnswer(m, x, "REJ: "+r.Reason.String())
	}
	if r.Reason == rejRedirectCM || r.Reason == rejRedirectPort {
		x.told |= toldRedirected
	}
	x.gaveUp = x.gaveUp && side == active
	if !x.reject.happened() {
		x.reject, x.rejecter, x.gaveUp = seen{m.Time, m.Frame}, side, x.asked && side == active && !x.req.answered
		v.noteDelayed(m, x, side)
	}
	x.req.answered = true
}

// rejected judges which message a REJ says that it rejects (rule CM-REJ-002). x is its exchange, or nil.
func (v *Verifier) rejected(m *message, r *mad.REJ, x *exchange, side int, agrees bool) {
	v.covered(rule.CMREJ002)
	if r.Rejected > mad.AnsweredOther || x != nil && x.asked && (agrees || m.h.TID == x.tid) &&
		(r.Rejected == mad.AnsweredREQ && side == active || r.Rejected == mad.AnsweredREP && side == passive) {
		by := ""
		if x != nil {
			by = " by the " + sideNames[side] + " side"
		}
		v.accuse(m, rule.CMREJ002, rule.Violation, rule.Verdict{
			Expected: "message rejected 0 (a REQ, by the passive side), 1 (a REP, by the active side) or 2", Actual: fmt.Sprintf("%d%s", r.Rejected, by),
		})
	}
}

// rejFields judges what a REJ shows by itself (rules CM-REJ-001, -003, -005).
func (v *Verifier) rejFields(m *message, r *mad.REJ) {
	v.reserved(m, uint32(r.Reserved1), uint32(r.Reserved2))
	v.judge(m, rule.CMREJ001, !r.Reason.Defined(), func() rule.Verdict {
		return rule.Verdict{Expected: "a reason of 1 to 33, or 35", Actual: fmt.Sprint(uint16(r.Reason))}
	})
	want, fixed := infoLengths[r.Reason]
	v.judge(m, rule.CMREJ003, r.InfoLength > maxInfo || fixed && r.InfoLength != 0 && r.InfoLength != want, func() rule.Verdict {
		if !fixed {
			want = maxInfo
		}
		return rule.Verdict{
			Expected: fmt.Sprintf("at most %d bytes of additional information for the reason %q", want, r.Reason.String()), Actual: fmt.Sprint(r.InfoLength),
		}
	})
	if onIP(m.Packet) {
		v.judge(m, rule.CMREJ005, r.Reason == rejPrimaryLID || r.Reason == rejAlternateLID, func() rule.Verdict {
			return rule.Verdict{Expected: "no reason about LIDs on RoCEv2", Actual: r.Reason.String()}
		})
	}
}

// rejOfOtherID judges a REJ of a REQ that names another communication ID than that of the REQ whose transaction it has.
func (v *Verifier) rejOfOtherID(m *message, r *mad.REJ) {
	i, ok := v.byTID[tidKey{m.Dst, m.Src, r.TID}]
	if !ok || r.Rejected != mad.AnsweredREQ || r.Reason == mad.RejInvalidCommID {
		return
	}
	if x := &v.slots[i]; x.asked && !x.rep.sent() && !x.reject.happened() {
		x.noteTap(m, passive)
		v.wrongID(m, x, passive, rule.CMID002, x.ids[active], r.RemoteCommID)
		x.req.answered = true
		x.req.excuse()
	}
}

// timeoutGUID judges a REJ for lack of an answer: it names the channel adapter of its sender (rule CM-SM-014).
func (v *Verifier) timeoutGUID(m *message, r *mad.REJ, x *exchange, side int) {
	if r.Reason != mad.RejTimeout || r.InfoLength != infoLengths[mad.RejTimeout] || m.have < 20 || x.guid[side] == 0 {
		return
	}
	guid := binary.BigEndian.Uint64(r.Info)
	v.judge(m, rule.CMSM014, guid != x.guid[side], func() rule.Verdict {
		return rule.Verdict{Expected: fmt.Sprintf("CA GUID 0x%016x", x.guid[side]), Actual: fmt.Sprintf("0x%016x", guid), Evidence: []uint64{x.req.frame}}
	})
}

// afterEnd judges a message that comes after the end of its exchange (rules CM-SM-008, CM-SM-013), and reports whether it does.
func (v *Verifier) afterEnd(m *message, x *exchange, side int, name string) bool {
	if x.reject.happened() {
		v.covered(rule.CMSM013)
		class, detail := rule.Proven(m.sees[sender]), unless(m.sees[sender], "the two may have been reordered by the network")
		patience := slack
		if x.rejecter != side {
			if patience = max(crossing, x.timeout[side]); !m.sees[sender] {
				detail = "the REJ may not have arrived"
			}
		} else if m.sees[sender] {
			patience = 0
		}
		if m.Time-x.reject.time > patience && x.once(toldRejected) {
			v.accuse(m, rule.CMSM013, class, rule.Verdict{Expected: "no message after the REJ", Actual: name, Evidence: []uint64{x.reject.frame}, Detail: detail})
		}
		return true
	}
	end, over := x.over()
	if name == "REP" && x.waiting(end) {
		v.waitingAnswer(m, x, name)
	}
	return over && name != "DREQ"
}

// waiting reports whether a REQ was retransmitted while the QPs are in TimeWait, after the end of their connection.
func (x *exchange) waiting(end int64) bool {
	return x.req.time > end && x.req.time-end < x.timeWait(passive)
}

func (v *Verifier) waitingAnswer(m *message, x *exchange, actual string) {
	v.accuse(m, rule.CMSM008, rule.Proven(m.sees[sender]), rule.Verdict{
		Expected: "REJ, stale connection, for a REQ that is retransmitted in TimeWait", Actual: actual, Evidence: []uint64{x.req.frame},
		Detail: unless(m.sees[sender], "the response may precede the REQ"),
	})
}
