package cm

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/rule"
)

// hasQPN reports whether a QPN is that of a side: the one in its REQ or REP, or the one that the traffic uses in place of it.
func (x *exchange) hasQPN(side int, qpn uint32) bool {
	return qpn == x.qpn[side] || qpn == x.used[side] && qpn != 0
}

// Renumber tells that what the peer of a queue pair sends goes to the number used, and not to given, which the REQ or REP names.
func (v *Verifier) Renumber(a, peer packet.Addr, given, used uint32) {
	ref, ok := v.byQP[qpKey{a, peer, given}]
	if !ok {
		return
	}
	v.slots[ref>>1].used[ref&1] = used
	v.byQP[qpKey{a, peer, used}] = ref
}

// QPNMismatch judges the REQ or REP that names another QPN than the one that is used (rule CM-REQ-001), and first is the frame of the first
// packet to that. sure says that the queue pair evidently gets what is sent there.
func (v *Verifier) QPNMismatch(a, peer packet.Addr, given, used uint32, first uint64, sure bool) {
	ref, ok := v.byQP[qpKey{a, peer, given}]
	if !ok {
		return
	}
	x, side := &v.slots[ref>>1], int(ref&1)
	s := [2]*sending{&x.req, &x.rep}[side]
	v.covered(rule.CMREQ001)
	if s.times == 0 {
		return
	}
	d := deadline{side: int8(side), seen: seen{s.first, s.frame}, psn: s.psn, tap: s.tap}
	f := v.against(x, &d, rule.CMREQ001)
	why := "the capture holds no response of the queue pair"
	if sure && s.cut {
		sure, why = false, rule.CutShort
	}
	f.Class = rule.Proven(sure)
	f.Expected, f.Actual = fmt.Sprintf("local QPN 0x%06x, the destination of the packets of the peer", used), fmt.Sprintf("0x%06x, the destination of none", given)
	f.Evidence, f.Detail = []uint64{first}, unless(sure, why)
	v.Rec.Add(f)
}
