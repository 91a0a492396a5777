package gmp

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// header judges what all management datagrams have in common. What subnet management and CM ask of the header beside it, their verifiers judge.
func (v *Verifier) header(d *datagram) {
	p, h := d.p, &d.h
	v.covered(rule.MADFMT002)
	if h.Reserved != 0 {
		v.headerBad(rule.MADFMT002, d, "reserved bytes 18 and 19 of the datagram 0", func() string { return fmt.Sprintf("0x%04x", h.Reserved) })
	}
	if p.Encap == packet.Native { // on RoCE there is no QP0, and ROC-V2-032 judges the classes
		v.covered(rule.MADFMT003)
		if p.DestQP == 1 && p.SrcQP != 0 && d.ofSubnet() { // SMP-FMT-002 judges packets to QP0, SMP-FMT-005 those from there
			v.headerBad(rule.MADFMT003, d, "subnet management only on QP0", func() string { return h.Class.String() + " on QP1" })
		}
	}
	v.status(d)
	if d.ofSubnet() {
		return
	}
	v.version(d)
	v.class(d)
	v.method(d)
}

// headerBad makes a finding on a field of the header. It asks for the text of what the field has only where the finding is kept.
func (v *Verifier) headerBad(id rule.ID, d *datagram, expected string, actual func() string) {
	w := rule.Verdict{Rule: id, Class: rule.Violation, Role: rule.Sender, Expected: expected}
	if !v.full(id, d.p) {
		w.Actual = actual()
	}
	v.report(d.p, w)
}

// version judges the base version, and the class version of classes that have only one (rule MAD-FMT-001). An answer that refuses a version repeats it.
func (v *Verifier) version(d *datagram) {
	h := &d.h
	if d.response() && d.status().Code() == mad.StatusVersion {
		return
	}
	v.covered(rule.MADFMT001)
	if h.BaseVersion != 1 {
		v.headerBad(rule.MADFMT001, d, "base version 1", func() string { return fmt.Sprintf("base version %d", h.BaseVersion) })
	} else if (h.Class == mad.ClassPerformance || h.Class == mad.ClassDevice) && h.ClassVersion != 1 {
		v.headerBad(rule.MADFMT001, d, "class version 1", func() string { return fmt.Sprintf("class version %d", h.ClassVersion) })
	}
}

// class judges the management class, and the OUI where vendors define the class (rules MAD-FMT-004, -005).
func (v *Verifier) class(d *datagram) {
	h := &d.h
	if d.response() && d.status().Code() != 0 && !definedClass(h.Class) {
		return // it repeats the class that it refuses
	}
	v.covered(rule.MADFMT004)
	if !definedClass(h.Class) {
		v.headerBad(rule.MADFMT004, d, "a defined management class", h.Class.String)
	}
	if h.Class >= 0x30 && h.Class <= 0x4F && len(d.b) >= 40 {
		v.covered(rule.MADFMT005)
		if d.b[37]|d.b[38]|d.b[39] == 0 {
			v.headerBad(rule.MADFMT005, d, "the OUI of the vendor in bytes 37 to 39", func() string { return "0" })
		}
	}
}

// definedClass reports whether a class, none of subnet management, is one of table T10.
func definedClass(c mad.Class) bool { return c >= mad.ClassSubnetAdmin && c <= 0x4F }

// method judges the method of a datagram that is none of subnet management.
func (v *Verifier) method(d *datagram) {
	h := &d.h
	if h.Class == mad.ClassCM {
		return // CM-FMT-001
	}
	if d.response() && d.status().Code() == mad.StatusMethod {
		return // it repeats the method that it refuses
	}
	v.covered(rule.MADMTH001)
	v.covered(rule.MADMTH002)
	switch m := h.Method &^ 0x80; {
	case d.response() && noResponse(h.Class, m):
		v.report(d.p, rule.Verdict{
			Rule: rule.MADMTH002, Class: rule.Violation, Role: rule.Sender,
			Expected: "R bit 0: " + m.String() + " has no response of its own", Actual: fmt.Sprintf("method 0x%02x", uint8(h.Method)),
		})
	case !methodOfClass(h.Class, m):
		v.report(d.p, rule.Verdict{
			Rule: rule.MADMTH001, Class: rule.Violation, Role: rule.Sender,
			Expected: "a method that the class has", Actual: fmt.Sprintf("method 0x%02x of %v", uint8(h.Method), h.Class),
		})
	}
}

// noResponse reports whether a method never has the R bit.
func noResponse(c mad.Class, m mad.Method) bool {
	return m == mad.Send || m == mad.Trap || m == mad.TrapRepress || m == mad.Set || c == mad.ClassSubnetAdmin && m == mad.GetTraceTable
}

// methodOfClass reports whether a class may have a method, given without its R bit. Vendors and applications define methods from 0x10 on.
func methodOfClass(c mad.Class, m mad.Method) bool {
	switch {
	case m >= mad.Get && m <= mad.Send || m >= mad.Trap && m <= mad.TrapRepress:
		return true
	case m < 0x10:
		return false
	case c == mad.ClassSubnetAdmin:
		return m >= mad.GetTable && m <= mad.Delete
	}
	return c != mad.ClassPerformance && c != mad.ClassCM && c != mad.ClassBoard && c != mad.ClassDevice
}

// acknowledges reports whether a datagram is an ACK, STOP or ABORT of RMPP, which has the header of the segment that it is to: with its status.
func (d *datagram) acknowledges() bool {
	var r mad.RMPP
	return mad.HasRMPP(d.h.Class) && r.Decode(d.b) == nil && r.Active() && r.Type != mad.RMPPData
}

// status judges the status of a datagram: 0 in a request, of defined bits in a response.
func (v *Verifier) status(d *datagram) {
	if d.h.Class == mad.ClassCM {
		return // every message of CM has status 0: CM-FMT-005
	}
	v.covered(rule.MADSTS001)
	s := d.status()
	expected := ""
	switch {
	case !d.response() && d.h.Method != mad.TrapRepress && !d.acknowledges():
		if s != 0 {
			expected = "status 0 in a request"
		}
	case !s.Defined():
		expected = "a defined common status code, reserved bits 0"
	}
	if expected != "" {
		w := rule.Verdict{Rule: rule.MADSTS001, Class: rule.Violation, Role: rule.Sender, Expected: expected}
		if !v.full(w.Rule, d.p) {
			w.Actual = s.Text(d.h.Class)
		}
		v.report(d.p, w)
	}
}
