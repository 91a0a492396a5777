package header

import (
	"slices"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// linkHeaders are the rules on the local route header and the VCRC of native packets.
var linkHeaders = []header{
	{rule.LNKLRH002, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(p.LVer != 0, "LVer 0", "LVer %d", p.LVer)
	}, false, nil},
	{rule.LNKLRH003, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(p.LRHRes != 0, "reserved bits of the LRH 0", "0x%02x", p.LRHRes)
	}, false, nil},
	{rule.LNKLRH005, rule.Sender, onLink, func(p *packet.Packet) breach {
		bad := p.Flaws&packet.FlawLRHLength != 0 && p.PktLen >= 6 && (p.Has&packet.HasGRH == 0 || int(p.PktLen)*4-48 == int(p.PayLen))
		return mismatch(bad, "PktLen of the packet from LRH through ICRC", "PktLen %d words", p.PktLen)
	}, false, nil},
	{rule.LNKLRH006, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(p.LNH >= 2 && p.PktLen < 6, "PktLen at least 6 words", "PktLen %d words", p.PktLen)
	}, false, nil},
	{rule.LNKLID001, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch0(p.DLID == 0, "a DLID", "DLID 0")
	}, false, nil},
	{rule.LNKLID003, rule.Sender, onLink, func(p *packet.Packet) breach {
		bad := p.SLID == 0 || p.SLID >= 0xC000 && (p.SLID != 0xFFFF || p.DestQP != 0)
		return mismatch(bad, "a unicast SLID", "SLID 0x%04x", p.SLID)
	}, false, nil},
	{rule.LNKLID004, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(p.DLID == 0xFFFF && p.DestQP != 0, "the permissive DLID only to QP0", "to QP %d", p.DestQP)
	}, false, nil},
	{rule.LNKLRH007, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(int(p.PktLen) > mostWords(4096), "PktLen at most 1055 words", "PktLen %d words", p.PktLen)
	}, false, nil},
	{rule.LNKVL002, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch0(p.VL == 15 && p.DestQP == 0 && p.Opcode == packet.Op(packet.UD, packet.SendOnly) && p.Has&packet.HasGRH != 0, "no GRH on VL15", "a GRH")
	}, false, nil},
	{rule.LNKVL001, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch(p.VL == 15 && p.DestQP != 0 && !smpToOtherQP(p), "VL15 only to QP0", "VL15 to QP %d", p.DestQP)
	}, false, nil},
}

// smpToOtherQP reports whether a packet is one of subnet management from QP0 that goes to another queue pair: SMP-FMT-005 speaks of it.
func smpToOtherQP(p *packet.Packet) bool {
	return p.Encap == packet.Native && p.Has&packet.HasDETH != 0 && p.SrcQP == 0 && p.DestQP != 0 && p.PayloadLen == mad.Size && mad.Class(mad.ClassOf(p.Payload)).Subnet()
}

// mostWords is the most that PktLen says where payloads have at most mtu bytes: 126 bytes are for headers and both CRCs.
func mostWords(mtu int) int { return (mtu + 126 - 2) / 4 }

// Raw judges a raw packet, which has an RWH or an IPv6 header in place of the BTH.
func (v *Verifier) Raw(p *packet.Packet) {
	v.Skipped[verifier.SkipService]++
	say := func(id rule.ID, b breach) (broken bool) {
		v.Covered(id)
		if b.actual == nil {
			return false
		}
		v.ReportUnpaired(p, rule.Verdict{Rule: id, Class: rule.Violation, Role: rule.Sender, Expected: b.expected, Actual: b.actual()})
		return true
	}
	if say(rule.LNKLRH006, mismatch(p.PktLen < 5, "PktLen at least 5 words", "PktLen %d words", p.PktLen)) {
		return
	}
	if v.Seal(nil, 0, p); p.VCRCState == packet.CRCBad {
		return
	}
	for i := range linkHeaders {
		if h := &linkHeaders[i]; !slices.Contains(ofBTH, h.id) {
			say(h.id, h.broken(p))
		}
	}
	say(rule.LNKVL001, mismatch0(p.VL == 15, "VL15 only to QP0", "a raw packet on VL15"))
	if p.Has&packet.HasRWH != 0 {
		say(rule.LNKRAW001, mismatch(p.RWHRes != 0, "reserved bits of the RWH 0", "0x%04x", p.RWHRes))
	}
	if p.Has&packet.HasIPv6 != 0 {
		say(rule.LNKLRH004, mismatch(p.IPVer != 6, "an IPv6 header, as LNH 1 says", "IP version %d", p.IPVer))
	}
}

// ofBTH are the rules of linkHeaders that ask the BTH, or that Raw judges in its own way.
var ofBTH = []rule.ID{rule.LNKLRH005, rule.LNKLRH006, rule.LNKLID004, rule.LNKVL001}
