package planted

import (
	"fmt"
	"slices"
	"time"

	"ibwitness/packet"
)

// In the capture of rping the SEND of frame 8, by fd77::1, is acknowledged by frame 9, and that of frame 126, by fd77::2, by frame 127. Both
// connections are those that the REQ of frame 3 and the REP of frame 6 agree on.

// repliedTo begins an answer that comes later than it did: it moves frame answer, and all after it, ns nanoseconds after request.
func repliedTo(request, answer int, ns int64) Plant {
	return func(c *Capture, _ int) { Shift(c.Frame(request).Time+ns-c.Frame(answer).Time)(c, answer) }
}

// waits makes the receiver of the SEND in frame request not ready for it: an RNR NAK with a timer code, and the retransmitted SEND as much before the end
// of the wait as short says. Its answer follows.
func waits(request, answer int, code byte, short time.Duration) Plant {
	return func(c *Capture, at int) {
		wait := int64(packet.RNRTimer(code))
		repliedTo(request, answer, wait+int64(3*time.Millisecond))(c, at)
		const nak = 100_000
		c.insert(answer, request, nak, func(p *packet.Packet) {
			p.Syndrome = 0x20 | packet.Syndrome(code)
			p.MSN = (p.MSN - 1) & packet.PSNMask
		})
		c.Accepted = append(c.Accepted, c.insert(request, request, nak+wait-int64(short), nil))
	}
}

// rnrCodes are the same fault with each of the 32 timer codes.
func rnrCodes(request, answer int) (all []fault) {
	for code := range byte(32) {
		short := min(time.Microsecond, packet.RNRTimer(code)/10)
		all = append(all, fault{
			fmt.Sprintf("retransmitted %v before %v, the wait of code %d", short, packet.RNRTimer(code), code), request, waits(request, answer, code, short),
			"RC-RNR-001", "UV", "", 0, "",
		})
	}
	return all
}

// retransmits lets the answer to the SEND of frame 126 stay away, and retransmits that after each of these times. The last is one too many.
func retransmits(after ...time.Duration) Plant {
	return func(c *Capture, at int) {
		repliedTo(126, 127, int64(after[len(after)-1])+int64(time.Millisecond))(c, at)
		var last *Frame
		for _, d := range after {
			last = c.insert(126, 126, int64(d), nil)
		}
		c.Accepted = append(c.Accepted, last)
	}
}

// nakRounds sends another SEND after that of frame 126, which gets lost, so that n sequence NAKs ask for it. The last is one too many.
func nakRounds(n int) Plant {
	return func(c *Capture, at int) {
		const round = int64(time.Millisecond)
		repliedTo(126, 127, int64(n)*round+500_000)(c, at)
		ahead := func(p *packet.Packet) { p.PSN = p.PSN.Add(1) }
		c.insert(126, 126, 1000, ahead)
		for i := range int64(n) {
			c.insert(127, 126, i*round+200_000, func(p *packet.Packet) {
				p.Syndrome = packet.NAKSequence
				p.MSN = (p.MSN - 1) & packet.PSNMask
			})
			c.Accepted = []*Frame{c.insert(126, 126, (i+1)*round, nil)}
			c.insert(126, 126, (i+1)*round+1000, ahead)
		}
		Set(func(p *packet.Packet) {
			ahead(p)
			p.MSN = (p.MSN + 1) & packet.PSNMask
		})(c, 127)
	}
}

// every is n times, one interval after the other.
func every(interval time.Duration, n int) (all []time.Duration) {
	for i := range n {
		all = append(all, time.Duration(i+1)*interval)
	}
	return all
}

// reqTimeout and reqRetries change the local ACK timeout and the retry count of the REQ.
func reqTimeout(code byte) Plant {
	return At(3, Set(func(p *packet.Packet) { p.Payload[area+95] = p.Payload[area+95]&7 | code<<3 }))
}

func reqRetries(n byte) Plant {
	return At(3, Set(func(p *packet.Packet) { p.Payload[area+47] = p.Payload[area+47]&0xF8 | n }))
}

// timerFaults are retransmissions sooner and later than the ACK timeout that CM has agreed on, with codes from 1 ms to 8.6 s. One round
// may have been timed by another timeout, which the application has set; two that no one timer explains are told. An answer that does not come
// is told of beside them.
func timerFaults() (all []fault) {
	for _, code := range []byte{8, 10, 12, 14, 16, 18, 19, 21} {
		t := packet.Timeout(code)
		early, late := t*97/100, t*42/10
		plant := func(after ...time.Duration) Plant { return All(reqTimeout(code), retransmits(after...)) }
		all = append(
			all,
			fault{fmt.Sprintf("retransmitted once, at 97 %% of %v", t), 126, plant(early), "RC-TMO-002", "--", "", 1, ""},
			fault{fmt.Sprintf("retransmitted once, after 4.2 times %v", t), 126, plant(late), "RC-TMO-002", "--", "", 1, ""},
			fault{fmt.Sprintf("retransmitted at 97 %% of %v, and before that after 3.95 times", t), 126, plant(t*395/100, t*395/100+early), "RC-TMO-002", "UU", "", 1, ""},
			fault{fmt.Sprintf("retransmitted after 4.2 times %v, and before that after 1.03 times", t), 126, plant(t*103/100, t*103/100+late), "RC-TMO-002", "UU", "", 1, ""},
		)
	}
	return append(all, fault{"retransmitted soon, where the REQ gives no timeout", 126, All(reqTimeout(0), retransmits(time.Millisecond)), "RC-TMO-002", "--", "", 1, ""})
}

