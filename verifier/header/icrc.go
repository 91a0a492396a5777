package header

import (
	"fmt"
	"math/bits"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
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
		v.vcrc(c, from, p)
	}
	if p.Flaws&(packet.FlawDelimiter|packet.FlawVCRC) != 0 {
		v.damagedOnLink(c, from, p)
		return false
	}
	if p.ICRCState == packet.CRCNotJudged {
		if p.Cut {
			v.Skipped[verifier.SkipCut]++
		}
		return true
	}
	id := icrcRule(p)
	v.Covered(id)
	if p.Encap == packet.Native {
		v.Covered(rule.LNKCRC005)
	}
	if p.ICRCState == packet.CRCGood {
		return true
	}
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(v.Untouched(p)), Role: rule.Sender,
		Expected: "an ICRC that matches the packet", Actual: fmt.Sprintf("ICRC 0x%08x", p.ICRC),
	}
	if d.Class == rule.Unproven {
		d.Detail = "the packet may have been damaged on the way to the tap"
	}
	if o, ok := icrcVariant(p); ok {
		v.Covered(o.Rule)
		d = o
	} else if how := otherParameters(p); how != "" {
		d.Rule, d.Class, d.Detail, d.Actual = rule.LNKCRC005, rule.Violation, "", "an ICRC that is correct "+how
	}
	v.ReportBytes(c, from, p, d)
	if c != nil {
		v.dropped(c, from, p)
	}
	return false
}

// vcrc judges the VCRC of a packet (rule LNK-CRC-001). A port that has begun to forward a packet before it shows to be damaged ends it with the bad-packet delimiter, and
// the VCRC with it is the one's complement of the right one (section 7.3).
func (v *Verifier) vcrc(c *qp.Pair, from int, p *packet.Packet) {
	v.Covered(rule.LNKCRC001)
	if p.Flaws&packet.FlawDelimiter != 0 && p.InvertedVCRC() {
		return
	}
	if p.VCRCState == packet.CRCBad && p.ICRCState != packet.CRCBad { // damage that the ICRC shows too is one fault
		v.ReportBytes(c, from, p, rule.Verdict{
			Rule: rule.LNKCRC001, Class: rule.Proven(v.Untouched(p)), Role: rule.Sender,
			Expected: "a VCRC that matches the packet", Actual: fmt.Sprintf("VCRC 0x%04x", p.VCRC),
		})
	}
}

// dropped notes that the receiver drops a packet with a wrong ICRC.
func (v *Verifier) dropped(c *qp.Pair, from int, p *packet.Packet) {
	if c.Reliable() {
		v.Covered(rule.RCRSP036)
	}
	q := &c.Ends[from].SQ
	q.Damage(p, false)
	if q.Retransmission.Active && p.PSN == q.Retransmission.Next && p.Info().Request && p.Info().Payload {
		q.ContinueRetransmission(p.PSN.Add(1)) // it was sent, and in its order
	}
	if p.Info().Response {
		stream.AnswersOldest(&c.Ends[1-from].SQ, p, false)
	}
}

// icrcVariant is the finding on a packet whose ICRC is wrong, but right for another format, if so. No damage makes it that.
func icrcVariant(p *packet.Packet) (d rule.Verdict, ok bool) {
	d = rule.Verdict{Class: rule.Violation, Role: rule.Sender}
	switch p.ICRCVariant() {
	case packet.SealedCongestion:
		d.Rule, d.Expected, d.Actual = rule.CNGIB003, "an ICRC that leaves out FECN and BECN", "one that covers them"
	case packet.SealedVCRC:
		d.Rule, d.Expected, d.Actual = rule.ROCV2002, "the ICRC at the end", "two bytes after it, as a VCRC"
		if p.Encap == packet.RoCEv1 {
			d.Rule = rule.ROCV1001
		}
	case packet.SealedGRH:
		d.Rule, d.Expected, d.Actual = rule.ROCV2002, "the BTH after the UDP header", "a global route header"
	default:
		return d, false
	}
	return d, true
}

