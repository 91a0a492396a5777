package header

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// RoCEConnect judges what a CM message says of LIDs and service levels on RoCE (rules ROC-V2-026, ROC-V2-030). c is the pair of QPs that it went
// between, sent by end from. The reserved LIDs of a REQ are not judged: common senders write the permissive LID there.
// The reasons of a REJ are judged by CM-REJ-005.
func (v *Verifier) RoCEConnect(c *qp.Pair, from int, p *packet.Packet) {
	var h mad.Header
	if p.Encap == packet.Native || mad.DecodeHeader(p.Payload, &h) != nil || h.Class != mad.ClassCM {
		return
	}
	d := rule.Verdict{Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket}
	switch h.Attribute {
	case mad.AttrREQ:
		var m mad.REQ
		if m.Decode(p.Payload) != nil {
			return
		}
		v.Covered(rule.ROCV2030)
		if m.Primary.SL > 7 {
			d.Rule, d.Expected, d.Actual = rule.ROCV2030, "a service level of 0 to 7", fmt.Sprintf("SL %d of the primary path", m.Primary.SL)
		}
	case mad.AttrAPR:
		var m mad.APR
		if m.Decode(p.Payload) != nil {
			return
		}
		v.Covered(rule.ROCV2026)
		if m.Status == 7 {
			d.Rule, d.Expected, d.Actual = rule.ROCV2026, "no status about LIDs", "APR: "+m.Status.String()
		}
	}
	if d.Actual != "" {
		v.Report(c, from, p, d)
	}
}
