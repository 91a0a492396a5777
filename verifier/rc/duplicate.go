package rc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// psnReused reports a packet whose PSN was used for another: right after that one the PSN has not advanced (rule RC-PSN-002), else
// it was retransmitted otherwise than the first time (rules RC-RTY-004, -009).
func (v *Verifier) psnReused(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	if !rightAfter(&c.Ends[from].SQ, p) || w != nil && w.Op.Atomic() && wqe.OpOf(p.Opcode.Fn()).Atomic() {
		v.identicalRetransmission(c, from, p, s, w)
		return
	}
	v.Covered(rule.RCPSN002)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCPSN002, Class: rule.Proven(c.Complete()), Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(p.PSN.Add(1))), Expected: "PSN " + p.PSN.Add(1).String() + " for another packet", Actual: "PSN " + p.PSN.String() + " again",
		Evidence: []uint64{packet.FrameNear(p.Frame, s.Frame)},
	})
	if q := &c.Ends[from].SQ; q.Open != wqe.None && q.Messages.Newest() != nil {
		q.Messages.Newest().Flags |= wqe.Blamed // of whose payload this one may be
	}
}

// rightAfter reports whether p comes right after the packet that took its PSN: then it is more likely another packet than a retransmission of that one.
func rightAfter(q *qp.SendQueue, p *packet.Packet) bool {
	since := p.Time - q.Last.Time
	return q.Last.PSN == p.PSN && max(since, -since) <= int64(verifier.InFlight)
}

// comparison is the newest comparison of a packet with an earlier one.
type comparison struct {
	tap   uint16
	frame uint64
	with  packet.Trace
	is    bool
}

// content is packet.SameContent, which more than one rule asks of the same packets.
func (s *comparison) content(p *packet.Packet, with packet.Trace) bool {
	if s.frame != p.Frame || s.tap != p.Tap || s.with != with {
		*s = comparison{p.Tap, p.Frame, with, packet.SameContent(p, with)}
	}
	return s.is
}

// identicalRetransmission holds a retransmission to be identical with the original (rules RC-RTY-004, -009).
func (v *Verifier) identicalRetransmission(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	id, what := rule.RCRTY004, "the packet as originally sent"
	if w != nil && w.Op.Atomic() || wqe.OpOf(s.Trace.Opcode.Fn()).Atomic() {
		id = rule.RCRTY009
	}
	v.Covered(id)
	if v.Broken || v.compared.content(p, s.Trace) {
		return
	}
	if w != nil && w.Op.Atomic() && p.VA&7 == 0 {
		w.VA = p.VA // the responder may have taken this one
	}
	actual := "other payload or headers"
	if p.Opcode != s.Trace.Opcode {
		actual = p.Opcode.String()
		what += ": " + s.Trace.Opcode.String()
	}
	d := rule.Verdict{
		Rule: id, Class: rule.Proven(c.Complete()), Role: rule.Requester, Expected: what, Actual: actual,
		Evidence: []uint64{packet.FrameNear(p.Frame, s.Frame)},
	}
	if l := c.Ends[from].SQ.Recovery; l != nil && l.AfterIdle && d.Class == rule.Violation {
		d.Class, d.Detail = rule.Unproven, "after a long silence: another connection may have the queue pair number and the PSNs of this one"
	}
	v.Report(c, from, p, d)
}

// duplicateRead holds a READ request that falls into the PSNs of an earlier READ against it: it may ask for the tail that is missing,
// not for anything else (rules RC-RTY-007, -008).
func (v *Verifier) duplicateRead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	v.Covered(rule.RCRTY007)
	v.Covered(rule.RCRTY008)
	w.Flags &^= wqe.Blamed
	class := rule.Proven(c.Complete() && !w.Has(wqe.Guessed) && (!w.Has(wqe.Unsized) || p.PSN == w.First || c.Sees(from))) // that the READ takes this PSN
	if p.Has&p.Info().Headers != p.Info().Headers || !w.Has(wqe.Whole) {
		return
	}
	if p.Opcode.Fn() != packet.ReadRequest {
		v.readReplaced(c, from, p, w, class)
		return
	}
	reissue(c, from, p, w)
	done := uint32(0)
	if n := p.PSN.Diff(w.First); n > 0 {
		if c.PMTU == 0 {
			return
		}
		done = uint32(n) * c.PMTU
	}
	rest := w.Length - min(done, w.Length)
	if p.DMALen != rest {
		w.Flags |= wqe.Blamed // which of the two is answered is not certain
		q.Reorder()
	}
	if p.DMALen > rest && p.DMALen < 1<<30 {
		q.ExtendRead(p.PSN.Add(wqe.Packets(p.DMALen, max(c.PMTU, stream.LeastMTU))))
	}
	v.readOperands(c, from, p, w, done, class)
	if w.Has(wqe.Answered) {
		w.Flags = w.Flags&^wqe.Answered | wqe.Told
		q.ReadBegins()
	}
	if w.Has(wqe.Gapped) {
		v.readTail(c, from, p, w)
	}
}

