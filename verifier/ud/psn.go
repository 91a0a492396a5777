package ud

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// standstill is how many times in a row the PSN of a sender of datagrams must make the same step, to the same PSN or back, until it is reported: one such
// step may be the network's, which changes the order of packets, or that of two send queues under one QPN.
const standstill = 4

// counts judges that a sender of datagrams counts its PSN up (rule UD-PSN-001). Of its send queue Last has PSN, frame and tap of the
// datagram before, Retransmission.From is the newest step, and Restarts how often it was made in a row, First where it counted up from; Last.ICRC of the receive queue is that of the datagram
// before. Of QP 0 and 1 it is not judged: agents in firmware and several send queues may share one number, and many ports the permissive LID.
func (v *Verifier) counts(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[from].SQ, c.RQ(from)
	if v.Broken || p.DestQP == 0 || p.SrcQP <= 1 || p.ICRC == 0 {
		return
	}
	v.Covered(rule.UDPSN001)
	if q.Last.Frame != 0 && q.Last.Tap == p.Tap {
		if p.ICRC == r.Last.ICRC {
			return // the network has made a copy
		}
		step := q.Step(p.PSN)
		if q.Restarts == standstill && (step == 0 || p.PSN.Before(q.First)) { // else copies that the network made have come the other way round
			v.notCounted(c, from, p, -step)
		}
	} else {
		q.ForgetBefore(p.PSN)
	}
	c.CameDatagram(from, p)
}

// notCounted reports a PSN that has gone back by so many in each of the newest steps.
func (v *Verifier) notCounted(c *qp.Pair, from int, p *packet.Packet, back int) {
	actual := fmt.Sprintf("PSN %v for %d different datagrams in a row", p.PSN, standstill+1)
	if back > 0 {
		actual = fmt.Sprintf("%d back, %d times in a row", back, standstill)
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.UDPSN001, Class: rule.Violation, Role: rule.Sender, Expected: "a PSN that counts up from datagram to datagram",
		Actual: actual, Evidence: []uint64{c.Ends[from].SQ.Last.Frame},
	})
}
