package uc

import (
	"fmt"

	"ibwitness/coverage"
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

var sequence = stream.SequenceRules{Send: rule.UCSEQ001, Write: rule.UCSEQ001, None: rule.UCSEQ001, Between: rule.UCSEQ001, Role: rule.Sender}

// Packet judges one UC packet: messages are as on RC, but nothing is acknowledged and nothing is retransmitted (family UC).
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if !p.Info().Request {
		if q.Joined && p.PSN == q.Next {
			q.Expect(q.Next.Add(1))
			q.Sequence.SetUnsure(true)
		}
		return
	}
	if v.JudgeReuse(c, from, p) {
		return
	}
	if !q.Joined {
		v.Join(c, from, p)
	}
	d := p.PSN.Diff(q.Next)
	if q.Jump != nil || d > stream.FarJump || d < -stream.FarJump {
		if !v.farPSN(c, from, p, d) {
			return
		}
		d = p.PSN.Diff(q.Next)
	}
	v.Show(p)
	if v.place(c, from, p, d) {
		v.next(c, from, p)
	}
}

// place judges a PSN that is d ahead of the next one. It reports whether the packet is new.
func (v *Verifier) place(c *qp.Pair, from int, p *packet.Packet, d int) bool {
	q := &c.Ends[from].SQ
	if q.Retransmission.Active {
		d = v.afterReuse(c, from, p, d)
	}
	switch {
	case d > 0 && p.PSN == q.High:
		q.LoseMessage() // a late packet came in between
	case d > 0:
		v.gap(c, from, p, d)
	case d < 0 && !v.Renumber(c, from, p) && !v.late(c, from, p):
		v.psnReused(c, from, p)
		return false
	}
	return true
}

// next judges a new packet by the message that it belongs to: opcode sequence and lengths.
func (v *Verifier) next(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.Covered(rule.UCPSN001)
	q.Begin()
	q.CloseExplanation()
	if p.PSN.Before(q.High) && !v.Unordered(c, from) {
		overtaken(q, p)
	}
	v.Sequence(c, from, p, &sequence)
	w := v.Message(c, from, p)
	if q.Sequence.Odd == wqe.None && !v.Payload(c, from, p, w, rule.Sender, rule.UCLEN001, rule.UCLEN001, rule.UCLEN001) {
		w.Flags |= wqe.Blamed
		stream.MayEnd(q, p)
	}
	if q.Sequence.Odd == wqe.None && w.Op == wqe.Write && p.Has&p.Info().Headers == p.Info().Headers {
		v.writeLength(c, from, p, w)
	}
	v.shown(c, q, p, w)
	q.AdvanceUnacknowledged(p.PSN.Add(1))
	q.History().Put(p.PSN, p.Frame, v.Trace(p), 0)
	q.Last.Came(p)
}

// Finish judges what of a UC connection was still open when the capture ended.
func (v *Verifier) Finish(c *qp.Pair, _ int64) { v.JumpsAtEnd(c, rule.UCPSN001, rule.Sender) }

// farPSN is JudgeFarPSN under the rule of UC.
func (v *Verifier) farPSN(c *qp.Pair, from int, p *packet.Packet, d int) bool {
	return v.JudgeFarPSN(c, from, p, d, rule.UCPSN001, rule.Sender)
}

// gap judges a PSN beyond the next one (rule UC-PSN-001).
func (v *Verifier) gap(c *qp.Pair, from int, p *packet.Packet, d int) {
	q := &c.Ends[from].SQ
	if d == 1 && v.Congestion.CountedCNP(c, from, p) {
		v.Congestion.ReportCounted(c, from, p, rule.Sender)
	} else if !q.GapExplained && !v.ReportMisdirected(c, from, p, 1) {
		v.Covered(rule.UCPSN001)
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.UCPSN001, Class: rule.Proven(c.Sees(from)), Role: rule.Sender,
			Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "PSN " + q.Next.String(), Actual: fmt.Sprintf("PSN %v, %d ahead", p.PSN, d), Detail: verifier.LossDetail(c, from), Gap: rule.GapAt(q.Next),
		})
		q.CountMissingMessages(d, p)
	}
	q.BeginGap(q.Next, p.PSN, false)
	q.LoseMessage()
	if !v.Broken {
		q.Lost().Paths.Begin(coverage.DroppedMessage, p.PSN)
	}
}

