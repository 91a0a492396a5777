package planted

import (
	"encoding/binary"

	"ibwitness/packet"
)

// ipv4Faults are faults in the headers before the BTH.
var ipv4Faults = []fault{
	{"IHL 6: an option", 98, Set(func(p *packet.Packet) { p.IHL = 6; p.Data = append(p.Data[:20:20], 1, 1, 1, 0); p.FitLengths() }), "ROC-V2-003", "VV", "", 0, ""},
	{"DF clear", 98, Set(func(p *packet.Packet) { p.IPFrag = 0 }), "ROC-V2-007", "VV", "", 0, ""},
	{"reserved IP flag set", 98, Set(func(p *packet.Packet) { p.IPFrag = 0xC000 }), "ROC-V2-007", "VV", "", 0, ""},
	{"MF set", 98, Set(func(p *packet.Packet) { p.IPFrag = 0x2000 }), "ROC-V2-008", "VV", "", 1, ""},
	{"DF and MF set", 103, Set(func(p *packet.Packet) { p.IPFrag = 0x6000 }), "ROC-V2-008", "VV", "", 1, ""},
	{"total length + 4", 98, Unsealed(func(p *packet.Packet) { p.PayLen += 4; p.SealIPv4() }), "ROC-V2-006|ROC-V2-019", "**", "", 1, ""},
	{"total length - 4", 98, Unsealed(func(p *packet.Packet) { p.PayLen -= 4; p.SealIPv4() }), "ROC-V2-006|ROC-V2-016|ROC-V2-019", "**", "", 1, ""},
	{"total length + 4, ICRC over it", 98, Set(func(p *packet.Packet) { p.PayLen += 4 }), "ROC-V2-006", "VV", "", 1, ""},
	{"UDP length - 4, ICRC over it", 98, Set(func(p *packet.Packet) { p.UDPLen -= 4 }), "ROC-V2-016", "VV", "", 0, ""},
	{"UDP length + 8 in an ACK", 103, Set(func(p *packet.Packet) { p.UDPLen += 8 }), "ROC-V2-016", "VV", "", 0, ""},
	{"UDP length 0", 98, Set(func(p *packet.Packet) { p.UDPLen = 0 }), "ROC-V2-016", "VV", "", 0, ""},
	{"UDP checksum wrong", 98, Set(func(p *packet.Packet) { p.UDPSum = 0x1234 }), "ROC-V2-017", "UV", "", 0, ""},
	{"UDP source port of one packet", 98, Set(func(p *packet.Packet) { p.SrcPort = 0xC001 }), "ROC-V2-018", "VV", "", 0, ""},
	{"UDP source port 53 of one packet", 98, Set(func(p *packet.Packet) { p.SrcPort = 53 }), "ROC-V2-018", "VV", "", 1, ""},
	{"ECN 11", 98, Set(func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", "-V", "", 1, ""}, // A is not ECN-capable
	{"DSCP of one packet", 98, Set(func(p *packet.Packet) { p.TClass = 26 << 2 }), "NET-GRH-013|ROC-V2-004", "**", "", 0, ""},
	{"IP source address multicast", 98, Set(func(p *packet.Packet) { p.Src = packet.IPv4Addr([]byte{239, 1, 1, 1}) }), "NET-GRH-011", "VV", "", 0, ""},
	{"IP source address of another host", 98, Set(func(p *packet.Packet) { p.Src = packet.IPv4Addr([]byte{10, 77, 0, 9}) }), "ROC-V2-029", "VV", "", 0, ""},
	{"IP source address of another host in an ACK", 103, Set(func(p *packet.Packet) { p.Src = packet.IPv4Addr([]byte{10, 77, 0, 9}) }), "ROC-V2-029", "UU", "", 0, ""},
	{"IP source address of another host in a READ Response Middle", 135, Set(func(p *packet.Packet) { p.Src = packet.IPv4Addr([]byte{10, 77, 0, 9}) }), "ROC-V2-029", "**", "", 1, ""},
	{"IP destination address of another host", 98, Set(func(p *packet.Packet) { p.Dst = packet.IPv4Addr([]byte{10, 77, 0, 9}) }), "ROC-V2-012", "VV", "", 0, ""},
	{"IP destination address multicast", 98, Set(func(p *packet.Packet) { p.Dst = packet.IPv4Addr([]byte{239, 1, 1, 1}) }), "UD-MC-004", "VV", "", 0, ""},
	{"ICRC wrong in a request", 98, Unsealed(func(p *packet.Packet) { p.ICRC ^= 1 }), "ROC-V2-019", "UV", "", 1, ""},
	{"ICRC wrong in an ACK", 103, Unsealed(func(p *packet.Packet) { p.ICRC ^= 0x80000000 }), "ROC-V2-019", "UV", "", 0, ""},
	{"payload bit damaged", 98, Unsealed(func(p *packet.Packet) { p.Payload[17] ^= 4 }), "ROC-V2-019", "UV", "", 1, ""},
	{"ICRC over unmasked headers", 98, Unsealed(func(p *packet.Packet) { p.ICRC = 0xDEADBEEF }), "ROC-V2-019", "UV", "", 1, ""},
	{"ICRC wrong in a READ Response Middle", 135, Unsealed(func(p *packet.Packet) { p.ICRC ^= 1 }), "ROC-V2-019", "UV", "", 1, ""},
	{"ICRC wrong everywhere", 1, everyICRC(all), "ROC-V2-019", "UU", "capture", 0, ""},
	{"ICRC wrong in all that one endpoint sends", 2, everyICRC(from("10.77.0.2")), "ROC-V2-019", "U*", "", 0, ""},
	{"UDP destination port 4790", 98, Set(func(p *packet.Packet) { p.DstPort = 4790 }), "ROC-V2-015", "VV", "", 0, ""},
	{"IP protocol 6", 98, Set(func(p *packet.Packet) { p.NxtHdr = 6 }), "ROC-V2-010", "VV", "", 0, ""},
	{"frame shorter than its IP packet", 98, cut(40), "ROC-V2-006|BTH-018", "**", "", 1, ""},
	{"packet ends in its BTH", 98, Unsealed(func(p *packet.Packet) {
		p.Payload, p.Pad, p.Has = nil, nil, p.Has&^packet.HasICRC
		p.FitLengths()
		p.PayLen -= 2
		p.UDPLen -= 2
		p.SealIPv4()
	}), "BTH-001", "**", "", 1, ""},
}

func everyICRC(which func(*packet.Packet) bool) Plant {
	return func(c *Capture, _ int) {
		for _, f := range c.Frames {
			if f.Packet != nil && which(f.Packet) {
				f.Packet.ICRC ^= 0x01010101
			}
		}
	}
}

// cut takes bytes from the end of a frame and lets its IP header say that they are there.
func cut(n int) Plant {
	return func(c *Capture, at int) {
		f := c.Frame(at)
		b := f.bytes(c.Link)
		f.Raw, f.Packet = b[:len(b)-n], nil
	}
}

// ipv6Faults are faults in the headers before the BTH. Frame 10 is a READ Request, 12 a SEND Only, 13 its ACK.
var ipv6Faults = []fault{
	{"payload length + 4", 12, Set(func(p *packet.Packet) { p.PayLen += 4 }), "ROC-V2-014", "VV", "", 1, ""},
	{"payload length - 4", 12, Set(func(p *packet.Packet) { p.PayLen -= 4 }), "ROC-V2-014|ROC-V2-016", "VV", "", 1, ""},
	{"UDP length + 4", 12, Set(func(p *packet.Packet) { p.UDPLen += 4 }), "ROC-V2-016", "VV", "", 0, ""},
	{"UDP checksum wrong", 12, Set(func(p *packet.Packet) { p.UDPSum = 1 }), "ROC-V2-017", "UV", "", 0, ""},
	{"ECN 11", 12, Set(func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", "-V", "", 0, ""},
	{"flow label of one packet", 14, Set(func(p *packet.Packet) { p.FlowLabel ^= 0x111 }), "NET-GRH-013", "**", "", 0, ""},
	{"source address zero", 12, Set(func(p *packet.Packet) { p.Src = packet.Addr{} }), "NET-GRH-011", "VV", "", 0, ""},
	{"hop-by-hop options", 12, extension, "ROC-V2-014", "VV", "", 0, ""},
}

// extension puts an IPv6 hop-by-hop header before UDP. The ICRC stays one over what is there.
func extension(c *Capture, at int) {
	p := c.Frame(at).Packet
	p.Flaws |= packet.FlawExtension
	d := append([]byte(nil), p.Data[:40]...)
	p.Data = append(d, 17, 0, 1, 4, 0, 0, 0, 0)
	p.BTHOff += 8
	p.NxtHdr = 0
	p.PayLen += 8
	binary.BigEndian.PutUint16(p.Data[4:], p.PayLen)
	seal(p)
}
