package planted

import "ibwitness/packet"

func ud(f packet.Fn) packet.Opcode { return packet.Op(packet.UD, f) }

// udFaults are faults of a UD sender: a ping-pong of SEND Only between QP 0x41 and QP 0x4a.
var udFaults = []fault{
	{"UD SEND First", 9, Become(ud(packet.SendFirst)), "UD-OPC-001|BTH-003", "VV", "", 1, ""},
	{"UD WRITE Only", 9, Become(ud(packet.WriteOnly)), "UD-OPC-001|BTH-003", "VV", "", 1, ""},
	{"UD opcode 0x7f", 9, Become(0x7F), "UD-OPC-001|BTH-003", "VV", "", 1, ""},
	{"UD Acknowledge", 10, Become(ud(packet.Acknowledge)), "UD-ACK-001|UD-OPC-001|BTH-003", "VV", "", 1, ""},
	{"RC opcode on a UD QP", 9, Become(rc(packet.SendOnly)), "BTH-004", "*V", "", 0, ""},
	{"UC opcode on a UD QP", 9, Become(uc(packet.SendOnly)), "BTH-004", "*V", "", 0, ""},
	{"RC opcode on a UD QP, the other way", 10, Become(rc(packet.SendOnly)), "BTH-004", "*V", "", 0, ""},
	{"UC Acknowledge to a UD QP", 10, Become(uc(packet.Acknowledge)), "BTH-004|UC-RSP-001", "*V", "", 1, ""},
	{"RD opcode on a UD QP", 9, Become(packet.Op(packet.RD, packet.SendOnly)), "BTH-004", "*V", "", 0, ""},
	{"XRC opcode on a UD QP, the other way", 10, Become(packet.Op(packet.XRC, packet.SendOnly)), "BTH-004", "*V", "", 0, ""},
	{"Q_Key of the first packet", 1, On(Set(func(p *packet.Packet) { p.QKey ^= 1 }), 1, 3), "UD-QKEY-001", "UU", "", 0, ""},
	{"reserved byte of the DETH", 9, Set(func(p *packet.Packet) { p.DETHRes = 1 }), "UD-HDR-002", "VV", "", 0, ""},
	{"AckReq on UD", 9, Set(func(p *packet.Packet) { p.AckReq = true }), "BTH-015", "VV", "", 0, ""},
	{"payload of 4100 bytes", 9, Resize(4100), "UD-LEN-001", "VV", "", 0, ""},
	{"Q_Key of one packet", 9, Set(func(p *packet.Packet) { p.QKey ^= 1 }), "UD-QKEY-001", "**", "", 0, ""},
	{"P_Key 0", 9, Set(func(p *packet.Packet) { p.PKey = 0 }), "PKY-001", "VV", "", 0, ""},
	{"to QP 1 with another Q_Key", 9, Set(func(p *packet.Packet) { p.DestQP = 1 }), "UD-QKEY-003|UD-QP1-001", "VV", "", 1, ""},
	{"to QP 1 with its Q_Key", 9, Set(func(p *packet.Packet) { p.DestQP = 1; p.QKey = 0x80010000 }), "UD-QP1-001", "VV", "", 0, ""},
	{"to QP 0", 9, Set(func(p *packet.Packet) { p.DestQP = 0 }), "UD-QP1-002", "VV", "", 0, ""},
	{"to the multicast QP at a unicast address", 9, Set(func(p *packet.Packet) { p.DestQP = 0xFFFFFF }), "UD-MC-001|NET-GRH-009", "VV", "", 0, ""},
	{"TVer 2", 9, Set(func(p *packet.Packet) { p.TVer = 2 }), "BTH-002", "VV", "", 0, ""},
	{"payload of 61 bytes without pad", 9, Set(func(p *packet.Packet) { p.Payload = p.Payload[:60]; p.FitLengths() }), "BTH-006", "VV", "", 0, ""},
	{"ICRC wrong", 9, Unsealed(func(p *packet.Packet) { p.ICRC++ }), "ROC-V2-019", "UV", "", 0, ""},
	{"reserved bits beside AckReq", 9, Set(func(p *packet.Packet) { p.Resv7 = 3 }), "BTH-009", "VV", "", 0, ""},
	{"ECN 11", 9, Set(func(p *packet.Packet) { p.TClass |= 3 }), "ROC-V2-005", "-V", "", 0, ""},
	{"MF set", 9, Set(func(p *packet.Packet) { p.IPFrag |= 0x2000 }), "ROC-V2-008", "VV", "", 0, ""},
}

// multicastFaults are faults of a sender to a group.
var multicastFaults = []fault{
	{"QP 5 at a multicast address", 7, Set(func(p *packet.Packet) { p.DestQP = 5 }), "UD-MC-001", "VV", "", 0, ""},
	{"RC to the multicast QP", 7, Become(rc(packet.SendOnly)), "UD-MC-004", "VV", "", 1, ""},
	{"unicast address for the multicast QP", 7, Set(func(p *packet.Packet) { p.Dst = packet.IPv4Addr([]byte{10, 77, 0, 2}) }), "UD-MC-001", "VV", "", 0, ""},
	{"multicast source address", 7, Set(func(p *packet.Packet) { p.Src = p.Dst }), "NET-GRH-011", "VV", "239.1.2.3", 0, ""},
	{"UC to the multicast QP", 7, Become(uc(packet.SendOnly)), "UD-MC-004", "VV", "", 1, ""},
}
