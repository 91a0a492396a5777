package congestion

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// MAD judges a MAD of congestion control (rule CNG-IB-006). c is the pair of QPs that it went between, sent by end from.
func (v *Verifier) MAD(c *qp.Pair, from int, p *packet.Packet) {
	var h mad.Header
	if mad.DecodeHeader(p.Payload, &h) != nil || h.Class != mad.ClassCongestion {
		return
	}
	v.Covered(rule.CNGIB006)
	name, settable := mad.CongestionAttribute(h.Attribute)
	d := rule.Verdict{Rule: rule.CNGIB006, Class: rule.Violation, Role: rule.Sender}
	switch h.Method {
	case mad.Get, mad.GetResp:
	case mad.Set:
		if !settable && name != "" {
			d.Expected, d.Actual = "Get of "+name, "Set"
		}
	case mad.Trap, mad.TrapRepress:
		if name != "Notice" {
			d.Expected, d.Actual = "a Notice in a "+h.Method.String(), fmt.Sprintf("attribute 0x%04x", uint16(h.Attribute))
		}
	default:
		d.Expected, d.Actual = "Get, Set, GetResp, Trap or TrapRepress", h.Method.String()
	}
	refused := h.Method == mad.GetResp && h.Status&0x1C != 0 // an answer to what is not supported repeats it
	switch {
	case h.ClassVersion != mad.CongestionVersion && !refused:
		d.Expected, d.Actual = fmt.Sprintf("class version %d", mad.CongestionVersion), fmt.Sprintf("%d", h.ClassVersion)
	case name == "" && !refused:
		d.Expected, d.Actual = "an attribute of congestion control", fmt.Sprintf("0x%04x", uint16(h.Attribute))
	}
	if d.Actual != "" {
		v.Report(c, from, p, d)
	}
}
