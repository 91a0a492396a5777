package planted

import "ibwitness/packet"

// retryFaults are requests retransmitted otherwise than sent the first time. Frames 98 to 101 are acknowledged by 102 to 105.
var retryFaults = []fault{
	{"retransmitted after its ACK", 105, Insert(98, 1000, nil), "RC-RTY-010", "UV", "peer", 1, ""},
	{"retransmitted with other payload", 101, Insert(98, 1000, func(p *packet.Packet) { p.Payload[3] ^= 0x10 }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted with another VA", 101, Insert(100, 1000, func(p *packet.Packet) { p.VA += 8 }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted with another R_Key", 101, Insert(100, 1000, func(p *packet.Packet) { p.RKey ^= 1 }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted with another immediate", 101, Insert(99, 1000, func(p *packet.Packet) { p.Imm++ }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted with another opcode", 101, Insert(98, 1000, func(p *packet.Packet) { p.Opcode = rc(packet.SendOnlyInv); p.Fit() }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted shorter", 101, Insert(98, 1000, func(p *packet.Packet) { resize(p, 100) }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted with another SE", 101, Insert(98, 1000, func(p *packet.Packet) { p.SE = true }), "RC-RTY-004", "VV", "", 1, ""},
	{"SEND Middle retransmitted with other payload", 78, Insert(74, 1000, func(p *packet.Packet) { p.Payload[255]++ }), "RC-RTY-004", "VV", "", 1, ""},
	{"FetchAdd retransmitted with another operand", 128, Insert(128, 50000, func(p *packet.Packet) { p.SwapAdd++ }), "RC-RTY-009", "VV", "", 1, ""},
	{"FetchAdd retransmitted with another VA", 107, Insert(107, 1000, func(p *packet.Packet) { p.VA += 8 }), "RC-RTY-009", "VV", "", 1, ""},
	{"FetchAdd retransmitted as CmpSwap", 107, Insert(107, 1000, func(p *packet.Packet) { p.Opcode = rc(packet.CmpSwap) }), "RC-RTY-009", "VV", "", 1, ""},
	{"READ retransmitted with another VA", 107, Insert(106, 1000, func(p *packet.Packet) { p.VA += 4096 }), "RC-RTY-007", "VV", "", 1, ""},
	{"READ retransmitted with another R_Key", 107, Insert(106, 1000, func(p *packet.Packet) { p.RKey++ }), "RC-RTY-007", "VV", "", 1, ""},
	{"READ retransmitted with another DMALen", 107, Insert(106, 1000, func(p *packet.Packet) { p.DMALen -= 4 }), "RC-RTY-007", "VV", "", 2, ""},
	{"tail of a READ with the VA of the head", 205, Insert(205, 1000, func(p *packet.Packet) { p.PSN += 2; p.DMALen -= 512 }), "RC-RTY-007", "VV", "", 4, ""},
	{"tail of a READ off the path MTU", 205, Insert(205, 1000, func(p *packet.Packet) { p.PSN += 2; p.VA += 500; p.DMALen -= 500 }), "RC-RTY-008|RC-RTY-007", "VV", "", 4, ""},
	{"tail of a READ too long", 205, Insert(205, 1000, func(p *packet.Packet) { p.PSN += 2; p.VA += 512 }), "RC-RTY-007", "VV", "", 4, ""},
	{"WRITE in place of a retransmitted READ", 107, Insert(100, 1000, func(p *packet.Packet) { p.PSN = 3307731 }), "RC-RTY-004", "VV", "", 1, ""},
	{"retransmitted, the oldest left out", 101, Insert(99, 1000, nil), "RC-RTY-006", "-V", "", 0, ""},
	{"retransmitted, the two oldest left out", 101, Insert(100, 1000, nil), "RC-RTY-006", "-V", "", 0, ""},
	{"retransmitted, one left out", 101, func(c *Capture, at int) {
		c.insert(98, at, 9000, nil)
		c.Accepted = append(c.Accepted, c.insert(100, at, 10000, nil))
	}, "RC-RTY-006", "UV", "", 0, ""},
}