// countFaults are one retry more than CM has agreed on, of those that it may.
func countFaults() (all []fault) {
	for n := range byte(8) {
		all = append(all, fault{
			fmt.Sprintf("retry %d where %d are allowed", n+1, n), 126, All(reqRetries(n), retransmits(every(3*time.Second, int(n)+1)...)), "RC-RTY-001", "UV", "", 1, "",
		}, fault{
			fmt.Sprintf("retry %d for a NAK where %d are allowed", n+1, n), 126, All(reqRetries(n), nakRounds(int(n)+1)), "RC-RTY-003", "UV", "", 0, "",
		})
	}
	for n := range byte(7) {
		all = append(all, fault{
			fmt.Sprintf("RNR retry %d where %d are allowed", n+1, n), 8, All(repRNR(n), rnrRounds(int(n)+1, int(n)+1)), "RC-RNR-003", "UV", "", 0, "",
		})
	}
	return all
}

// waitFaults are requests in place of the one that was not taken.
var waitFaults = []fault{
	{"the next request during the wait", 8, func(c *Capture, at int) {
		waits(8, 9, 20, -time.Microsecond)(c, at)
		c.Accepted = []*Frame{c.insert(14, 8, 5_000_000, nil)}
	}, "RC-RNR-005", "UV", "", 1, ""},
	{"the next request when the wait is over", 8, func(c *Capture, at int) {
		waits(8, 9, 14, -time.Microsecond)(c, at)
		f := c.Accepted[0]
		f.Packet.PSN++
		seal(f.Packet)
	}, "RC-RNR-002|RC-RNR-005", "UV", "", 2, ""},
	{"retransmitted after a fatal NAK", 126, func(c *Capture, at int) {
		retransmits(3*time.Second)(c, at)
		Set(syndrome(0x62))(c, 127)
		Set(func(p *packet.Packet) { p.MSN-- })(c, 127)
		f := c.insert(126, 127, int64(3*time.Second), nil)
		Shift(int64(4*time.Second))(c, 128)
		c.Accepted = []*Frame{f}
	}, "RC-RTY-011", "UV", "", 1, ""},
}

// withoutCM are those that no capture shows which does not hold what CM has agreed on.
var withoutCM = []fault{
	{"retransmitted at 90 % of the timeout", 126, retransmits(1930 * time.Millisecond), "RC-TMO-002", "--", "", 1, ""},
	{"retry 8", 126, retransmits(every(3*time.Second, 8)...), "RC-RTY-001", "UV", "", 1, ""},
	{"RNR retry 8", 8, rnrRounds(8, 8), "RC-RNR-003", "--", "", 0, ""},
}

// unconnected takes away the exchange in front of the connection: frames 1 to 7 become datagrams of another kind.
func unconnected(c *Capture, _ int) {
	for _, f := range c.Frames[:7] {
		f.Packet, f.Raw = nil, slices.Concat(make([]byte, etherHeader-2), []byte{0x88, 0xB5}, make([]byte, 46))
	}
}

// allowed are what the faults above are not: just in time, and as often as agreed.
func allowed() (all []harmless) {
	for code := range byte(32) {
		all = append(
			all,
			harmless{fmt.Sprintf("retransmitted when %v are over", packet.RNRTimer(code)), "cm", 8, waits(8, 9, code, 0), 0, ""},
			harmless{fmt.Sprintf("retransmitted 5 ms after %v", packet.RNRTimer(code)), "nocm", 8, waits(8, 9, code, -2*time.Millisecond), 0, ""},
		)
	}
	for _, code := range []byte{8, 10, 12, 14, 16, 18, 19, 21} {
		t := packet.Timeout(code)
		all = append(
			all,
			harmless{fmt.Sprintf("retransmitted when %v are over", t), "cm", 126, All(reqTimeout(code), retransmits(t)), 1, ""},
			harmless{fmt.Sprintf("retransmitted after 3.9 times %v", t), "cm", 126, All(reqTimeout(code), retransmits(t*39/10)), 1, ""},
		)
	}
	for n := range byte(7) {
		all = append(
			all,
			harmless{fmt.Sprintf("%d retries", n+1), "cm", 126, All(reqRetries(n+1), retransmits(every(3*time.Second, int(n)+1)...)), 1, ""},
			harmless{fmt.Sprintf("%d RNR retries", n), "cm", 8, All(repRNR(n), rnrRounds(int(n))), 0, ""},
		)
	}
	return append(
		all,
		harmless{"12 RNR retries where the count has no end", "cm", 8, All(repRNR(7), rnrRounds(12)), 0, ""},
		harmless{"7 retries of each of two requests", "cm", 126, All(func(c *Capture, at int) {
			repliedTo(120, 121, int64(22*time.Second))(c, at)
			for _, d := range every(3*time.Second, 7) {
				c.insert(120, 120, int64(d), nil)
			}
		}, retransmits(every(3*time.Second, 7)...)), 2, ""},
	)
}
