package verifier

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// linkHeaders are the rules on the local route header and the VCRC of native packets.
var linkHeaders = []header{
	{rule.LNKLRH002, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.LVer != 0, "LVer 0", "LVer %d", p.LVer)
	}, false},
	{rule.LNKLRH003, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.LRHRes != 0, "reserved bits of the LRH 0", "0x%02x", p.LRHRes)
	}, false},
	{rule.LNKLRH005, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		bad := p.Flaws&packet.FlawLRHLength != 0 && p.PktLen >= 6 && (p.Has&packet.HasGRH == 0 || int(p.PktLen)*4-48 == int(p.PayLen))
		return differs(bad, "PktLen of the packet from LRH through ICRC", "PktLen %d words", p.PktLen)
	}, false},
	{rule.LNKLRH006, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.LNH >= 2 && p.PktLen < 6, "PktLen at least 6 words", "PktLen %d words", p.PktLen)
	}, false},
	{rule.LNKLID001, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.DLID == 0, "a DLID", "DLID 0")
	}, false},
	{rule.LNKLID003, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		bad := p.SLID == 0 || p.SLID >= 0xC000 && (p.SLID != 0xFFFF || p.DestQP != 0)
		return differs(bad, "a unicast SLID", "SLID 0x%04x", p.SLID)
	}, false},
	{rule.LNKLID004, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.DLID == 0xFFFF && p.DestQP != 0, "the permissive DLID only to QP0", "to QP %d", p.DestQP)
	}, false},
	{rule.LNKVL001, rule.Sender, onLink, func(p *packet.Packet) (string, string) {
		return differs(p.VL == 15 && p.DestQP != 0, "VL15 only to QP0", "VL15 to QP %d", p.DestQP)
	}, false},
}
