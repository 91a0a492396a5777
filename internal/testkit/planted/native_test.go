package planted

import "ibwitness/packet"

// nativeFaults are faults on an InfiniBand link. lid:24 and lid:8 exchange SENDs, odd frames, and their ACKs, even frames, with
// end-to-end credits.
var nativeFaults = []fault{
	{"FECN set at the source", 21, Set(func(p *packet.Packet) { p.FECN = true }), "CNG-IB-001", "-V", "", 0, ""},
	{"VCRC wrong", 21, Unsealed(func(p *packet.Packet) { p.VCRC ^= 1 }), "LNK-CRC-001", "UV", "", 0, ""},
	{"ICRC wrong, VCRC right", 21, badICRC, "LNK-CRC-003", "UV", "", 1, ""},
	{"LVer 1", 21, Set(func(p *packet.Packet) { p.LVer = 1 }), "LNK-LRH-002", "VV", "", 0, ""},
	{"reserved bits of the LRH", 21, Set(func(p *packet.Packet) { p.LRHRes = 0x60 }), "LNK-LRH-003", "VV", "", 0, ""},
	{"reserved bits above PktLen", 21, Set(func(p *packet.Packet) { p.LRHRes = 1 }), "LNK-LRH-003", "VV", "", 0, ""},
	{"PktLen + 1", 21, Set(func(p *packet.Packet) { p.PktLen++ }), "LNK-LRH-005", "**", "", 1, ""},
	{"PktLen - 1", 21, Set(func(p *packet.Packet) { p.PktLen-- }), "LNK-LRH-005", "**", "", 1, ""},
	{"PktLen 5", 22, Set(func(p *packet.Packet) { p.PktLen = 5 }), "LNK-LRH-006|LNK-LRH-005|BTH-018", "**", "", 1, ""},
	{"SLID 0", 21, Set(func(p *packet.Packet) { p.SLID = 0; p.Src = packet.LIDAddr(0) }), "LNK-LID-003", "VV", "", 0, ""},
	{"SLID multicast", 21, Set(func(p *packet.Packet) { p.SLID = 0xC001 }), "LNK-LID-003", "VV", "", 0, ""},
	{"SLID of another port", 21, On(Set(func(p *packet.Packet) { p.SLID = 9 }), 21, 25), "BTH-019|RC-PSN-004", "**", "", 1, ""},
	{"DLID 0", 21, Set(func(p *packet.Packet) { p.DLID = 0 }), "LNK-LID-001", "VV", "", 1, ""},
	{"DLID permissive", 21, Set(func(p *packet.Packet) { p.DLID = 0xFFFF }), "LNK-LID-004", "VV", "", 1, ""},
	{"DLID multicast on RC", 21, Set(func(p *packet.Packet) { p.DLID = 0xC001 }), "UD-MC-004", "VV", "", 1, ""},
	{"VL15 to another QP than 0", 21, Set(func(p *packet.Packet) { p.VL = 15 }), "LNK-VL-001", "VV", "", 0, ""},
	{"LNH 3 without a GRH", 21, Set(func(p *packet.Packet) { p.LNH = 3 }), "LNK-LRH-005|NET-GRH-002|LNK-LRH-004|NET-GRH-005|NET-GRH-004|LNK-CRC-004|LNK-CRC-003", "**", "", 1, ""},
	{"TVer 1", 21, Set(func(p *packet.Packet) { p.TVer = 1 }), "BTH-002", "VV", "", 0, ""},
	{"PSN + 1", 25, Set(psn(1)), "RC-PSN-004", "UV", "", 2, ""},
	{"PSN - 1", 25, Set(psn(-1)), "RC-PSN-002|RC-RTY-004|RC-PSN-004", "*V", "", 2, ""},
	{"SEND missing", 25, Remove(29), "RC-PSN-004", "UV", "", 0, ""},
	{"ACK of PSN + 100", 26, Set(psn(100)), "RC-RSP-006", "*V", "", 0, ""},
	{"MSN + 1", 26, Set(msn(1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN - 1", 26, Set(msn(-1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"reserved syndrome", 26, Set(syndrome(0x5F)), "RC-RSP-022", "VV", "", 0, ""},
	{"SEND Only becomes Middle", 25, Become(rc(packet.SendMiddle)), "RC-SEQ-003", "VV", "", 2, ""},
	{"UC opcode on an RC QP", 25, Become(uc(packet.SendOnly)), "BTH-004", "VV", "", 0, ""},
	{"P_Key 0", 21, Set(func(p *packet.Packet) { p.PKey = 0 }), "PKY-001", "VV", "", 0, ""},
	{"GRH on one packet of a local connection", 21, withGRH, "NET-GRH-006", "**", "", 0, ""},
	{"GRH with a wrong PayLen", 21, All(withGRH, Set(func(p *packet.Packet) { p.PayLen += 4 })), "NET-GRH-004|NET-GRH-005", "VV", "", 2, ""},
	{"GRH with IPVer 4", 21, All(withGRH, Set(func(p *packet.Packet) { p.IPVer = 4 })), "NET-GRH-002", "VV", "", 1, ""},
	{"GRH with NxtHdr 17", 21, All(withGRH, Set(func(p *packet.Packet) { p.NxtHdr = 17 })), "NET-GRH-003", "VV", "", 1, ""},
	{"GRH with a multicast SGID", 21, All(withGRH, Set(func(p *packet.Packet) { p.SGID.Hi |= 0xFF << 56 })), "NET-GRH-011", "VV", "", 1, ""},
	{"SL of one packet in mid connection", 25, Set(func(p *packet.Packet) { p.SL = 3 }), "LNK-SL-001|LNK-VL-007", "**", "", 0, ""},
	{"SL of one ACK in mid connection", 26, Set(func(p *packet.Packet) { p.SL = 3 }), "LNK-SL-001|LNK-VL-007", "**", "", 0, ""},
	{"SL of all packets of one side", 21, On(Each(func(p *packet.Packet) bool { return p.SLID == 24 }, func(p *packet.Packet) { p.SL = 3 }), 2), "LNK-SL-001|LNK-VL-007", "**", "lid:24|lid:8", 2, ""},
	{"DLID of another port in mid connection", 25, On(Set(func(p *packet.Packet) { p.DLID++; p.Dst = packet.LIDAddr(p.DLID) }), 25, 29), "BTH-019|RC-PSN-004|BTH-011", "**", "", 1, ""},
	{"SLID of another port in mid connection", 25, On(Set(func(p *packet.Packet) { p.SLID++; p.Src = packet.LIDAddr(p.SLID) }), 25, 29), "BTH-019|RC-PSN-004|BTH-011", "**", "", 1, ""},
	{"SLID of another port in an ACK", 26, Set(func(p *packet.Packet) { p.SLID++; p.Src = packet.LIDAddr(p.SLID) }), "BTH-019", "**", "", 1, ""},
	{"LNH 0", 25, On(Set(func(p *packet.Packet) { p.LNH = 0 }), 25, 29), "LNK-LRH-004|LNK-LRH-005|LNK-RAW-001|LNK-CRC-002|RC-PSN-004", "**", "", 2, ""},
	{"LNH 1", 25, On(Set(func(p *packet.Packet) { p.LNH = 1 }), 25, 29), "LNK-LRH-004|LNK-LRH-005|LNK-RAW-001|LNK-CRC-002|RC-PSN-004", "**", "", 2, ""},
	{"PktLen + 5", 25, Set(func(p *packet.Packet) { p.PktLen += 5 }), "LNK-LRH-005", "**", "", 1, ""},
	{"PktLen - 5", 25, Set(func(p *packet.Packet) { p.PktLen -= 5 }), "LNK-LRH-005", "**", "", 1, ""},
	{"PktLen 2047", 25, Set(func(p *packet.Packet) { p.PktLen = 2047 }), "LNK-LRH-005|LNK-LRH-007", "**", "", 1, ""},
	{"VCRC wrong in an ACK", 26, Unsealed(func(p *packet.Packet) { p.VCRC ^= 0x8000 }), "LNK-CRC-001", "UV", "", 0, ""},
	{"VCRC wrong in all packets of one side", 21, func(c *Capture, at int) {
		for _, f := range c.Frames {
			if p := f.Packet; p != nil && p.SLID == 8 {
				p.VCRC ^= 1
				c.Accepted = append(c.Accepted, f)
			}
		}
	}, "LNK-CRC-001", "**", "", 2, ""},
	{"VCRC wrong everywhere", 1, func(c *Capture, at int) {
		for _, f := range c.Frames {
			if f.Packet != nil {
				f.Packet.VCRC ^= 1
			}
		}
	}, "LNK-CRC-001", "UU", "capture", 0, ""},
	{"GRH, ICRC wrong", 21, All(withGRH, badICRC), "LNK-CRC-004", "UV", "", 1, ""},
}

// badICRC damages the ICRC and leaves the VCRC right.
func badICRC(c *Capture, at int) {
	p := c.Frame(at).Packet
	p.SealICRC()
	p.ICRC ^= 1
	has := p.Has
	p.Has &^= packet.HasICRC
	p.Payload = append(p.Payload, byte(p.ICRC), byte(p.ICRC>>8), byte(p.ICRC>>16), byte(p.ICRC>>24))
	pad := p.Pad
	p.Payload, p.Pad = append(append(p.Payload[:len(p.Payload)-4:len(p.Payload)-4], pad...), p.Payload[len(p.Payload)-4:]...), nil
	p.SealICRC() // only the VCRC: there is no ICRC now
	p.Payload = p.Payload[:len(p.Payload)-4-len(pad)]
	p.Pad, p.Has = pad, has
}

// withGRH puts a GRH between LRH and BTH.
func withGRH(c *Capture, at int) {
	p := c.Frame(at).Packet
	p.Has |= packet.HasGRH
	p.LNH, p.IPVer, p.NxtHdr, p.HopLmt = packet.LNHGlobal, 6, 0x1B, 1
	p.SGID, p.DGID = packet.Addr{Hi: 0xFE80 << 48, Lo: 1}, packet.Addr{Hi: 0xFE80 << 48, Lo: 2}
	p.FitLengths()
	seal(p)
}

// wikiFaults are faults in management and multicast datagrams. Frame 1 is an SMP, 3 and 26 IPoIB multicasts with GRH, 6 an IPoIB
// unicast, 7 a CM REQ of lid:4, 10 the first SEND of the connection.
var wikiFaults = []fault{
	{"SMP of 252 bytes", 1, Resize(252), "UD-QP0-001", "VV", "", 0, ""},
	{"SMP on VL0", 1, Set(func(p *packet.Packet) { p.VL = 0 }), "UD-QP0-001", "VV", "", 0, ""},
	{"SMP with immediate", 1, Become(ud(packet.SendOnlyImm)), "UD-QP0-001", "VV", "", 1, ""},
	{"RC to QP 0", 1, Become(rc(packet.SendOnly)), "BTH-010", "VV", "", 1, ""},
	{"GMP on VL15", 7, Set(func(p *packet.Packet) { p.VL = 15 }), "UD-QP1-001|LNK-VL-001", "VV", "", 1, ""},
	{"GMP with another Q_Key", 7, Set(func(p *packet.Packet) { p.QKey = 1 }), "UD-QKEY-003", "VV", "", 0, ""},
	{"GMP of 128 bytes", 8, Resize(128), "CM-FMT-003", "VV", "", 0, ""},
	{"multicast without GRH", 3, Set(func(p *packet.Packet) { p.Has &^= packet.HasGRH; p.LNH = 2; p.FitLengths() }), "NET-GRH-009|UD-MC-002", "VV", "", 0, ""},
	{"multicast with a unicast DGID", 3, Set(func(p *packet.Packet) { p.DGID.Hi = 0xFE80 << 48 }), "NET-GRH-009|UD-MC-002", "VV", "", 0, ""},
	{"multicast LID with a unicast QP", 3, Set(func(p *packet.Packet) { p.DestQP = 0x48 }), "UD-MC-001", "VV", "", 0, ""},
	{"unicast LID with the multicast QP", 6, Set(func(p *packet.Packet) { p.DestQP = 0xFFFFFF }), "UD-MC-001|NET-GRH-009", "VV", "", 1, ""},
	{"MGID of reserved scope", 3, Set(func(p *packet.Packet) { p.DGID.Hi = p.DGID.Hi&^(0xF<<48) | 0xF<<48 }), "NET-GRH-012", "VV", "", 0, ""},
	{"MGID with reserved flags", 3, Set(func(p *packet.Packet) { p.DGID.Hi |= 8 << 52 }), "NET-GRH-012", "VV", "", 0, ""},
	{"GRH PayLen + 4", 3, Set(func(p *packet.Packet) { p.PayLen += 4 }), "NET-GRH-004|NET-GRH-005", "VV", "", 1, ""},
	{"GRH IPVer 4", 3, Set(func(p *packet.Packet) { p.IPVer = 4 }), "NET-GRH-002", "VV", "", 1, ""},
	{"GRH NxtHdr 0x3a", 26, Set(func(p *packet.Packet) { p.NxtHdr = 0x3A }), "NET-GRH-003", "VV", "", 1, ""},
	{"SGID zero", 3, Set(func(p *packet.Packet) { p.SGID = packet.Addr{} }), "NET-GRH-011", "VV", "", 0, ""},
	{"start PSN that CM did not name", 10, Set(psn(1)), "RC-PSN-001", "UV", "", 1, ""},
	{"P_Key that CM did not name", 10, Set(func(p *packet.Packet) { p.PKey = 0x8123 }), "PKY-004", "VV", "", 0, ""},
	{"MSN that does not begin at 0", 11, Set(msn(9)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"reserved byte of the DETH", 6, Set(func(p *packet.Packet) { p.DETHRes = 0x80 }), "UD-HDR-002", "VV", "", 0, ""},
}