// late recognises a packet that fills a gap: the network let others overtake it.
func (v *Verifier) late(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if !q.Gap.Open() || !p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)) {
		return false
	}
	v.Overtaken(c, from, p, q.Last.ID, q.Last.Frame, q.Last.Time)
	v.Event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
	q.CountFound()
	q.Rewind(p.PSN, c.PMTU)
	q.Sequence.SetUnsure(true)
	if q.Gap.From == p.PSN {
		q.FillGap(p.PSN.Add(1))
	}
	return true
}

// overtaken notes packet p, whose PSN is before one that has come: nothing of UC is retransmitted.
func overtaken(q *qp.SendQueue, p *packet.Packet) {
	if q.Last.Tap == p.Tap && q.History().Get(p.PSN) == nil {
		after := q.OvertakenAfter()
		q.CountOvertaken(p, after, verifier.Numbered(p) && verifier.LeftBefore(p, after))
	}
}

// psnReused judges a PSN that was passed: UC has no retransmission (rule UC-PSN-002).
func (v *Verifier) psnReused(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	v.Covered(rule.UCPSN002)
	s := q.History().Get(p.PSN)
	if s != nil && v.NetworkCopy(c, from, s.Trace, p) {
		v.Event(c, from, rule.Sender, p, rule.EvDuplicate, "duplicated by the network")
		return
	}
	d := rule.Verdict{
		Rule: rule.UCPSN002, Class: rule.Unproven, Role: rule.Sender,
		Wants: rule.Want(expect.PSN, uint64(q.Next)), Expected: "PSN " + q.Next.String() + ": a PSN is used once", Actual: "PSN " + p.PSN.String(),
	}
	switch {
	case s == nil:
		d.Class = rule.Proven(c.Sees(from) && !q.Gap.Open() && !p.PSN.Before(q.First))
	default:
		d.Class, d.Evidence = rule.Proven(c.Complete()), []uint64{packet.FrameNear(p.Frame, s.Frame)}
		if !verifier.Numbered(p) && p.Encap != packet.Native && !c.Sees(from) && v.Trace(p) == s.Trace {
			d.Class, d.Detail = rule.Unproven, "the network may have duplicated the packet and delayed the duplicate; --near "+c.Ends[from].Addr.String()+" if the tap is at this endpoint"
		}
	}
	v.Report(c, from, p, d)
	if q.CloseExplanation(); d.Class == rule.Violation {
		q.ExplainNextGap() // it may have the PSN before its own: the gap after it is the same fault
	}
	if q.EndRetransmission(); s == nil || s.Trace.Opcode != p.Opcode || p.PSN.Add(1) != q.Next { // else the message goes on as it was
		q.BeginRetransmission(p.PSN.Add(1))
	}
}

// afterReuse takes the packet after one whose PSN had been used. Where it counts on from there, the sender has begun again, which was reported: its stream
// is followed there. It returns how far ahead of the next PSN the packet is.
func (v *Verifier) afterReuse(c *qp.Pair, from int, p *packet.Packet, d int) int {
	q := &c.Ends[from].SQ
	q.EndRetransmission()
	if p.PSN != q.Retransmission.Next {
		return d
	}
	q.CloseGap()
	q.Rewind(p.PSN, c.PMTU)
	q.LoseMessage() // what was there before it is not the message that goes on
	return 0
}

// writeLength compares an RDMA WRITE with its DMALen (rules UC-LEN-002, UC-LEN-003).
func (v *Verifier) writeLength(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	if p.Info().First {
		v.Covered(rule.UCLEN003)
		if c.PMTU != 0 && p.DMALen <= c.PMTU {
			w.Flags |= wqe.Blamed
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.UCLEN003, Class: rule.Violation, Role: rule.Sender,
				Expected: "RDMA WRITE Only: the message fits the path MTU", Actual: fmt.Sprintf("%v with DMALen %d", p.Opcode, p.DMALen),
			})
		}
	}
	if !w.Has(wqe.Whole) || w.Has(wqe.Blamed) {
		return
	}
	v.Covered(rule.UCLEN002)
	v.WriteSum(c, from, p, w, rule.UCLEN002, rule.Sender)
}
