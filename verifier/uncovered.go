package verifier

import (
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
	}
	return id == rule.BTH016 || id == rule.ROCV2017
}

// headerClass is the class of a finding on the bytes of a packet, and what a reader must know beside.
func (v *Verifier) headerClass(id rule.ID, p *packet.Packet) (rule.Class, string) {
	if uncovered(id, p) && !v.Untouched(p) {
		return rule.Unproven, "the ICRC does not cover these bits, which may have been damaged on the way to the tap"
	}
	return rule.Violation, ""
}
