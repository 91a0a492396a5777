package planted

import "ibwitness/packet"

// firstFaults are faults in the first packet of a connection that nothing is known of: 10.77.0.2 sends the WRITEs of frames 1, 4 and so on.
var firstFaults = []fault{
	{"DestQP of the first request", 1, Set(func(p *packet.Packet) { p.DestQP += 0x111 }), "BTH-011", "UV", "", 0, ""},
	{"DestQP of the first response", 2, Set(func(p *packet.Packet) { p.DestQP += 0x111 }), "BTH-011", "UV", "", 0, ""},
}

// firstReadFaults are faults in the first packets of one that READs 1021 bytes at a time, path MTU 512: frame 1 asks, 2 and 3 answer.
var firstReadFaults = []fault{
	{"first READ Response First of 508 bytes", 2, Resize(508), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First of 516 bytes", 2, Resize(516), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First of 1020 bytes", 2, Resize(1020), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First without payload", 2, Resize(0), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First becomes Only", 2, Become(rc(packet.ReadRespOnly)), "RC-RES-001|RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First of 256 bytes", 2, Resize(256), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response First of 1024 bytes", 2, Resize(1024), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response Last of 508 bytes", 3, Resize(508), "RC-RES-002", "VV", "", 0, ""},
	{"first READ Response Last of 512 bytes", 3, Resize(512), "RC-RES-002", "VV", "", 0, ""},
	{"PSN + 1 in the first READ Response", 2, Set(psn(1)), "RC-RES-001", "*V", "", 0, "no response is compared with a request before the two directions are paired"},
	{"PSN - 1 in the first READ Response", 2, Set(psn(-1)), "RC-RES-001", "*V", "", 0, "no response is compared with a request before the two directions are paired"},
	{"DestQP of the first READ Response", 2, Set(func(p *packet.Packet) { p.DestQP += 0x111 }), "BTH-011", "UV", "", 0, ""},
	{"DestQP of the first READ", 1, Set(func(p *packet.Packet) { p.DestQP += 0x111 }), "BTH-011", "UV", "", 0, ""},
	{"PSN + 1 in the first READ", 1, On(Set(psn(1)), 1, 4), "RC-PSN-003", "*V", "", 0, ""},
	{"PSN - 1 in the first READ", 1, On(Set(psn(-1)), 1, 4), "RC-PSN-003|RC-PSN-004", "*V", "", 0, ""},
	{"DMALen of the first READ is a tenth", 1, On(Set(func(p *packet.Packet) { p.DMALen /= 10 }), 1, 4), "RC-PSN-003", "*V", "", 0, ""},
	{"DMALen of the first READ is 400", 1, On(Set(func(p *packet.Packet) { p.DMALen = 400 }), 1, 4), "RC-PSN-003", "*V", "", 0, ""},
	{"DMALen of the first READ is ten times as much", 1, On(Set(func(p *packet.Packet) { p.DMALen *= 10 }), 1, 4), "RC-PSN-003", "*V", "", 0, ""},
}
