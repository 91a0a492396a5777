package header

import (
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// uncovered reports whether a packet breaks a header rule by bits that its ICRC leaves out: elsewhere than near its sender they may have
// been damaged on the way. A link of InfiniBand has its VCRC for that, where it was captured.
func uncovered(id rule.ID, p *packet.Packet) bool {
	switch {
	case p.VCRCState == packet.CRCGood:
		return false
	case id == rule.BTH009:
		return p.Resv7 == 0
	case id == rule.UDQP0001:
		return p.PayloadLen == mad.Size && p.Has&packet.HasImmDt == 0 // but for its VL it is right
	case p.Has&packet.HasGRH != 0 && slices.Contains(ofLRH, id):
		return true
	}
	return id == rule.BTH016 || id == rule.ROCV2017 || id == rule.LNKVL001
}

// ofLRH are the rules on what the ICRC leaves out where a GRH follows: all of the LRH.
var ofLRH = []rule.ID{rule.LNKLRH002, rule.LNKLRH003, rule.LNKLID001, rule.LNKLID003, rule.LNKLID004}

// headerClass is the class of a finding on the bytes of a packet, and what a reader must know beside.
func (v *Verifier) headerClass(id rule.ID, p *packet.Packet) (rule.Class, string) {
	if uncovered(id, p) && !v.Untouched(p) {
		return rule.Unproven, "the ICRC does not cover these bits, which may have been damaged on the way to the tap"
	}
	return rule.Violation, ""
}
