package planted

import "ibwitness/packet"

// lostAndResent makes frame 102 a sequence NAK for the PSN of frame 98, and has 98 to 101 retransmitted before the ACKs, which keep
// their order. Numbers afterwards: 98 to 101 as before, 102 the NAK, 103 to 106 the requests again, 107 to 110 the ACKs.
func lostAndResent(c *Capture, _ int) {
	c.insert(102, 101, 20000, func(p *packet.Packet) { p.Syndrome, p.MSN = packet.NAKSequence, 30 })
	for i, n := range []int{98, 99, 100, 101} {
		c.insert(n, 101, int64(30000+1000*i), nil)
	}
}

// nakFaults are faults around a PSN sequence error.
var nakFaults = []fault{
	{"second sequence NAK", 102, Insert(102, 2000, nil), "RC-RSP-003", "VV", "", 0, ""},
	{"RNR NAK after the sequence NAK", 102, Insert(102, 2000, func(p *packet.Packet) { p.Syndrome = 0x2E }), "RC-RSP-003", "*V", "", 2, ""},
	{"sequence NAK of a PSN after the one missing", 102, Set(psn(1)), "RC-RSP-017|RC-RSP-002|RC-RSP-015", "*V", "", 2, ""},
	{"sequence NAK of a PSN before", 102, Set(psn(-1)), "RC-RSP-017|RC-RSP-002", "*V", "", 2, ""},
	{"sequence NAK of a PSN never sent", 102, Set(psn(1000)), "RC-RSP-017|RC-RSP-006", "*V", "", 2, ""},
	{"sequence NAK with MSN + 1", 102, Set(msn(1)), "RC-RSP-015", "*-", "", 0, ""},
	{"sequence NAK with MSN - 3", 102, Set(msn(-3)), "RC-RSP-015", "VV", "", 0, ""},
	{"ACK before what was missing was retransmitted", 102, Insert(107, 2000, nil), "RC-RSP-003|RC-RSP-006", "*V", "", 1, "an ACK some microseconds before what it acknowledges passes for disorder of the capture"},
	{"resumed one PSN late", 103, Remove(104), "RC-RTY-005", "UV", "", 1, ""},
	{"resumed two PSNs late", 103, All(Remove(105), At(104, Remove())), "RC-RTY-005", "UV", "", 1, ""},
	{"one left out when all are retransmitted", 105, Remove(106), "RC-RTY-006", "UV", "", 1, ""},
	{"other payload when retransmitted", 103, Set(func(p *packet.Packet) { p.Payload[9] ^= 1 }), "RC-RTY-004", "VV", "", 0, ""},
	{"other DMALen when retransmitted", 105, Set(func(p *packet.Packet) { p.DMALen++ }), "RC-RTY-004", "VV", "", 1, ""},
	{"never retransmitted", 106, func(c *Capture, _ int) {
		for n := 103; n <= 106; n++ {
			Remove()(c, n)
		}
		c.accept(107)
	}, "RC-RSP-006", "*V", "peer", 1, ""},
	{"NAK code Remote Access instead", 102, On(Set(syndrome(0x62)), 107), "RC-RSP-027", "VV", "", 1, ""},
}

// notReady makes frame 152, the ACK of the SEND in frame 151, an RNR NAK of 0.12 ms, retransmits the SEND after 0.2 ms and
// acknowledges it then. Numbers afterwards: 151 the SEND, 152 the RNR NAK, 153 the retransmitted SEND, 154 its ACK, 155 the next request.
func notReady(c *Capture, _ int) {
	Shift(1000000)(c, 153)
	c.insert(151, 152, 200000, nil)
	c.insert(152, 152, 250000, nil)
	Set(func(p *packet.Packet) { p.Syndrome = 0x28; p.MSN-- })(c, 152)
}

