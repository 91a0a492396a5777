package stream

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// ReportMisdirected reports the packet that went to a QP that nothing is known of, when the connection it belongs to goes on without it
// (rule BTH-011). p is that connection's next packet, d PSNs ahead.
func (v *Verifier) ReportMisdirected(c *qp.Pair, from int, p *packet.Packet, d int) bool {
	m := c.Misdirected
	c.CloseMisdirected()
	if m == nil || m.Src != c.Ends[from].Addr || m.PSN != c.Ends[from].SQ.Next || d != max(c.PSNs(m), 1) {
		return false
	}
	c.Misplace(m.PSN)
	if OwnRules(m.DestQP) {
		return true
	}
	v.Covered(rule.BTH011)
	v.Report(c, from, m, rule.Verdict{
		Rule: rule.BTH011, Class: rule.Proven(c.Complete()), Role: rule.Sender,
		Wants: rule.Want(expect.DestQP, uint64(c.Ends[1-from].Number)), Expected: fmt.Sprintf("DestQP 0x%x of the connection: the PSN is missing there", c.Ends[1-from].Number),
		Actual: fmt.Sprintf("DestQP 0x%x", m.DestQP), Evidence: []uint64{p.Frame},
	})
	return true
}

// MisdirectedRetransmission reports the packet that went to a QP that nothing is known of, when the same is sent to that of the connection, after the timer that had to run
// out since nobody answered (rule BTH-011). p is that connection's next packet.
func (v *Verifier) MisdirectedRetransmission(c *qp.Pair, from int, p *packet.Packet) {
	m := c.Misdirected
	if m.Src != c.Ends[from].Addr {
		return
	}
	c.CloseMisdirected()
	if m.PSN != p.PSN || p.Time-m.Time <= int64(verifier.InFlight) || c.Ends[from].SQ.Last.Time > m.Time || !sameRequest(m, p) || OwnRules(m.DestQP) {
		return
	}
	v.Covered(rule.BTH011)
	v.Report(c, from, m, rule.Verdict{
		Rule: rule.BTH011, Class: rule.Proven(c.Complete()), Role: rule.Sender,
		Wants: rule.Want(expect.DestQP, uint64(c.Ends[1-from].Number)), Expected: fmt.Sprintf("DestQP 0x%x of the connection: it was retransmitted there", c.Ends[1-from].Number),
		Actual: fmt.Sprintf("DestQP 0x%x", m.DestQP), Evidence: []uint64{p.Frame},
	})
}

// sameRequest reports whether two requests agree in all that their headers say but for their destination.
func sameRequest(a, b *packet.Packet) bool {
	return a.Opcode == b.Opcode && a.Has == b.Has && a.PayloadLen == b.PayloadLen && a.PadCnt == b.PadCnt && a.SE == b.SE &&
		a.VA == b.VA && a.RKey == b.RKey && a.DMALen == b.DMALen && a.SwapAdd == b.SwapAdd && a.Compare == b.Compare && a.Imm == b.Imm && a.InvRKey == b.InvRKey
}

// OwnRules reports whether a QP is one that has its own rules for what goes there: BTH-010, UD-QP1-002, UD-MC-004.
func OwnRules(qpn uint32) bool { return qpn <= 1 || qpn == packet.PSNMask }

// Expects reports whether p, to another QP of the same host, carries just the PSN that end from of c would send next.
func Expects(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if p.Info().Request {
		return q.Joined && q.Next == p.PSN && (q.Open == wqe.None) == !(p.Info().Middle || p.Info().Last)
	}
	peer := &c.Ends[1-from].SQ
	if !c.Paired || !peer.Joined {
		return false
	}
	w, _ := peer.Messages.Find(p.PSN)
	return w != nil && !p.PSN.Before(peer.Una) && w.Answers(p.Opcode.Fn())
}

// MayBeMissing notes that p, to another QP of the same host, may be the response of end from of c that will be missing there.
func MayBeMissing(c *qp.Pair, from int, p *packet.Packet) {
	c.Ends[from].SQ.ExplainNextGap()
	if w, _ := c.Ends[1-from].SQ.Messages.Find(p.PSN); w != nil && p.ICRCState != packet.CRCBad && w.Op.Responded() && (p.Info().Last || p.Info().Only) {
		w.Flags |= wqe.Accused
	}
}
