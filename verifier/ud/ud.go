package ud

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// Packet judges one datagram against what is known of its QPs (rules UD-HDR-003, UD-LEN-001, UD-PSN-001, -002, UD-QKEY-001, PKY-012,
// ROC-V2-033): a datagram is a message of its own, and its PSN is never checked by the receiver.
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	end.CountMessage()
	v.shown(end, p)
	switch {
	case p.DestQP == 0:
		v.smp(c, from, p)
	case p.Has&packet.HasLRH != 0 && (p.SrcQP == 1 || p.DestQP == packet.PSNMask):
		v.group(p)
	case p.DestQP == packet.PSNMask && p.MAC != [6]byte{}:
		v.groupMAC(c, from, p)
	}
	v.qkey(c, from, p)
	v.length(c, from, p)
	privileged := v.privileged(c, from, p)
	if p.DestQP > 1 && end.Number > 1 {
		v.flow(c, from, p, privileged)
	}
	v.counts(c, from, p)
	v.sequence(p)
	v.start(c, from, p)
}

// qkey compares the Q_Key of a datagram with that of its destination, where that is known (rule UD-QKEY-001).
func (v *Verifier) qkey(c *qp.Pair, from int, p *packet.Packet) {
	peer := &c.Ends[1-from]
	if peer.Knows(qp.KnowsQKey) && p.DestQP != packet.PSNMask {
		v.Covered(rule.UDQKEY001)
		if p.QKey != peer.Attr.QKey {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.UDQKEY001, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
				Wants: rule.Want(expect.QKey, uint64(peer.Attr.QKey)), Expected: fmt.Sprintf("Q_Key 0x%08x of the destination QP", peer.Attr.QKey), Actual: fmt.Sprintf("Q_Key 0x%08x", p.QKey),
			})
		}
	}
}

// length compares the payload of a datagram with the path MTU, where that is known (rule UD-LEN-001).
func (v *Verifier) length(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	if end.Knows(qp.KnowsPMTU) {
		v.Covered(rule.UDLEN001)
		if p.PayloadLen > int(end.Attr.PMTU) && p.PayloadLen <= 4096 {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.UDLEN001, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
				Expected: fmt.Sprintf("at most %d bytes of payload", end.Attr.PMTU), Actual: fmt.Sprintf("%d bytes", p.PayloadLen),
			})
		}
	}
}

// privileged judges that no QP without a privileged Q_Key sends one (rule PKY-012). It reports whether this one does.
func (v *Verifier) privileged(c *qp.Pair, from int, p *packet.Packet) (privileged bool) {
	end := &c.Ends[from]
	if end.Knows(qp.KnowsQKey) && end.Attr.QKey>>31 == 0 && p.DestQP != 1 {
		v.Covered(rule.PKY012)
		if privileged = p.QKey>>31 != 0; privileged {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.PKY012, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
				Expected: "a Q_Key without the privileged bit", Actual: fmt.Sprintf("Q_Key 0x%08x", p.QKey),
			})
		}
	}
	return privileged
}

// start judges the PSN of the first datagram of a QP whose start PSN is known (rule UD-PSN-002).
func (v *Verifier) start(c *qp.Pair, from int, p *packet.Packet) {
	if q := &c.Ends[from].SQ; q.Fresh {
		q.Begin()
		v.Covered(rule.UDPSN002)
		if p.PSN != q.Next {
			why := verifier.LossDetail(c, from)
			if why != "" && p.PSN.Before(q.Next) {
				why = "it may be of an earlier QP of that number"
			}
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.UDPSN002, Class: rule.Proven(c.Sees(from)), Role: rule.Sender,
				Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "start PSN " + q.Next.String(), Actual: "PSN " + p.PSN.String(), Detail: why,
			})
		}
	}
}

// Gap takes a datagram of which it is not known what its receiver makes of it: datagrams are no stream.
func (v *Verifier) Gap(*qp.Pair, int, *packet.Packet) {}

// Finish has nothing to judge: no datagram waits for another.
func (v *Verifier) Finish(*qp.Pair, int64) {}

// flow compares the P_Key and the Q_Key of a datagram with those before it. privileged says that a finding about its Q_Key was made.
func (v *Verifier) flow(c *qp.Pair, from int, p *packet.Packet, privileged bool) {
	end, peer := &c.Ends[from], &c.Ends[1-from]
	f, q := &end.Flow, &end.SQ
	v.Covered(rule.UDPKY001)
	q.Last.CameAt(p.Time)
	if f.Known() && f.PKey != p.PKey && f.Changes&15 < 15 {
		f.Changes++
	}
	if f.Known() && f.PKey != p.PKey && f.Reported&qp.ReportedPKey == 0 && p.PKey&0x7FFF != 0 {
		f.Reported |= qp.ReportedPKey
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.UDPKY001, Class: rule.Unproven, Role: rule.Sender,
			Wants: rule.Want(expect.PKey, uint64(f.PKey)), Expected: fmt.Sprintf("P_Key 0x%04x of the QP", f.PKey), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
			Detail: "the P_Key of the QP was learned from its first packet",
		})
	}
	v.Covered(rule.UDQKEY001)
	if f.Known() && f.QKey() != p.QKey && !peer.Knows(qp.KnowsQKey) && !privileged {
		v.changedQKey(c, from, p)
	}
	if !f.Known() {
		f.State, f.PKey = qp.FlowKnown, p.PKey
		f.SetQKey(p.QKey)
		v.partition(c, from, p)
	}
}

// partition compares the P_Key of the first datagram with that of its QP, where an HCA agent has told it; the membership bit is the port's.
func (v *Verifier) partition(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	if !end.Knows(qp.KnowsPKey) || end.Attr.ByCM&qp.KnowsPKey != 0 || (p.PKey^end.Attr.PKey)&0x7FFF == 0 || p.PKey&0x7FFF == 0 {
		return
	}
	f := &end.Flow
	f.PKey = end.Attr.PKey
	f.Reported |= qp.ReportedPKey
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.UDPKY001, Class: rule.Violation, Role: rule.Sender, Basis: rule.OnPacket,
		Wants: rule.Want(expect.PKey, uint64(f.PKey)), Expected: fmt.Sprintf("P_Key 0x%04x of the QP", f.PKey), Actual: fmt.Sprintf("P_Key 0x%04x", p.PKey),
	})
}

// changedQKey judges a Q_Key that is not that of the datagrams before. When the next one has it too, it is the QP's from now on: it was
// changed, or the first one was wrong.
func (v *Verifier) changedQKey(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	f := &end.Flow
	if f.Changes < 15<<4 {
		f.Changes += 1 << 4
	}
	if end.ReportedQKey() == p.QKey {
		end.ReportQKey(f.QKey())
		f.SetQKey(p.QKey)
		return
	}
	end.ReportQKey(p.QKey)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.UDQKEY001, Class: rule.Unproven, Role: rule.Sender,
		Wants: rule.Want(expect.QKey, uint64(f.QKey())), Expected: fmt.Sprintf("Q_Key 0x%08x as before", f.QKey()), Actual: fmt.Sprintf("Q_Key 0x%08x", p.QKey),
		Detail: "the Q_Key of the destination QP is not known, and may have changed",
	})
}
