package header

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Sighting is what a tap saw of a native packet that must not change on the way through switches.
type Sighting struct {
	Tap    uint16
	SL     uint8
	Whole  bool // its ICRC was right
	Sound  bool // its VCRC was right
	Frame  uint64
	Time   int64
	Fields [3]uint64 // LRH without VL, SL and LIDs; the fifth byte of the BTH without FECN; what the ICRC leaves out of the GRH
}

// Crossed judges what another tap saw of a packet before (rules LNK-VL-007 and LNK-SW-001). Its LIDs are the same, so no router is between the taps.
func (v *Verifier) Crossed(p *packet.Packet, before, now *Sighting) (changed bool) {
	v.Covered(rule.LNKVL007)
	v.Covered(rule.LNKSW001)
	d := rule.Verdict{Class: rule.Proven(before.Sound && p.VCRCState == packet.CRCGood), Role: rule.Network, Detail: fmt.Sprintf("frame %d of tap %d shows the packet before the switch", before.Frame, before.Tap)}
	fields := [...]string{"LRH", "BTH", "GRH"}
	switch {
	case before.SL != now.SL:
		d.Wants = rule.Want(expect.SL, uint64(before.SL))
		d.Rule, d.Expected, d.Actual = rule.LNKVL007, fmt.Sprintf("SL %d", before.SL), fmt.Sprintf("SL %d", now.SL)
	case before.Fields != now.Fields:
		i := 0
		for before.Fields[i] == now.Fields[i] {
			i++
		}
		d.Rule, d.Expected, d.Actual = rule.LNKSW001, "the "+fields[i]+" unchanged", "changed"
	case before.Whole && p.ICRCState == packet.CRCBad && p.VCRCState == packet.CRCGood:
		d.Rule, d.Expected, d.Actual = rule.LNKSW001, "a correct ICRC, as before the switch", "a wrong ICRC after the switch"
	default:
		return false
	}
	if d.Class == rule.Unproven {
		d.Detail += "; without a VCRC, the packet may have been damaged"
	}
	v.ReportUnpaired(p, d)
	return true
}

// Ordered judges that packets of one flow came by another tap in the order in which they came by the first (rule LNK-SW-003): last is the frame there of
// the newest packet that has come.
func (v *Verifier) Ordered(p *packet.Packet, before *Sighting, last uint64) {
	v.Covered(rule.LNKSW003)
	if before.Frame >= last {
		return
	}
	v.ReportUnpaired(p, rule.Verdict{
		Rule: rule.LNKSW003, Class: rule.Unproven, Role: rule.Network,
		Expected: fmt.Sprintf("the packet before that of frame %d of tap %d", last, before.Tap), Actual: fmt.Sprintf("the packet after it, though it is frame %d there", before.Frame),
		Detail: "adaptive routing does so on purpose",
	})
}