// coverICRC counts, at the end, the rules on the format of a packet that its ICRC shows.
func (v *Verifier) coverICRC(e packet.Encap, n uint64) {
	v.Rec.Cover[rule.CNGIB003].Exercised += n
	switch {
	case e == packet.RoCEv1:
		v.Rec.Cover[rule.ROCV1001].Exercised += n
	case e.OnIP():
		v.Rec.Cover[rule.ROCV2002].Exercised += n
	}
}

// otherParameters returns by which other parameters the wrong ICRC of a native packet is right, or "" (rule LNK-CRC-005).
func otherParameters(p *packet.Packet) string {
	if p.Encap != packet.Native {
		return ""
	}
	q := *p
	for _, x := range [...]struct {
		icrc uint32
		how  string
	}{
		{bits.ReverseBytes32(p.ICRC), "with its most significant byte first"},
		{^p.ICRC, "without its inversion"},
		{^bits.ReverseBytes32(p.ICRC), "without its inversion, with its most significant byte first"},
		{bits.Reverse32(p.ICRC), "with its most significant bit first"},
	} {
		q.ICRC = x.icrc
		if q.CheckICRC(); q.ICRCState == packet.CRCGood && q.Flaws == p.Flaws {
			return x.how
		}
	}
	return ""
}

// damagedOnLink takes note of a packet that its receiver drops for what happened to it on the link, whatever its ICRC (rule LNK-CRC-006).
func (v *Verifier) damagedOnLink(c *qp.Pair, from int, p *packet.Packet) {
	if c == nil || p.Has&packet.HasBTH == 0 {
		return
	}
	if c.Service == packet.RC {
		v.Covered(rule.LNKCRC006)
	}
	q := &c.Ends[from].SQ
	q.Damage(p, true)
}

// Length judges a packet whose lengths contradict each other or the frame, so that its ICRC cannot be where they say: the length
// is what is wrong, but who made it wrong, or cut the packet short, is not known.
func (v *Verifier) Length(c *qp.Pair, from int, p *packet.Packet) {
	short := p.Flaws&packet.FlawIPLength != 0 && p.Flaws&packet.FlawUDPLength == 0 // damage changes bits, and takes none off the end
	d := rule.Verdict{Role: rule.Sender, Class: rule.Proven(short && v.Untouched(p))}
	if d.Class == rule.Unproven {
		d.Detail = "the packet may have been cut or damaged on the way to the tap"
		if mayBeTrimmed(c, from, p) {
			d.Detail = MaybeTrimmed
		}
	}
	have := 0
	if len(p.Data) > 0 {
		have = len(p.Data)
	}
	switch {
	case p.Flaws&packet.FlawLRHLength != 0:
		d.Rule, d.Expected, d.Actual = rule.LNKLRH005, "PktLen of the packet", fmt.Sprintf("PktLen %d words, %d bytes in the frame", p.PktLen, have)
	case p.Flaws&packet.FlawUDPLength != 0 && p.Flaws&packet.FlawIPLength == 0:
		d.Rule, d.Expected, d.Actual = rule.ROCV2016, "a UDP length that agrees with the IP length", fmt.Sprintf("UDP length %d", p.UDPLen)
	case p.Encap == packet.RoCEv2IPv4:
		d.Rule, d.Expected, d.Actual = rule.ROCV2006, "Total Length of the packet", fmt.Sprintf("Total Length %d, %d bytes in the frame", p.PayLen, have)
	case p.Encap == packet.RoCEv2IPv6:
		d.Rule, d.Expected, d.Actual = rule.ROCV2014, "Payload Length of the packet", fmt.Sprintf("Payload Length %d, %d bytes in the frame", p.PayLen, have)
	default:
		d.Rule, d.Expected, d.Actual = rule.NETGRH004, "PayLen of the packet", fmt.Sprintf("PayLen %d, %d bytes in the frame", p.PayLen, have)
	}
	v.Covered(d.Rule)
	v.ReportBytes(c, from, p, d)
	if c != nil {
		c.Ends[from].SQ.ExplainNextGap()
		cutShort(c, from, p)
	}
}
