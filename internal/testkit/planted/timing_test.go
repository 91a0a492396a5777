package planted

import (
	"slices"
	"time"

	"ibwitness/packet"
)

// Of the RNR captures, frame 1 is the SEND First that is not ready for, retransmitted after the wait; the RNR NAK is followed by a
// sequence NAK for the same PSN.

// soonAfter moves frame at to ns nanoseconds after frame before.
func soonAfter(before int, ns int64) Plant {
	return func(c *Capture, at int) {
		f := c.Frame(at)
		f.Time = c.Frame(before).Time + ns
		i := c.index(at)
		c.Frames = slices.Delete(c.Frames, i, i+1)
		j := slices.IndexFunc(c.Frames, func(g *Frame) bool { return g.Time > f.Time })
		c.Frames = slices.Insert(c.Frames, j, f)
	}
}

// rnr01Faults: RNR timer 10 µs, rnr12Faults: 0.64 ms, rnr14Faults: 1.28 ms.
var rnr01Faults = []fault{
	{"retransmitted after 5 µs of 10", 13, soonAfter(4, 5000), "RC-RNR-001", "UV", "", 2, ""},
	{"RNR timer of 1.28 ms not waited for", 15, On(Set(syndrome(0x2E)), 17), "RC-RNR-001|RC-RNR-005", "**", "peer", 1, "V: requests retransmitted from after the PSN of the RNR NAK do not break the wait"},
	{"RNR timer of 655 ms not waited for", 15, On(Set(syndrome(0x20)), 25), "RC-RNR-001|RC-RNR-005", "**", "peer", 2, "the longer timer proves the sequence NAK after it, a departure of the device"},
}

var rnr12Faults = []fault{
	{"retransmitted at three quarters of the wait", 13, soonAfter(3, 480000), "RC-RNR-001", "UV", "", 2, ""},
	{"retransmitted 1 µs too early", 13, soonAfter(3, 639000), "RC-RNR-001", "UV", "", 2, ""},
	{"second retransmission too early", 25, soonAfter(15, 400000), "RC-RNR-001", "UV", "", 2, ""},
	{"RNR timer of 655 ms not waited for", 15, On(Set(syndrome(0x20)), 25), "RC-RNR-001|RC-RNR-005", "**", "peer", 2, ""},
}

var rnr14Faults = []fault{
	{"retransmitted at half the wait", 13, soonAfter(4, 640000), "RC-RNR-001", "UV", "", 2, ""},
	{"second retransmission too early", 25, soonAfter(15, 900000), "RC-RNR-001", "UV", "", 2, ""},
}

// rnrRounds makes frame 9, the ACK of the SEND in frame 8, come after n RNR NAKs of 10 µs and retransmissions, each after 8 ms.
func rnrRounds(n int, on ...int) Plant {
	return func(c *Capture, _ int) {
		Shift(int64(n)*20e6)(c, 9)
		for i := range n {
			at := c.Number(c.Frame(9)) - 1
			nak, again := c.Frame(9).Clone(), c.Frame(8).Clone()
			nak.Was, again.Was = 0, 0
			nak.Packet.Syndrome = 0x21
			nak.Packet.MSN--
			nak.Time = c.Frame(8).Time + int64(i)*20e6 + 100000
			again.Time = nak.Time + 8e6
			seal(nak.Packet)
			seal(again.Packet)
			c.Frames = slices.Insert(c.Frames, int(at), nak, again)
			if slices.Contains(on, i+1) {
				c.Accepted = append(c.Accepted, again)
			}
		}
	}
}

// cmTiming are faults against the times and counts that CM agreed: ACK timeout 19, 2.15 s; retry count 7.
var cmTiming = []fault{
	{"RNR retry count of 1 exceeded", 8, All(repRNR(1), rnrRounds(3, 2, 3)), "RC-RNR-003", "UV", "", 1, ""},
	{"RNR retry count of 0 exceeded", 8, All(repRNR(0), rnrRounds(1, 1)), "RC-RNR-003", "UV", "", 0, ""},
	{"RNR retry count of 6 exceeded", 8, All(repRNR(6), rnrRounds(7, 7)), "RC-RNR-003", "UV", "", 0, ""},
	{"retransmitted at 90 % of the timeout, and before that after 3.7 times", 126, retransmits(7950*time.Millisecond, 9880*time.Millisecond), "RC-TMO-002", "UU", "", 1, ""},
	{"retransmitted after 28 timeouts, and before that after one", 126, retransmits(2200*time.Millisecond, 62200*time.Millisecond), "RC-TMO-002", "UU", "", 1, ""},
}

// repRNR changes the RNR retry count of the REP.
func repRNR(n byte) Plant {
	return At(6, Set(func(p *packet.Packet) { p.Payload[24+27] = p.Payload[24+27]&0x1F | n<<5 }))
}
