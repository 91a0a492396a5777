package planted

import "ibwitness/packet"

// requestFaults are faults of an RC requester: opcode sequence, PSNs, requests that are missing.
var requestFaults = []fault{
	{"SEND Only becomes First", 98, On(Become(rc(packet.SendFirst)), 98, 99), "RC-SEQ-001|RC-SEQ-005", "VV", "", 0, ""},
	{"SEND Only becomes Middle", 98, Become(rc(packet.SendMiddle)), "RC-SEQ-003", "VV", "", 1, ""},
	{"SEND Only becomes Last", 98, Become(rc(packet.SendLast)), "RC-SEQ-003", "VV", "", 0, ""},
	{"SEND Middle becomes Last", 73, On(Become(rc(packet.SendLast)), 74), "RC-SEQ-003", "VV", "", 0, ""},
	{"SEND Middle becomes First", 73, Become(rc(packet.SendFirst)), "RC-SEQ-001", "VV", "", 0, ""},
	{"SEND Middle becomes Only", 73, Become(rc(packet.SendOnly)), "RC-SEQ-001", "VV", "", 1, ""},
	{"SEND Middle becomes Only with immediate", 73, Become(rc(packet.SendOnlyImm)), "RC-SEQ-001", "VV", "", 1, ""},
	{"SEND Middle becomes WRITE Middle", 73, Become(rc(packet.WriteMiddle)), "RC-SEQ-001", "VV", "", 1, ""},
	{"SEND Middle becomes WRITE Last", 73, Become(rc(packet.WriteLast)), "RC-SEQ-001", "VV", "", 1, ""},
	{"SEND Middle becomes WRITE Only", 73, Become(rc(packet.WriteOnly), func(p *packet.Packet) { p.DMALen = 256 }), "RC-SEQ-001|RC-SEQ-004", "VV", "", 1, ""},
	{"SEND Middle becomes READ Request", 73, Become(rc(packet.ReadRequest), func(p *packet.Packet) { p.DMALen = 16 }), "RC-SEQ-004", "VV", "", 2, ""},
	{"SEND Middle becomes FetchAdd", 73, Become(rc(packet.FetchAdd)), "RC-SEQ-004", "VV", "", 2, ""},
	{"SEND First becomes Only", 71, On(Become(rc(packet.SendOnly)), 72), "RC-SEQ-003", "VV", "", 0, ""},
	{"SEND First becomes Middle", 71, Become(rc(packet.SendMiddle)), "RC-SEQ-003", "VV", "", 0, ""},
	{"SEND First becomes WRITE First", 71, On(Become(rc(packet.WriteFirst), func(p *packet.Packet) { p.DMALen = 2000 }), 72), "RC-SEQ-002", "VV", "", 0, ""},
	{"SEND Last becomes Middle", 78, Become(rc(packet.SendMiddle)), "RC-LEN-001", "VV", "", 1, ""},
	{"SEND Last becomes Only", 78, Become(rc(packet.SendOnly)), "RC-SEQ-001", "VV", "", 0, ""},
	{"SEND Last becomes WRITE Last", 78, Become(rc(packet.WriteLast)), "RC-SEQ-001", "VV", "", 0, ""},
	{"WRITE First becomes Only", 37, On(Become(rc(packet.WriteOnly)), 37, 38), "RC-LEN-005|RC-SEQ-003", "VV", "", 1, ""},
	{"WRITE First becomes Middle", 37, Become(rc(packet.WriteMiddle)), "RC-SEQ-003", "VV", "", 0, ""},
	{"WRITE Middle becomes Last", 40, Become(rc(packet.WriteLast)), "RC-LEN-005", "VV", "", 1, ""},
	{"WRITE Middle becomes SEND Middle", 40, Become(rc(packet.SendMiddle)), "RC-SEQ-002", "VV", "", 1, ""},
	{"WRITE Middle becomes First", 40, Become(rc(packet.WriteFirst), func(p *packet.Packet) { p.DMALen = 2000 }), "RC-SEQ-002", "VV", "", 1, ""},
	{"WRITE Last becomes Middle", 44, Become(rc(packet.WriteMiddle)), "RC-LEN-001|RC-LEN-005", "VV", "", 1, ""},
	{"WRITE Last becomes Only", 44, Become(rc(packet.WriteOnly), func(p *packet.Packet) { p.DMALen = uint32(len(p.Payload)) }), "RC-SEQ-002", "VV", "", 0, ""},
	{"WRITE Only becomes First", 100, On(Become(rc(packet.WriteFirst)), 100, 101), "RC-SEQ-005|RC-SEQ-002", "VV", "", 1, ""},
	{"WRITE Only becomes Last", 100, Become(rc(packet.WriteLast)), "RC-SEQ-003", "VV", "", 0, ""},

	{"PSN + 1 in a SEND Only", 98, Set(psn(1)), "RC-PSN-004", "UV", "", 1, ""},
	{"PSN + 5 in a SEND Only", 98, Set(psn(5)), "RC-PSN-004", "UV", "", 1, ""},
	{"PSN - 1 in a SEND Only", 98, On(Set(psn(-1)), 98, 99), "RC-PSN-002|RC-RTY-004|RC-RTY-009|RC-PSN-004", "*V", "", 2, ""},
	{"PSN - 5 in a SEND Only", 98, On(Set(psn(-5)), 98, 99), "RC-RTY-004|RC-PSN-004", "*V", "", 3, ""},
	{"PSN + 100000 in a SEND Only", 98, Set(psn(100000)), "RC-PSN-004", "*V", "", 1, ""},
	{"PSN + 2^23 in a SEND Only", 98, Set(psn(1 << 23)), "RC-PSN-004", "*V", "", 1, ""},
	{"PSN - 100000 in a SEND Only", 98, Set(psn(-100000)), "RC-PSN-004", "*V", "", 1, ""},
	{"PSN + 1 in a SEND First", 71, Set(psn(1)), "RC-PSN-004", "UV", "", 2, ""},
	{"PSN + 1 in a SEND Middle", 73, Set(psn(1)), "RC-PSN-004", "UV", "", 1, ""},
	{"PSN + 5 in a SEND Middle", 73, Set(psn(5)), "RC-PSN-004", "UV", "", 2, ""},
	{"PSN - 1 in a SEND Middle", 73, On(Set(psn(-1)), 73, 74), "RC-PSN-002|RC-RTY-004|RC-PSN-004", "*V", "", 2, ""},
	{"PSN + 1 in a SEND Last", 78, Set(psn(1)), "RC-PSN-004", "UV", "", 2, ""},
	{"PSN + 1 in a WRITE First", 37, Set(psn(1)), "RC-PSN-004", "UV", "", 2, ""},
	{"PSN + 1 in a READ Request", 127, Set(psn(1)), "RC-PSN-004", "UV", "", 3, ""},
	{"PSN - 1 in a READ Request", 127, On(Set(psn(-1)), 127, 128), "RC-PSN-002|RC-RTY-004|RC-PSN-004", "*V", "", 3, ""},
	{"PSN + 1 in a FetchAdd", 128, Set(psn(1)), "RC-PSN-004", "UV", "", 3, ""},
	{"READ counted as one PSN", 128, On(Set(psn(-7)), 128, 129), "RC-PSN-003|RC-PSN-004|RC-RTY-004|RC-RTY-007", "*V", "", 3, ""},

	{"SEND Only missing", 98, Remove(99), "RC-PSN-004", "UV", "", 0, ""},
	{"SEND First missing", 71, Remove(72), "RC-PSN-004", "UV", "", 0, ""},
	{"SEND Middle missing", 74, Remove(75), "RC-PSN-004", "UV", "", 0, ""},
	{"two SEND Middles missing", 74, All(Remove(76), At(75, Remove(76))), "RC-PSN-004", "UV", "", 0, ""},
	{"SEND Last missing", 78, Remove(80), "RC-PSN-004", "UV", "", 0, ""},
	{"WRITE Middle missing", 40, Remove(41), "RC-PSN-004", "UV", "", 0, ""},
	{"WRITE Only missing", 100, Remove(101), "RC-PSN-004", "UV", "", 0, ""},
	{"READ Request missing", 127, Remove(128), "RC-PSN-004", "UV", "", 0, ""},
	{"FetchAdd missing", 128, Remove(129), "RC-PSN-004", "UV", "", 0, ""},
	{"whole SEND missing", 71, func(c *Capture, at int) {
		for n := 71; n <= 79; n++ {
			Remove()(c, n)
		}
		c.accept(80)
	}, "RC-PSN-004", "UV", "", 0, ""},
	{"two SEND Middles exchanged", 74, On(Reorder(75), 75, 74), "RC-PSN-004", "UV", "", 1, ""},
	{"SEND Only and WRITE Only exchanged", 99, On(Reorder(100), 99, 100), "RC-PSN-004", "UV", "", 1, ""},
}