// rnrFaults are faults around an RNR NAK.
var rnrFaults = []fault{
	{"retransmitted before the RNR timer", 153, func(c *Capture, at int) { c.Frame(at).Time -= 150000 }, "RC-RNR-001", "UV", "", 0, ""},
	{"retransmitted one microsecond before the RNR timer", 153, func(c *Capture, at int) { c.Frame(at).Time -= 81000 }, "RC-RNR-001", "UV", "", 0, ""},
	{"RNR timer of 655 ms not waited for", 152, On(Set(syndrome(0x20)), 153), "RC-RNR-001", "UV", "peer", 0, ""},
	{"RNR NAK of the PSN before", 152, Set(psn(-1)), "RC-RSP-018|RC-RNR-006", "*V", "", 2, ""},
	{"RNR NAK of PSN + 1, not sent", 152, Set(psn(1)), "RC-RSP-018|RC-RSP-006|RC-RSP-015", "*V", "", 1, ""},
	{"RNR NAK counts the SEND", 152, Set(msn(1)), "RC-RSP-015|RC-RSP-014", "**", "", 0, ""},
	{"RNR NAK with MSN - 2", 152, Set(msn(-2)), "RC-RSP-015|RC-RSP-014", "VV", "", 0, ""},
	{"resumed after the PSN of the RNR NAK", 153, All(At(154, Remove()), Remove(155), At(156, Remove()), At(157, Shift(25e6))), "RC-RNR-002|RC-RTY-006|RC-PSN-004|RC-RNR-005", "UV", "", 1, ""},
	{"acknowledged without a retransmission", 153, Remove(154), "RC-RSP-018|RC-RSP-006", "*V", "peer", 1, ""},
	{"next request during the wait", 152, All(Set(syndrome(0x34)), At(153, Shift(12e6)), Insert(155, 5e6, nil)), "RC-RNR-005", "UV", "peer", 3, ""},
	{"sequence NAK after the RNR NAK", 152, Insert(152, 5000, func(p *packet.Packet) { p.Syndrome = packet.NAKSequence }), "RC-RSP-043|RC-RSP-003", "VV", "", 0, ""},
	{"RNR NAK sent twice", 152, Insert(152, 5000, nil), "RC-RSP-043|RC-RSP-003", "**", "", 0, ""},
	{"other payload after the wait", 153, Set(func(p *packet.Packet) { p.Payload[0]++ }), "RC-RTY-004", "VV", "", 0, ""},
}

// fatalFaults are faults after a NAK that ends the connection. Frames 23 to 25 are requests that are never answered.
var fatalFaults = []fault{
	{"ACK after a fatal NAK", 22, Insert(22, 100000, func(p *packet.Packet) { p.Syndrome, p.MSN = 0x1F, 11 }), "RC-RSP-027", "VV", "", 0, ""},
	{"ATOMIC Acknowledge after a fatal NAK", 22, Insert(20, 300000, func(p *packet.Packet) { p.PSN += 2; p.MSN++ }), "RC-RSP-027", "VV", "", 0, ""},
	{"second fatal NAK", 22, Insert(22, 500000, func(p *packet.Packet) { p.PSN++ }), "RC-RSP-027", "VV", "", 0, ""},
	{"same request again after a fatal NAK", 22, All(At(23, Remove()), At(24, Remove()), At(25, Remove()), Insert(21, 10000000, nil)), "RC-RTY-011", "*V", "peer", 1, ""},
	{"fatal NAK with MSN + 1", 22, Set(msn(1)), "RC-RSP-015|RC-RSP-014", "**", "", 0, ""},
	{"fatal NAK with MSN + 7", 22, Set(msn(7)), "RC-RSP-015|RC-RSP-014", "VV", "", 0, ""},
	{"fatal NAK of the PSN before", 22, Set(psn(-1)), "RC-RSP-017", "UV", "", 1, ""},
	{"fatal NAK of PSN + 4, never sent", 22, Set(psn(9)), "RC-RSP-017|RC-RSP-006", "*V", "", 1, ""},
	{"another request misaligned", 20, On(At(15, Set(func(p *packet.Packet) { p.VA++ })), 15), "RC-ATM-001|RC-RTY-009", "VV", "10.77.0.1", 1, ""},
}