// reissue notes from where on READ w is retransmitted.
func reissue(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if w.First.Before(c.RQ(1 - from).EPSN) {
		q.Reissue(w.First, p.PSN, p.Time)
		w.Flags |= wqe.Reissued
	} else {
		q.DropIssues(w.First) // this is the first that the responder takes, as far as the tap can tell
		q.KeepReissue(w.First, p.PSN)
	}
}

// wrongDuplicateRead reports a request that is not READ w, retransmitted.
func (v *Verifier) wrongDuplicateRead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, class rule.Class, id rule.ID, wants rule.Wants, want, got string) {
	v.Report(c, from, p, rule.Verdict{
		Rule: id, Class: class, Role: rule.Requester, Wants: wants, Expected: want, Actual: got,
		Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
	})
}

// readReplaced judges a request with another opcode that takes a PSN of READ w (rule RC-RTY-004).
func (v *Verifier) readReplaced(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, class rule.Class) {
	q := &c.Ends[from].SQ
	v.Covered(rule.RCRTY004)
	v.wrongDuplicateRead(c, from, p, w, class, rule.RCRTY004, rule.Wants{}, "the RDMA READ Request that used this PSN", p.Opcode.String())
	q.Reorder() // which of the two the responder takes is not certain
	if q.Retransmission.Active && q.Retransmission.Next == p.PSN {
		q.ContinueRetransmission(p.PSN.Add(1))
	}
	q.ExplainNextGap() // it may have been a new request under an old PSN
	c.Misplace(q.Next)
}

// readOperands compares R_Key, virtual address and DMALen of a READ request with those of READ w, of which done bytes come before its PSN (rules RC-RTY-007, -008).
func (v *Verifier) readOperands(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, done uint32, class rule.Class) {
	rest := w.Length - min(done, w.Length)
	switch {
	case p.DMALen > 1<<31:
		w.Flags |= wqe.Blamed
		v.dmaLen(c, from, p)
	case p.RKey != w.RKey:
		v.wrongDuplicateRead(c, from, p, w, class, rule.RCRTY007, rule.Want(expect.RKey, uint64(w.RKey)), fmt.Sprintf("R_Key 0x%x", w.RKey), fmt.Sprintf("R_Key 0x%x", p.RKey))
	case p.VA != w.VA+uint64(done):
		id := rule.RCRTY007
		if c.PMTU != 0 && (p.VA-w.VA)%uint64(c.PMTU) != 0 {
			id = rule.RCRTY008
		}
		v.wrongDuplicateRead(c, from, p, w, class, id, rule.Want(expect.VA, w.VA+uint64(done)), fmt.Sprintf("VA 0x%x", w.VA+uint64(done)), fmt.Sprintf("VA 0x%x", p.VA))
	case p.DMALen != rest:
		v.wrongDuplicateRead(c, from, p, w, class, rule.RCRTY007, rule.Want(expect.DMALen, uint64(rest)), fmt.Sprintf("DMALen %d", rest), fmt.Sprintf("DMALen %d", p.DMALen))
	}
}

// readTail judges that a READ request asks for the tail of READ w from the first response on that is missing (rule RC-RES-003).
func (v *Verifier) readTail(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Covered(rule.RCRES003)
	if missing := c.Ends[from].SQ.Missing(w); p.PSN.After(missing) {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRES003, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Wants: rule.Want(expect.PSN, uint64(missing)), Expected: "a READ request from PSN " + missing.String() + " on, the first missing response", Actual: "PSN " + p.PSN.String(),
			Evidence: []uint64{packet.FrameNear(p.Frame, w.RespFrame)},
		})
	}
}

// readRetransmittedLate takes back that responses to a READ began again although it was not retransmitted: p asks for them just after, and
// opposite directions may be some microseconds out of order.
func (v *Verifier) readRetransmittedLate(c *qp.Pair, from int, p *packet.Packet) {
	n := len(v.Rec.Findings)
	for i := n - 1; i >= max(n-stream.SoonFound, 0) && p.Time-v.Rec.Findings[i].Time < stream.EarlyWindow; i-- {
		f := &v.Rec.Findings[i]
		if in := f.Opcode.Info(); f.Rule == rule.RCRES001 && f.PSN == p.PSN && (in.First || in.Only) && verifier.IsEnd(&c.Ends[1-from], &f.Accused) && verifier.IsEnd(&c.Ends[from], &f.Peer) {
			v.Rec.Doubt(i, "the READ was retransmitted just after this response in the capture, which may have recorded the two directions separately")
		}
	}
}