func psn(n int) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.PSN = p.PSN.Add(n) }
}

// lengthFaults are faults in what a request carries.
var lengthFaults = []fault{
	{"SEND Middle of 252 bytes", 73, Resize(252), "RC-LEN-001", "VV", "", 0, ""},
	{"SEND Middle of 260 bytes", 73, Resize(260), "RC-LEN-001", "VV", "", 0, ""},
	{"SEND Middle of 512 bytes", 73, Resize(512), "RC-LEN-001", "VV", "", 0, ""},
	{"SEND Middle without payload", 73, Resize(0), "RC-LEN-001", "VV", "", 0, ""},
	{"SEND First of 128 bytes", 71, Resize(128), "RC-LEN-001", "VV", "", 0, ""},
	{"SEND Last without payload", 78, Resize(0), "RC-LEN-002", "VV", "", 0, ""},
	{"SEND Last of 260 bytes", 78, Resize(260), "RC-LEN-002", "VV", "", 0, ""},
	{"SEND Last with immediate, without payload", 87, Resize(0), "RC-LEN-002", "VV", "", 0, ""},
	{"SEND Only of 260 bytes", 98, Resize(260), "RC-LEN-003", "VV", "", 0, ""},
	{"SEND Only of 4100 bytes", 98, Resize(4100), "RC-LEN-003", "VV", "", 0, ""},
	{"SEND Only with immediate of 300 bytes", 99, Resize(300), "RC-LEN-003", "VV", "", 0, ""},
	{"WRITE First of 252 bytes", 37, Resize(252), "RC-LEN-001", "VV", "", 1, ""},
	{"WRITE Middle of 252 bytes", 40, Resize(252), "RC-LEN-001", "VV", "", 1, ""},
	{"WRITE Last one byte shorter", 44, Resize(207), "RC-LEN-005", "VV", "", 0, ""},
	{"WRITE Last four bytes longer", 44, Resize(212), "RC-LEN-005", "VV", "", 0, ""},
	{"WRITE Only four bytes shorter", 100, Resize(252), "RC-LEN-005", "VV", "", 0, ""},
	{"WRITE Only of 260 bytes", 100, Set(func(p *packet.Packet) { resize(p, 260); p.DMALen = 260 }), "RC-LEN-003", "VV", "", 1, ""},
	{"DMALen + 1 in a WRITE First", 37, On(Set(func(p *packet.Packet) { p.DMALen++ }), 37, 44), "RC-LEN-005", "VV", "", 0, ""},
	{"DMALen - 1 in a WRITE First", 37, On(Set(func(p *packet.Packet) { p.DMALen-- }), 37, 44), "RC-LEN-005", "VV", "", 0, ""},
	{"DMALen half in a WRITE First", 37, On(Set(func(p *packet.Packet) { p.DMALen /= 2 }), 37, 40, 41), "RC-LEN-005", "VV", "", 0, ""},
	{"DMALen 0 in a WRITE First", 37, Set(func(p *packet.Packet) { p.DMALen = 0 }), "RC-LEN-005|RC-SEQ-005", "VV", "", 0, ""},
	{"DMALen 2^31 + 1 in a WRITE First", 37, Set(func(p *packet.Packet) { p.DMALen = 1<<31 + 1 }), "RC-LEN-004", "VV", "", 1, ""},
	{"DMALen 2^32 - 1 in a WRITE Only", 100, Set(func(p *packet.Packet) { p.DMALen = 1<<32 - 1 }), "RC-LEN-004", "VV", "", 1, ""},
	{"DMALen 2^31 + 1 in a READ Request", 127, Set(func(p *packet.Packet) { p.DMALen = 1<<31 + 1 }), "RC-LEN-004", "VV", "", 3, ""},
	{"DMALen 0 in a WRITE Only", 100, Set(func(p *packet.Packet) { p.DMALen = 0 }), "RC-LEN-005", "VV", "", 0, ""},
	{"DMALen 4 in a WRITE Only without payload", 101, Set(func(p *packet.Packet) { p.DMALen = 4 }), "RC-LEN-005", "VV", "", 0, ""},
	{"DMALen ten times as long in a READ Request", 127, On(Set(func(p *packet.Packet) { p.DMALen *= 10 }), 127, 128), "RC-PSN-003", "VV", "", 1, ""},
	{"DMALen half in a READ Request", 127, Set(func(p *packet.Packet) { p.DMALen /= 2 }), "RC-PSN-003", "VV", "", 0, ""},
	{"READ Request with payload", 127, Set(func(p *packet.Packet) { p.Payload = make([]byte, 8); p.Fit() }), "RC-SEQ-007", "VV", "", 0, ""},
	{"FetchAdd with payload", 128, Set(func(p *packet.Packet) { p.Payload = make([]byte, 4); p.Fit() }), "RC-SEQ-007", "VV", "", 0, ""},
	{"FetchAdd misaligned", 128, Set(func(p *packet.Packet) { p.VA += 4 }), "RC-ATM-001", "VV", "", 1, ""}, // it is answered: RC-RSP-023
	{"CmpSwap misaligned by one", 128, Become(rc(packet.CmpSwap), func(p *packet.Packet) { p.VA++ }), "RC-ATM-001", "VV", "", 1, ""},
	{"FetchAdd with compare data", 128, Set(func(p *packet.Packet) { p.Compare = 1 }), "RC-ATM-002", "VV", "", 0, ""},
}
