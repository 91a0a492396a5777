package planted

import "ibwitness/packet"

// responseFaults are faults of an RC responder. Frame 151 is a SEND Only that frame 152 acknowledges, and nothing else; 127 a READ of 2000
// bytes, 128 a FetchAdd, 129 and 130 a SEND, 131 another one; 132 to 139 the READ's responses, 140 the atomic's, 141 and 142 the ACKs.
// Frame 261 is the last ACK.
var responseFaults = []fault{
	{"ACK of the next PSN, not yet sent", 152, Set(psn(1)), "RC-RSP-006|RC-RSP-013|RC-RSP-014", "*V", "", 1, ""},
	{"last ACK of the next PSN, never sent", 261, Set(psn(1)), "RC-RSP-006", "*V", "", 0, ""},
	{"ACK of PSN + 5", 261, Set(psn(5)), "RC-RSP-006", "*V", "", 0, ""},
	{"ACK of PSN + 1000", 152, Set(psn(1000)), "RC-RSP-006", "*V", "", 0, ""},
	{"ACK of PSN + 100000", 152, Set(psn(100000)), "RC-RSP-006", "*V", "", 0, ""},
	{"ACK of PSN + 2^23", 152, Set(psn(1 << 23)), "RC-RSP-006", "*V", "", 0, ""},
	{"ACK of PSN - 1, an atomic", 152, Set(psn(-1)), "RC-ACK-008|RC-RSP-006|RC-RSP-013|RC-RSP-014|RC-ACK-003", "**", "", 1, ""},
	{"ACK of PSN - 5", 152, Set(psn(-5)), "RC-RSP-006", "UV", "", 1, ""},
	{"ACK of PSN - 50", 152, Set(psn(-50)), "RC-RSP-006", "UV", "", 1, ""},
	{"MSN + 1 in an ACK", 152, Set(msn(1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN - 1 in an ACK", 152, Set(msn(-1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN + 100 in an ACK", 152, Set(msn(100)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN 0 in an ACK", 152, Set(func(p *packet.Packet) { p.MSN = 0 }), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN + 1 in a READ Response Only", 17, Set(msn(1)), "RC-RSP-013|RC-RSP-014", "**", "", 0, ""},
	{"MSN - 1 in a READ Response First", 132, Set(msn(-1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN + 50 in a READ Response Last", 139, Set(msn(50)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN - 1 in an ATOMIC Acknowledge", 140, Set(msn(-1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN counts packets, not messages", 79, Set(msn(7)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN off by one from here on", 152, Each(func(p *packet.Packet) bool {
		return p.Has&packet.HasAETH != 0 && p.MSN >= 49
	}, msn(1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},

	{"syndrome of reserved type", 152, Set(syndrome(0x40)), "RC-RSP-022", "VV", "", 0, ""},
	{"syndrome with bit 7", 152, Set(syndrome(0x9F)), "RC-RSP-022", "VV", "", 0, ""},
	{"NAK code 4, of RD", 152, Set(syndrome(0x64)), "RC-RSP-021", "VV", "", 2, ""},
	{"NAK code 5", 152, Set(syndrome(0x65)), "RC-RSP-021", "VV", "", 0, ""},
	{"NAK code 31", 152, Set(syndrome(0x7F)), "RC-RSP-021", "VV", "", 0, ""},
	{"ACK becomes a sequence NAK", 152, Set(syndrome(0x60)), "RC-RSP-002|RC-RSP-015", "*V", "", 2, ""},
	{"ACK becomes a sequence NAK, MSN right", 152, On(Set(func(p *packet.Packet) { p.Syndrome = 0x60; p.MSN-- }), 152, 154), "RC-RSP-002|RC-RSP-003|RC-RSP-006", "*V", "", 1, ""},
	{"ACK becomes NAK Invalid Request", 152, On(Set(fatal(0x61)), 154), "RC-RSP-027", "VV", "", 1, ""},
	{"ACK becomes NAK Remote Access Error", 152, On(Set(fatal(0x62)), 154), "RC-RSP-027", "VV", "", 1, ""},
	{"ACK becomes NAK Remote Operational Error", 152, On(Set(fatal(0x63)), 154), "RC-RSP-027", "VV", "", 1, ""},
	{"request goes on after a fatal NAK", 152, All(On(Set(fatal(0x61)), 153), At(153, Shift(2e6))), "RC-RTY-011", "UV", "10.77.0.1|10.77.0.2", 1, ""},
	{"ACK of a SEND becomes an RNR NAK", 152, On(Set(fatal(0x2E)), 152, 154), "RC-RSP-006|RC-RSP-018|RC-RSP-043", "*V", "", 1, ""},
	{"request goes on during the RNR wait", 152, All(On(Set(fatal(0x2E)), 153), At(154, Remove()), At(155, Shift(25e6))), "RC-RNR-005", "UV", "peer", 2, ""},
	{"ACK of a PSN that was never sent, numbered in its turn", 152, Insert(152, 5000, func(p *packet.Packet) { p.PSN += 20; p.MSN++; p.IPID -= 0x3FFF }), "RC-RSP-006", "UV", "", 1, ""},
	{"RNR NAK of a plain WRITE", 144, Set(fatal(0x2E)), "RC-RNR-006", "VV", "", 2, ""},
	{"RNR NAK of a SEND Middle", 152, Insert(79, -1000, func(p *packet.Packet) { p.Syndrome = 0x2E; p.PSN = 3307708; p.MSN = 24 }), "RC-RSP-018", "UV", "", 1, ""},

	{"ACK with payload", 152, Set(func(p *packet.Packet) { p.Payload = make([]byte, 4); p.Fit() }), "RC-RSP-008", "VV", "", 0, ""},
	{"ACK with 256 bytes of payload", 152, Set(func(p *packet.Packet) { resize(p, 256) }), "RC-RSP-008", "VV", "", 0, ""},
	{"ACK becomes a READ Response Only", 152, Become(rc(packet.ReadRespOnly)), "RC-RES-001", "VV", "", 0, ""},
	{"ACK becomes an ATOMIC Acknowledge", 152, Become(rc(packet.AtomicAck)), "RC-RSP-010", "VV", "", 0, ""},
	{"ACK becomes a READ Response Middle", 152, Become(rc(packet.ReadRespMiddle)), "RC-RES-001", "VV", "", 0, ""},
	{"ATOMIC Acknowledge becomes an ACK", 140, Become(rc(packet.Acknowledge)), "RC-ACK-003|RC-RSP-010", "UV", "", 0, ""},
	{"ATOMIC Acknowledge becomes a READ Response Only", 140, Become(rc(packet.ReadRespOnly)), "RC-RES-001|RC-RSP-010", "VV", "", 1, ""},
	{"READ Response Only becomes an ACK", 17, Become(rc(packet.Acknowledge)), "RC-ACK-003|RC-RES-001", "UV", "", 0, ""},
	{"READ Response Only becomes an ATOMIC Acknowledge", 17, Become(rc(packet.AtomicAck)), "RC-RSP-010|RC-RES-001", "VV", "", 1, ""},
	{"READ Response Only becomes First", 17, Become(rc(packet.ReadRespFirst)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Only becomes Last", 17, Become(rc(packet.ReadRespLast)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Only becomes Middle", 17, Become(rc(packet.ReadRespMiddle)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response First becomes Middle", 132, Become(rc(packet.ReadRespMiddle)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response First becomes Only", 132, Become(rc(packet.ReadRespOnly)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response First becomes Last", 132, Become(rc(packet.ReadRespLast)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Middle becomes First", 134, Become(rc(packet.ReadRespFirst), func(p *packet.Packet) { p.Syndrome, p.MSN = 0x1F, 41 }), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Middle becomes Last", 134, Become(rc(packet.ReadRespLast), func(p *packet.Packet) { p.Syndrome, p.MSN = 0x1F, 41 }), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Middle becomes Only", 134, Become(rc(packet.ReadRespOnly), func(p *packet.Packet) { p.Syndrome, p.MSN = 0x1F, 41 }), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response Last becomes Middle", 139, Become(rc(packet.ReadRespMiddle)), "RC-RES-001|RC-RES-002", "VV", "", 1, ""},
	{"READ Response Last becomes Only", 139, Become(rc(packet.ReadRespOnly)), "RC-RES-001", "VV", "", 0, ""},
	{"READ Response of two packets: Last becomes Only", 30, Become(rc(packet.ReadRespOnly)), "RC-RES-001", "VV", "", 0, ""},
	{"PSN + 1 in a READ Response First", 132, Set(psn(1)), "RC-RES-001", "VV", "", 1, ""},
	{"PSN + 1 in a READ Response Middle", 134, Set(psn(1)), "RC-RES-001", "UV", "", 1, ""},
	{"PSN - 1 in a READ Response Middle", 134, Set(psn(-1)), "RC-RES-001", "UV", "", 1, ""},
	{"PSN + 1 in a READ Response Last", 139, Set(psn(1)), "RC-RES-001|RC-RSP-007", "VV", "", 1, ""},
	{"PSN + 1 in a READ Response Only", 17, Set(psn(1)), "RC-RES-001|RC-RSP-006", "*V", "", 1, ""},
	{"PSN + 1 in an ATOMIC Acknowledge", 140, Set(psn(1)), "RC-RSP-010", "VV", "", 1, ""},
	{"PSN - 1 in an ATOMIC Acknowledge", 140, Set(psn(-1)), "RC-RSP-010", "VV", "", 1, ""},
	{"READ Response Middle of 252 bytes", 135, Resize(252), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response Middle of 260 bytes", 135, Resize(260), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response First without payload", 132, Resize(0), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response Last four bytes shorter", 139, Resize(204), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response Last of no bytes", 139, Resize(0), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response Only four bytes shorter", 17, Resize(252), "RC-RES-002", "VV", "", 0, ""},
	{"READ Response Only four bytes longer", 17, Resize(260), "RC-RES-002", "VV", "", 0, ""},
	{"DMALen of a READ + 4", 127, On(Set(func(p *packet.Packet) { p.DMALen += 4 }), 139), "RC-RES-002", "VV", "peer", 0, ""},
	{"NAK syndrome in a READ Response First", 132, Set(syndrome(0x60)), "RC-RES-004", "VV", "", 0, ""},
	{"RNR syndrome in an ATOMIC Acknowledge", 140, Set(syndrome(0x2E)), "RC-RES-004", "VV", "", 0, ""},
	{"reserved syndrome in a READ Response Last", 139, Set(syndrome(0x5F)), "RC-RSP-022", "VV", "", 0, ""},
	{"credits exceeded", 97, On(Set(syndrome(0)), 99), "RC-CRD-001", "UU", "peer", 0, ""},

	{"ATOMIC Acknowledge missing", 109, Remove(121), "RC-RSP-007", "UV", "", 0, ""},
	{"READ Response Only missing", 108, Remove(109), "RC-RSP-007", "UV", "", 0, ""},
	{"READ Response First missing", 132, Remove(133), "RC-RES-001", "UV", "", 0, ""},
	{"READ Response Middle missing", 135, Remove(136), "RC-RES-001", "UV", "", 0, ""},
	{"READ Response Last missing", 139, Remove(140), "RC-RSP-007", "UV", "", 0, ""},
	{"all READ Responses missing", 132, func(c *Capture, _ int) {
		for n := 132; n <= 139; n++ {
			Remove()(c, n)
		}
		c.accept(140)
	}, "RC-RSP-007", "UV", "", 0, ""},
	{"ACK missing at the end", 261, func(c *Capture, at int) {
		Remove(260)(c, at)
		c.Frames = c.Frames[:len(c.Frames):len(c.Frames)]
	}, "RC-RSP-005", "--", "", 0, ""},

	{"forged sequence NAK of the next PSN", 152, Insert(152, 1000, func(p *packet.Packet) { p.PSN++; p.Syndrome = 0x60 }), "RC-RSP-002|RC-RSP-006|RC-RSP-017", "*V", "", 2, ""},
	{"forged sequence NAK of an acknowledged PSN", 152, Insert(152, 1000, func(p *packet.Packet) { p.Syndrome = 0x60; p.MSN-- }), "RC-RSP-017|RC-RSP-002", "UV", "", 1, ""},
	{"forged RNR NAK of an acknowledged PSN", 152, Insert(152, 1000, func(p *packet.Packet) { p.Syndrome = 0x2E; p.MSN-- }), "RC-RSP-018", "UV", "", 1, ""},
	{"forged fatal NAK of an acknowledged PSN", 152, Insert(152, 1000, func(p *packet.Packet) { p.Syndrome = 0x61; p.MSN-- }), "RC-RSP-017", "UV", "", 3, ""},
	{"forged READ Response with other data", 108, Insert(108, 1000, func(p *packet.Packet) { p.Payload[0] ^= 1 }), "RC-RES-001", "UV", "", 0, ""},
	{"forged ATOMIC Acknowledge with other data", 109, Insert(109, 1000, func(p *packet.Packet) { p.OrigData++ }), "RC-RSP-031", "VV", "", 0, ""},
	{"forged ACK inside a READ's PSNs", 133, Insert(152, 1000, func(p *packet.Packet) { p.PSN, p.MSN = 3307749, 41 }), "RC-ACK-003|RC-RSP-007", "*V", "", 1, ""},
	{"forged ACK over an unanswered READ", 131, Insert(152, 1000, func(p *packet.Packet) { p.PSN, p.MSN = 3307757, 44 }), "RC-RSP-007", "UV", "peer", 3, ""},
	{"ACK before the ATOMIC Acknowledge", 140, On(Reorder(141), 141, 140), "RC-RSP-007", "UV", "", 1, ""},
	{"two READ Response Middles exchanged", 134, On(Reorder(135), 134, 135), "RC-RES-001", "UV", "", 2, ""},
}

func syndrome(s packet.Syndrome) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.Syndrome = s }
}

// fatal makes a NAK of an ACK: a NAK does not count the request that it refuses.
func fatal(s packet.Syndrome) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.Syndrome = s; msn(-1)(p) }
}
