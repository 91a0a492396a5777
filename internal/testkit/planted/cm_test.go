package planted

import (
	"time"

	"ibwitness/packet"
)

// cmFaults are faults against what CM agreed. Frame 3 is the REQ, 6 the REP, 7 the RTU; fd77::1 sends SENDs (8 the first), fd77::2
// READs (10 the first request) and WRITEs (16 the first).
var cmFaults = []fault{
	{"start PSN + 1 of the active side", 8, Set(psn(1)), "RC-PSN-001", "UV", "", 1, ""},
	{"start PSN + 100000 of the active side", 8, Set(psn(100000)), "RC-PSN-001|RC-PSN-004", "*V", "", 1, ""},
	{"start PSN - 1 of the active side", 8, Set(psn(-1)), "RC-PSN-001", "VV", "", 2, ""},
	{"start PSN of the peer", 8, Set(func(p *packet.Packet) { p.PSN = 4512314 }), "RC-PSN-001|RC-PSN-004", "*V", "", 1, ""},
	{"start PSN + 1 of the passive side", 10, Set(psn(1)), "RC-PSN-001", "UV", "", 3, ""},
	{"PSN + 1 in a single READ Request", 22, Set(psn(1)), "RC-PSN-004", "UV", "", 0, ""},
	{"PSN - 1 in a single READ Request", 22, Set(psn(-1)), "RC-PSN-002|RC-RTY-004", "VV", "", 1, ""},
	{"PSN + 1 in a single WRITE Only", 28, Set(psn(1)), "RC-PSN-004", "UV", "", 0, ""},
	{"PSN - 1 in a WRITE Only after a SEND", 28, Set(psn(-1)), "RC-PSN-002|RC-RTY-004", "VV", "", 1, ""},
	{"PSN - 1 in a SEND Only after a READ", 24, Set(psn(-1)), "RC-PSN-002|RC-RTY-004", "VV", "", 1, ""},
	{"DMALen of several packets in a single READ Request", 22, Set(func(p *packet.Packet) { p.DMALen = 20000 }), "RC-PSN-003", "VV", "", 0, ""},
	{"every PSN of the active side + 10", 8, Each(func(p *packet.Packet) bool {
		return p.Opcode.Service() == packet.RC && (p.DestQP == 0x5A) == p.Info().Request
	}, psn(10)), "RC-PSN-001", "UV", "", 0, ""},
	{"DestQP that CM did not name", 8, On(Set(func(p *packet.Packet) { p.DestQP ^= 0x100 }), 8, 14), "BTH-011|RC-PSN-001|RC-PSN-004", "*V", "", 1, ""},
	{"DestQP of an ACK that CM did not name", 9, On(Set(func(p *packet.Packet) { p.DestQP ^= 0x100 }), 9), "BTH-011|RC-RSP-037", "**", "", 1, ""},
	{"QPN of the REQ that nobody uses", 3, Set(func(p *packet.Packet) { p.Payload[24+33] ^= 0x10 }), "CM-REQ-001", "VV", "", 0, ""},
	{"QPN of the REP that nobody uses", 6, Set(func(p *packet.Packet) { p.Payload[24+13] ^= 0x10 }), "CM-REQ-001", "VV", "", 0, ""},
	{"P_Key that CM did not name", 8, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-004", "VV", "", 0, ""},
	{"P_Key that CM did not name, later", 14, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-004", "VV", "", 0, ""},
	{"P_Key that CM did not name, of the passive side", 12, Set(func(p *packet.Packet) { p.PKey = 0x8001 }), "PKY-004", "VV", "", 0, ""},
	{"MSN does not begin at 0", 9, Set(msn(5)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"MSN of the passive side's responder off by one", 13, Set(msn(1)), "RC-RSP-013|RC-RSP-014", "VV", "", 0, ""},
	{"WRITE Only beyond the path MTU", 16, Set(func(p *packet.Packet) { resize(p, 4100); p.DMALen = 4100 }), "RC-LEN-003", "VV", "", 0, ""},
	{"WRITE First of 1024 bytes although the path MTU is 4096", 16, Become(rc(packet.WriteFirst), func(p *packet.Packet) { p.DMALen = 8192; resize(p, 1024) }), "RC-LEN-001", "VV", "", 2, ""},
	{"SEND First of 2048 bytes although the path MTU is 4096", 14, Become(rc(packet.SendFirst), func(p *packet.Packet) { resize(p, 2048) }), "RC-LEN-001", "VV", "", 2, ""},
	{"path MTU of the REQ smaller than the packets", 3, func(c *Capture, at int) {
		Set(func(p *packet.Packet) { p.Payload[24+50] = p.Payload[24+50]&0x0F | 1<<4 })(c, at)
		Set(func(p *packet.Packet) { resize(p, 512); p.DMALen = 512 })(c, 16)
		c.accept(16)
	}, "RC-LEN-003", "VV", "fd77::2", 0, ""},
	{"two READs outstanding where CM agreed on one", 10, Insert(10, 1000, func(p *packet.Packet) { p.PSN++ }), "RC-RDA-002|RC-RDA-001", "UV", "", 3, ""},
	{"retry count exceeded", 126, func(c *Capture, at int) {
		Remove()(c, 127)
		Shift(60e9)(c, 128)
		for i := range int64(9) {
			f := c.insert(126, at, (i+1)*5e9, func(p *packet.Packet) {})
			if i >= 7 {
				c.Accepted = append(c.Accepted, f)
			}
		}
	}, "RC-RTY-001", "UV", "", 1, ""},
	{"retransmitted long before the timeout, and before that after it", 126, retransmits(2200*time.Millisecond, 2300*time.Millisecond), "RC-TMO-002", "UU", "", 1, ""},
	{"request unanswered for a minute", 126, func(c *Capture, at int) {
		Remove()(c, 127)
		Shift(60e9)(c, 128)
		c.accept(126, 128)
	}, "RC-RSP-005|RC-TMO-002", "-*", "peer", 0, "L: a request that is neither answered nor retransmitted within 4 timeouts"},
	{"Q_Key of the REQ", 3, Set(func(p *packet.Packet) { p.QKey = 0x11111111 }), "UD-QKEY-003", "VV", "", 0, ""},
	{"Q_Key 0x80010001 of the REP", 6, Set(func(p *packet.Packet) { p.QKey = 0x80010001 }), "UD-QKEY-003", "VV", "", 0, ""},
	{"REQ of 252 bytes", 3, Resize(252), "CM-FMT-003", "VV", "", 1, ""},
	{"REP of 260 bytes", 6, Resize(260), "CM-FMT-003", "VV", "", 1, ""},
	{"REQ with immediate", 3, Become(packet.Op(packet.UD, packet.SendOnlyImm)), "UD-QP1-001", "VV", "", 2, ""},
	{"MAD to QP 0", 7, Set(func(p *packet.Packet) { p.DestQP = 0 }), "UD-QP1-002", "VV", "", 1, ""},
	{"RC request to QP 1", 14, Set(func(p *packet.Packet) { p.DestQP = 1 }), "BTH-010", "VV", "", 1, ""},
	{"ACK after DREP", 123, At(129, Insert(123, 100000, nil)), "CM-SM-012", "-V", "", 0, ""},
}
