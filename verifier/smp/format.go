package smp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// format judges what needs only the packet. It reports whether the rest can be judged.
func (v *Verifier) format() bool {
	p, s := v.p, &v.s
	smp := s.Class == mad.ClassSubnetLID || s.Class == mad.ClassSubnetDirected
	if v.breaks(rule.SMPFMT005, p.DestQP != 0) {
		v.report(rule.SMPFMT005, rule.Violation, rule.Sender, "QP0 to QP0", fmt.Sprintf("QP0 to QP 0x%x", p.DestQP))
		return false
	}
	if p.SrcQP != 0 && smp { // UD-HDR-003 judges it
		return false
	}
	if v.breaks(rule.SMPFMT002, !smp) {
		v.report(rule.SMPFMT002, rule.Violation, rule.Sender, "class 0x01 or 0x81 on QP0", fmt.Sprintf("class 0x%02x", uint8(s.Class)))
		return false
	}
	other := s.BaseVersion != 1 || s.ClassVersion != 1
	if other && s.Method == mad.GetResp && s.Code().Code() == mad.StatusVersion {
		return false // it repeats the version that it refuses
	}
	if v.breaks(rule.SMPFMT003, other) {
		v.report(rule.SMPFMT003, rule.Violation, rule.Sender, "base version 1, class version 1",
			fmt.Sprintf("base version %d, class version %d", s.BaseVersion, s.ClassVersion))
		return false
	}
	v.grh()
	if v.breaks(rule.SMPFMT001, v.reserved() != 0) {
		v.report(rule.SMPFMT001, rule.Violation, rule.Sender, "reserved bytes 0", fmt.Sprintf("byte %d is not 0", v.reserved()))
	}
	return v.method()
}

// grh judges the GRH that an SMP does not have: it stays in its subnet.
func (v *Verifier) grh() {
	p := v.p
	away := p.Has&packet.HasGRH != 0 && p.SGID.Hi != p.DGID.Hi
	if v.breaks(rule.SMPFMT006, away) {
		v.report(rule.SMPFMT006, rule.Violation, rule.Sender, "an SMP within one subnet", fmt.Sprintf("from %v to %v", p.SGID, p.DGID))
	}
	if v.breaks(rule.SMPFMT004, p.Has&packet.HasGRH != 0 && !away) {
		v.report(rule.SMPFMT004, rule.Violation, rule.Sender, "no GRH", fmt.Sprintf("a GRH from %v to %v", p.SGID, p.DGID))
	}
}

// reserved returns the first reserved byte that its sender has set. What a response has from its request is not its doing.
func (v *Verifier) reserved() int {
	at := mad.SMPReserved(v.s.Class, v.p.Payload)
	if at == 0 || v.s.Method != mad.GetResp {
		return at
	}
	for x := v.open[v.s.TID]; x != nil; x = x.next {
		if !x.reserved {
			return at
		}
	}
	return 0
}

// method judges the method (rule SMP-MTH-001), and its attribute as far as table T11 forbids the pair to everyone.
func (v *Verifier) method() bool {
	s := &v.s
	bad := false
	switch s.Method {
	case mad.Get, mad.Set, mad.GetResp, mad.Trap, mad.TrapRepress:
	default:
		bad = true
	}
	if v.breaks(rule.SMPMTH001, bad) {
		v.report(rule.SMPMTH001, rule.Violation, rule.Sender, "Get, Set, GetResp, Trap or TrapRepress", s.Method.String())
		return false
	}
	_, set, trap, known := mad.SMPMethods(s.Attribute)
	switch s.Method {
	case mad.Set:
		bad = known && !set && s.Attribute != mad.AttrVendorDiag // SMP-VD-001
	case mad.Trap, mad.TrapRepress:
		bad = !trap
	}
	if v.breaks(rule.SMPMTH002, bad) {
		v.report(rule.SMPMTH002, rule.Violation, rule.Sender, "a method that the attribute has", fmt.Sprintf("%v(%s)", s.Method, s.AttributeName()))
	}
	return true
}
