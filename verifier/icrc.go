package verifier

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// icrcRule is the rule that a wrong ICRC breaks, by how the packet is carried (table T6).
func icrcRule(p *packet.Packet) rule.ID {
	switch {
	case p.Encap != packet.Native:
		return rule.ROCV2019
	case p.Has&packet.HasGRH != 0:
		return rule.LNKCRC004
	}
	return rule.LNKCRC003
}

// Seal judges the ICRC and VCRC of a packet and reports whether it may be followed further: a receiver drops a packet with a wrong
// ICRC silently, and so does the witness.
func (v *Verifier) Seal(c *qp.Pair, from int, p *packet.Packet) bool {
	if p.VCRCState != packet.CRCNotJudged {
		v.covered(rule.LNKCRC001)
		if p.VCRCState == packet.CRCBad {
			v.bytewise(c, from, p, verdict{
				rule: rule.LNKCRC001, class: proven(v.Near(p.Src)), role: rule.Sender,
				expected: "a VCRC that matches the packet", actual: fmt.Sprintf("VCRC 0x%04x", p.VCRC),
			})
		}
	}
	if p.ICRCState == packet.CRCNotJudged {
		if p.Cut {
			v.Skipped[SkipCut]++
		}
		return true
	}
	id := icrcRule(p)
	v.covered(id)
	if p.ICRCState == packet.CRCGood {
		return true
	}
	d := verdict{
		rule: id, class: proven(v.Near(p.Src)), role: rule.Sender,
		expected: "an ICRC that matches the packet", actual: fmt.Sprintf("ICRC 0x%08x", p.ICRC),
	}
	if d.class == rule.Unproven {
		d.detail = "the packet may have been damaged on the way to the tap"
	}
	v.bytewise(c, from, p, d)
	if c != nil {
		q := &c.Ends[from].SQ
		q.Excused, q.Broken = true, uint32(p.PSN)|qp.BrokenSet
	}
	return false
}
