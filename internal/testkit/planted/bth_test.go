package planted

import "ibwitness/packet"

// bthFaults are faults in the base transport header. Frames 98 to 101 are SEND Only, SEND Only with immediate and two WRITE Only, 102
// to 105 their ACKs; 71 to 78 are one SEND, 127 a READ of 2000 bytes, 132 to 139 its responses.
var bthFaults = []fault{
	{"TVer 1 in a request", 98, Set(func(p *packet.Packet) { p.TVer = 1 }), "BTH-002", "VV", "", 0, ""},
	{"TVer 15 in an ACK", 103, Set(func(p *packet.Packet) { p.TVer = 15 }), "BTH-002", "VV", "", 0, ""},
	{"reserved opcode 0x15", 98, Become(0x15), "BTH-003", "VV", "", 0, ""},
	{"reserved opcode 0x1f", 98, Become(0x1F), "BTH-003", "VV", "", 0, ""},
	{"reserved opcode of a CNP's service", 98, Become(0x85), "BTH-003", "VV", "", 1, ""},
	{"reserved opcode in a response", 103, Become(0x1B), "BTH-003", "VV", "", 0, ""},
	{"UC opcode on an RC QP", 98, Become(uc(packet.SendOnly)), "BTH-004", "VV", "", 0, ""},
	{"UD opcode on an RC QP", 98, Become(packet.Op(packet.UD, packet.SendOnly)), "BTH-004", "VV", "", 1, ""},
	{"RD opcode on an RC QP", 98, Become(packet.Op(packet.RD, packet.SendOnly)), "BTH-004", "VV", "", 0, ""},
	{"XRC opcode on an RC QP", 98, Become(packet.Op(packet.XRC, packet.SendOnly)), "BTH-004", "VV", "", 0, ""},
	{"vendor opcode on an RC QP", 98, Become(0xC4), "BTH-004", "VV", "", 0, ""},
	{"UC opcode in the middle of a SEND", 74, Become(uc(packet.SendMiddle)), "BTH-004", "VV", "", 0, ""},
	{"UC Acknowledge on an RC QP", 103, Become(uc(packet.Acknowledge)), "UC-RSP-001|BTH-004|BTH-003", "VV", "", 1, ""},
	{"PadCnt 1 in a SEND Middle", 73, Set(func(p *packet.Packet) { p.PadCnt = 1 }), "BTH-007", "VV", "", 2, ""},
	{"PadCnt 1 in a WRITE First", 37, Set(func(p *packet.Packet) { p.PadCnt = 1 }), "BTH-007", "VV", "", 3, ""},
	{"PadCnt 2 in a WRITE Only", 100, Set(func(p *packet.Packet) { p.PadCnt = 2 }), "RC-LEN-005", "VV", "", 1, ""},
	{"PadCnt 2 in an ACK", 103, Set(func(p *packet.Packet) { p.PadCnt = 2 }), "BTH-007", "VV", "", 0, ""},
	{"PadCnt 3 in a READ Request", 239, Set(func(p *packet.Packet) { p.PadCnt = 3 }), "BTH-007|BTH-018", "VV", "", 1, ""},
	{"PadCnt 1 in a READ Response Middle", 134, Set(func(p *packet.Packet) { p.PadCnt = 1 }), "BTH-007", "VV", "", 2, ""},
	{"payload of 255 bytes without pad", 98, Set(func(p *packet.Packet) { p.Payload = p.Payload[:255]; p.FitLengths() }), "BTH-006", "VV", "", 0, ""},
	{"pad byte not zero", 13, Set(func(p *packet.Packet) { p.Pad[0] = 0xA5 }), "BTH-008", "VV", "", 0, ""},
	{"reserved bits of byte 4 in a request", 98, Set(func(p *packet.Packet) { p.Resv8a = 1 }), "BTH-009", "UV", "", 0, ""},
	{"reserved bits beside AckReq in a request", 98, Set(func(p *packet.Packet) { p.Resv7 = 0x40 }), "BTH-009", "VV", "", 0, ""},
	{"reserved bits beside AckReq in an ACK", 103, Set(func(p *packet.Packet) { p.Resv7 = 1 }), "BTH-009", "VV", "", 0, ""},
	{"SE in a SEND First", 71, Set(func(p *packet.Packet) { p.SE = true }), "BTH-012", "VV", "", 0, ""},
	{"SE in a WRITE Only", 100, Set(func(p *packet.Packet) { p.SE = true }), "BTH-012", "VV", "", 0, ""},
	{"SE in a READ Request", 127, Set(func(p *packet.Packet) { p.SE = true }), "BTH-012", "VV", "", 0, ""},
	{"SE in a READ Response Middle", 134, Set(func(p *packet.Packet) { p.SE = true }), "BTH-012", "VV", "", 0, ""},
	{"FECN set", 98, Set(func(p *packet.Packet) { p.FECN = true }), "BTH-016", "UV", "", 0, ""},
	{"BECN set in an ACK", 103, Set(func(p *packet.Packet) { p.BECN = true }), "BTH-016", "UV", "", 0, ""},
	{"DestQP 0", 98, Set(func(p *packet.Packet) { p.DestQP = 0 }), "BTH-010|UD-QP1-002", "VV", "", 2, ""},
	{"DestQP 1", 98, Set(func(p *packet.Packet) { p.DestQP = 1 }), "BTH-010", "VV", "", 1, ""},
	{"DestQP 0xffffff", 98, Set(func(p *packet.Packet) { p.DestQP = 0xFFFFFF }), "UD-MC-004|BTH-010", "VV", "", 1, ""},
	{"DestQP + 1 in a request", 98, On(Set(func(p *packet.Packet) { p.DestQP++ }), 98, 99), "BTH-011|RC-PSN-004", "*V", "", 0, ""},
	{"DestQP of the requester in a request", 98, On(Set(func(p *packet.Packet) { p.DestQP = 0x4D }), 98, 99), "BTH-011|RC-PSN-004", "*V", "", 1, ""},
	{"DestQP + 1 in an ATOMIC Acknowledge", 109, On(Set(func(p *packet.Packet) { p.DestQP++ }), 109, 121), "BTH-011|RC-RSP-007", "UV", "", 1, ""},
	{"DestQP + 1 in a READ Response Middle", 135, On(Set(func(p *packet.Packet) { p.DestQP++ }), 135, 136), "BTH-011|RC-RES-001", "UV", "", 1, ""},
	{"MigReq set in one request", 98, Set(func(p *packet.Packet) { p.MigReq = true }), "BTH-013", "VV", "", 0, ""},
	{"SE in an ACK", 103, Set(func(p *packet.Packet) { p.SE = true }), "RC-RSP-008", "VV", "", 0, ""},
	{"AckReq in an ACK", 103, Set(func(p *packet.Packet) { p.AckReq = true }), "RC-RSP-008|RC-RSP-037|BTH-015", "VV", "", 0, ""},
	{"AckReq in a READ Response Middle", 133, Set(func(p *packet.Packet) { p.AckReq = true }), "RC-RSP-037|BTH-015", "VV", "", 0, ""},
	{"AckReq in an ATOMIC Acknowledge", 140, Set(func(p *packet.Packet) { p.AckReq = true }), "RC-RSP-037|BTH-015", "VV", "", 0, ""},
	{"P_Key 0x0000", 98, Set(func(p *packet.Packet) { p.PKey = 0 }), "PKY-001", "VV", "", 0, ""},
	{"P_Key 0x8000 in an ACK", 103, Set(func(p *packet.Packet) { p.PKey = 0x8000 }), "PKY-001", "VV", "", 0, ""},
	{"another P_Key in one request", 98, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-004", "**", "", 0, ""},
	{"another P_Key in one ACK", 103, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-004|RC-RSP-037|PKY-002", "**", "", 0, ""},
	{"limited P_Key in both directions", 2, Each(all, func(p *packet.Packet) { p.PKey = 0x7FFF }), "PKY-006", "VV", "", 1, ""},
	{"P_Keys of different partitions", 2, Each(from("10.77.0.2"), func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-002|PKY-004", "**", "", 1, ""},
}

func all(*packet.Packet) bool { return true }

func from(addr string) func(p *packet.Packet) bool {
	a, err := packet.ParseAddr(addr)
	if err != nil {
		panic(err)
	}
	return func(p *packet.Packet) bool { return p.Src == a }
}
