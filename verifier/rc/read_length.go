package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// readOpcode is the opcode of the response at p's PSN to a READ of PSNs first … last.
func readOpcode(p *packet.Packet, first, last packet.PSN) packet.Opcode {
	fn := packet.ReadRespMiddle
	switch {
	case first == last:
		fn = packet.ReadRespOnly
	case p.PSN == first:
		fn = packet.ReadRespFirst
	case p.PSN == last:
		fn = packet.ReadRespLast
	}
	return packet.Op(p.Opcode.Service(), fn)
}

// readLength judges the payload of a READ response against the path MTU and the length that was asked for (rule RC-RES-002).
func (v *Verifier) readLength(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Covered(rule.RCRES002)
	v.Covered(rule.RCRSP009)
	in := p.Info()
	have := p.PayloadLen
	if (have+int(p.PadCnt))&3 != 0 {
		return // by BTH-006: how much of it is payload nobody knows
	}
	if in.First || in.Middle {
		have += int(p.PadCnt) // which is to be 0, and is reported as BTH-007
	}
	want, known := payloadOf(p, w, int(c.PMTU))
	if !known {
		if (in.First || in.Middle) && !wqe.ValidMTU(have) {
			v.readOdd(c, from, p, w, rule.Wants{}, "256, 512, 1024, 2048 or 4096 bytes of payload")
		}
		return
	}
	if p.PayloadLen == want+4 && in.Middle && acknowledges(p.Payload, c.RQ(from).MSN.Last) {
		v.aethInMiddle(c, from, p, w)
		return
	}
	if have != want {
		v.readOdd(c, from, p, w, rule.Want(expect.Payload, uint64(want)), fmt.Sprintf("%d bytes of payload", want))
	}
}

// payloadOf is how many bytes of payload response p to READ w has by its opcode and place; known is false where the path MTU is not known, or its place was reported.
func payloadOf(p *packet.Packet, w *wqe.SendWQE, mtu int) (n int, known bool) {
	switch in := p.Info(); {
	case in.First || in.Middle:
		return mtu, mtu != 0
	case p.PSN != w.Last:
		return 0, false
	case w.First == w.Last:
		return int(w.Length), true
	}
	return int(w.Length) - w.Last.Diff(w.First)*mtu, mtu != 0
}

// aethInMiddle reports the AETH in a Middle response to READ w (rule RC-RSP-009).
func (v *Verifier) aethInMiddle(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP009, Class: rule.Violation, Role: rule.Responder,
		Expected: "no AETH in a Middle packet", Actual: fmt.Sprintf("one with the MSN of this READ, % x", p.Payload[:4]), Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
}

// lacksAETH judges a First, Last or Only that is too short by just the length of an AETH, and does not say in its place what the AETH of READ w would: it
// has none (rule RC-RSP-009). It reports whether it is so.
func (v *Verifier) lacksAETH(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	const size = 4
	r, in, want := c.RQ(from), p.Info(), int(c.PMTU)
	switch {
	case p.Has&packet.HasAETH == 0 || !r.Last.Positive || p.PadCnt != 0:
		return false
	case w.First == w.Last && !w.Has(wqe.Unsized):
		want = int(w.Length)
	case c.PMTU == 0 || p.PSN != w.Last && !in.First:
		return false
	case p.PSN == w.Last:
		want = int(w.Length) - w.Last.Diff(w.First)*int(c.PMTU)
	}
	const near = 1 << 10
	if p.PayloadLen+size != want || p.Syndrome.Type() == packet.ACK && !p.Syndrome.Reserved() && (p.MSN-r.MSN.Last)&packet.PSNMask < near {
		return false
	}
	v.Withdraw(p, rule.RCRSP022) // what is there is no AETH
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP009, Class: rule.Proven(c.Complete()), Role: rule.Responder,
		Expected: "an AETH", Actual: fmt.Sprintf("no AETH: %d bytes after the BTH, where AETH and payload take %d", p.PayloadLen+size, want+size), Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
	return true
}

func (v *Verifier) readOdd(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, wants rule.Wants, want string) {
	sized := c.PMTU == 0 || p.Info().Only || c.Complete() // while packets were missed the QPs may have got another path MTU
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRES002, Class: rule.Proven(sized && !c.Ends[1-from].SQ.IsReordered(p.PSN)), Role: rule.Responder, Wants: wants, Expected: want, Actual: fmt.Sprintf("%d bytes", p.PayloadLen),
		Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
	if c.PMTU != 0 && !p.Info().Only {
		w.Flags |= wqe.Blamed // those after it are cut by the same fault
	}
}
