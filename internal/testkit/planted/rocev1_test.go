package planted

import (
	"bytes"

	"ibwitness/packet"
)

// asRoCEv1 carries every packet after EtherType 0x8915 and a GRH, whose GIDs are the mapped IPv4 addresses.
func asRoCEv1(c *Capture, _ int) {
	for _, f := range c.Frames {
		p := f.Packet
		if p == nil {
			continue
		}
		f.Head = append(bytes.Clone(f.Head[:len(f.Head)-2]), 0x89, 0x15)
		p.Has = p.Has&^(packet.HasIPv4|packet.HasUDP) | packet.HasGRH
		p.Encap, p.IPVer, p.NxtHdr, p.HopLmt = packet.RoCEv1, 6, 0x1B, 64
		p.SGID, p.DGID = p.Src, p.Dst
		p.IPID, p.SrcPort, p.DstPort = 0, 0, 0
		p.FitLengths()
		p.SealICRC()
	}
}

// v1Faults are faults in the GRH of RoCEv1. The faults of the BTH and of RC are planted into this base too.
var v1Faults = []fault{
	{"IPVer 4 in the GRH", 98, Set(func(p *packet.Packet) { p.IPVer = 4 }), "NET-GRH-002|ROC-V1-002", "VV", "", 1, ""},
	{"NxtHdr 17 in the GRH", 98, Set(func(p *packet.Packet) { p.NxtHdr = 17 }), "NET-GRH-003|ROC-V1-002", "VV", "", 1, ""},
	{"PayLen + 4", 98, Set(func(p *packet.Packet) { p.PayLen += 4 }), "NET-GRH-004|NET-GRH-005|ROC-V1-002|BTH-018", "**", "", 1, ""},
	{"PayLen - 4", 98, Set(func(p *packet.Packet) { p.PayLen -= 4 }), "NET-GRH-004|NET-GRH-005|ROC-V1-002|BTH-018", "**", "", 1, ""},
	{"SGID zero", 98, Set(func(p *packet.Packet) { p.SGID, p.Src = packet.Addr{}, packet.Addr{} }), "NET-GRH-011", "VV", "", 0, ""},
	{"SGID multicast", 98, Set(func(p *packet.Packet) {
		p.SGID = packet.Addr{Hi: 0xFF02 << 48, Lo: 1}
		p.Src = p.SGID
	}), "NET-GRH-011", "VV", "", 0, ""},
	{"DGID of another host", 98, Set(func(p *packet.Packet) { p.DGID.Lo += 7; p.Dst = p.DGID }), "NET-GRH-007", "VV", "", 0, ""},
	{"SGID of another host", 98, On(Set(func(p *packet.Packet) { p.SGID.Lo++; p.Src = p.SGID }), 98, 99), "NET-GRH-007|NET-GRH-013|BTH-019|ROC-V2-029|RC-PSN-004", "**", "10.77.0.1", 3, ""},
	{"TClass of one packet", 98, Set(func(p *packet.Packet) { p.TClass = 0x40 }), "NET-GRH-013", "**", "", 0, ""},
	{"flow label of one packet", 98, Set(func(p *packet.Packet) { p.FlowLabel = 77 }), "NET-GRH-013", "**", "", 0, ""},
	{"ICRC wrong", 98, Unsealed(func(p *packet.Packet) { p.ICRC++ }), "LNK-CRC-004|ROC-V2-019", "UV", "", 1, ""},
	{"one packet as RoCEv2", 98, func(c *Capture, at int) {
		f := c.Frame(at)
		p := f.Packet
		f.Head = append(bytes.Clone(f.Head[:len(f.Head)-2]), 8, 0)
		p.Has = p.Has&^packet.HasGRH | packet.HasIPv4 | packet.HasUDP
		p.Encap, p.IPVer, p.NxtHdr, p.IHL, p.IPFrag = packet.RoCEv2IPv4, 4, 17, 5, 0x4000
		p.SrcPort, p.DstPort = 0xC123, 4791
		p.FitLengths()
		seal(p)
	}, "ROC-V2-027", "VV", "", 0, ""},
}
