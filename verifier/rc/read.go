package rc

import (
	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// readResponse compares a READ response with the READ that it answers: PSN, opcode, length (rules RC-RES-001, -002).
func (v *Verifier) readResponse(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	w, i := q.Messages.Find(p.PSN)
	if w != nil && q.MayBeLongerRead(p.PSN) {
		w = answeredRead(q, p, i)
	}
	if w == nil {
		v.lateResponse(c, from, p)
		v.readUnseen(c, from, p)
		return
	}
	v.Covered(rule.RCRES001)
	if q.RdOut > 0 && v.misplacedResponse(c, from, p, w) {
		return
	}
	switch {
	case w.Op != wqe.Read && (q.MayBeLongerRead(p.PSN) || q.IsAltered(p.PSN)):
		w.Flags |= wqe.Accused // it may have been a READ the second time
	case !w.Op.Responded() || w.Op.Atomic():
		v.notRead(c, from, p, w, i)
	default:
		v.readAnswers(c, from, p, w)
	}
}

// readUnseen takes a READ response at whose PSN the capture holds no request.
func (v *Verifier) readUnseen(c *qp.Pair, from int, p *packet.Packet) {
	if q := &c.Ends[1-from].SQ; q.Gap.Open() && p.PSN == q.Gap.From {
		q.ExplainGap() // nobody answers so what is no READ: it came with another PSN
	}
	if !v.disputeContinues(c, from, p) {
		v.Skipped[verifier.SkipUnseen]++
		v.noteBeforeCapture(c, from, p)
	}
}

// notRead judges a READ response to message i, which is no READ (rules RC-RES-001, RC-RSP-010).
func (v *Verifier) notRead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, i int) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	id, want, fn := rule.RCRES001, "Acknowledge", packet.Acknowledge
	if w.Op.Atomic() && p.Info().Only && q.RdOut == 1 {
		id, want, fn = rule.RCRSP010, "ATOMIC Acknowledge", packet.AtomicAck
		v.Covered(id)
	}
	if !w.Has(wqe.Blamed) && !readOverrun(q, r, p, i) { // else its opcode may be what is wrong
		v.Report(c, from, p, rule.Verdict{
			Rule: id, Class: rule.Proven(c.Complete() && !q.IsReordered(p.PSN)), Role: rule.Responder,
			Wants:    rule.Want(expect.Opcode, uint64(packet.Op(p.Opcode.Service(), fn))),
			Expected: "an " + want + ": PSN " + p.PSN.String() + " is a " + w.Op.String(), Actual: p.Opcode.String(),
			Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
		})
	}
	stream.AnswersOldest(q, p, c.Complete() && !q.IsReordered(p.PSN))
}

// showsPMTU reports whether the payload of response p to READ w, whose PSNs are known, is the path MTU: by it the READ takes as many.
func showsPMTU(p *packet.Packet, w *wqe.SendWQE) bool {
	in := p.Info()
	return (in.First || in.Middle) && !w.Has(wqe.Unsized) && wqe.ValidMTU(p.PayloadLen) && wqe.Packets(w.Length, uint32(p.PayloadLen)) == w.Last.Diff(w.First)+1
}

// readAnswers compares a READ response with w, the READ, FLUSH or ATOMIC WRITE that it answers.
func (v *Verifier) readAnswers(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[1-from].SQ
	v.flushed(c, from, p, w)
	v.beyondGap(c, from, p, p.PSN)
	if c.PMTU == 0 && showsPMTU(p, w) {
		v.LearnPMTU(c, p, uint32(p.PayloadLen))
	}
	missing := q.Missing(w)
	if w.Op == wqe.Read {
		if p.PSN != w.RespNext() || q.Trouble() != nil || c.RQ(from).Last.PSN.After(p.PSN) {
			v.responseOvertaken(c, from, p, w)
		}
		if p.PSN.Before(w.RespNext()) && v.duplicateReadResponse(c, from, p, w) {
			return
		}
	}
	before := q.RequesterUna()
	v.requesterTakes(c, from, p, p.PSN, true)
	if p.PSN == missing {
		if missing = p.PSN.Add(1); p.PSN == w.Last {
			w.Flags &^= wqe.Gapped
		}
	}
	placed := w.Op != wqe.Read || v.readFits(c, from, p, w)
	if q.RdOut > 0 {
		v.judgeOvertaking(c, from, p)
	}
	if p.Has&packet.HasAETH != 0 && placed {
		v.readAETH(c, from, p, w)
	}
	v.readProgress(c, from, p, w, before, missing)
}

// readFits judges place and length of response p to READ w. It reports whether nothing proves that its PSN or opcode is wrong: else what its AETH is to say
// is not known.
func (v *Verifier) readFits(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	copied := v.copiedResponse(c.RQ(from), p)
	if !copied {
		v.disputeRead(c, from, p, w)
	}
	if w.Has(wqe.Blamed) {
		return true
	}
	fits, proven := true, false
	if !copied {
		fits, proven = v.readPlace(c, from, p, w)
	}
	switch {
	case !fits:
		return !proven
	case v.lacksAETH(c, from, p, w):
		return false
	}
	v.readLength(c, from, p, w)
	return true
}

// readAETH judges the AETH of a response to READ w: an ACK with an MSN (rules RC-RES-004, RC-RSP-013, -016).
func (v *Verifier) readAETH(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	v.Covered(rule.RCRES004)
	if p.Syndrome.Type() != packet.ACK && !p.Syndrome.Reserved() {
		d := rule.Verdict{
			Rule: rule.RCRES004, Class: rule.Violation, Role: rule.Responder,
			Expected: "an ACK syndrome in a READ response", Actual: p.Syndrome.String(),
		}
		if p.PayloadLen == 0 && w.Length > 0 { // it brings nothing, as a NAK does
			v.Covered(rule.RCRSP016)
			d.Rule, d.Expected, d.Actual = rule.RCRSP016, "opcode Acknowledge in a NAK", p.Opcode.String()+", "+p.Syndrome.String()
		}
		v.Report(c, from, p, d)
	}
	v.msn(c, from, p, 0)
}

// readProgress notes that response p to READ w has come. before is how far the requester can have processed the responses before it,
// missing the first response that was not seen.
func (v *Verifier) readProgress(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, before, missing packet.PSN) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	q.AnswerFrom(w, q.RespFirst(w), p.PSN.Add(1), missing)
	w.RespFrame = uint32(p.Frame)
	// Where some were out of their order, they may all have come to the requester one by one since.
	if p.PSN == w.Last && !w.Has(wqe.Answered) && (!w.Has(wqe.Gapped) || c.Sees(1-from) && missing == w.Last.Add(1)) && !firstOfSeveral(p, w) {
		w.Flags |= wqe.Answered
		q.ReadDone()
	}
	if w.Has(wqe.Gapped) && c.Sees(1-from) && w.First.After(before) {
		q.NoteRetryReset(q.Una) // what is before the READ is acknowledged
	}
	if !p.PSN.Before(q.Una) && !w.Has(wqe.Gapped) {
		v.progress(c, from, p, p.PSN.Add(1))
	}
	if p.PSN == w.Last {
		r.ExpectFrom(w.Last.Add(1))
	}
}

// duplicateReadResponse judges that a responder sends no response to READ w a second time, but from where the READ was retransmitted: an answer
// begins with a First or Only, so that whatever was retransmitted before the capture began, a Middle or Last goes on with what was sent last. It reports
// whether p is such a response, which changes nothing.
func (v *Verifier) duplicateReadResponse(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if in := p.Info(); in.First || in.Only || p.PSN == w.First || w.Flags&(wqe.Miscounted|wqe.Blamed) != 0 || q.MayBeLongerRead(p.PSN) || q.MayHaveReissued(w.First, p.PSN) ||
		v.copiedResponse(r, p) || v.Unordered(c, from) || !c.Sees(from) {
		return false
	}
	if w.Has(wqe.Reissued) {
		var room [8]qp.Issue
		if len(q.Reissued(w.First, room[:0])) > 0 {
			return false // it may be meant as an answer to that
		}
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRES001, Class: rule.Violation, Role: rule.Responder, Wants: rule.Want(expect.PSN, uint64(w.RespNext())), Expected: "the response with PSN " + w.RespNext().String(),
		Actual: p.Opcode.String() + " with PSN " + p.PSN.String(), Detail: "retransmitted, but no retransmitted READ begins there", Evidence: []uint64{packet.FrameNear(p.Frame, w.RespFrame)},
	})
	w.RespFrame = uint32(p.Frame)
	w.Flags |= wqe.Blamed // it may be the one that is missing then, with a wrong PSN
	return true
}

// inPlace reports whether response p to READ o has the opcode and the length of the place that its PSN gives it.
func inPlace(c *qp.Pair, q *qp.SendQueue, p *packet.Packet, o *wqe.SendWQE) bool {
	want := int(c.PMTU)
	if p.PSN == o.Last {
		want = int(o.Length) - o.Last.Diff(o.First)*int(c.PMTU)
	}
	return !p.PSN.After(o.Last) && p.Opcode == readOpcode(p, q.RespFirst(o), o.Last) && p.PayloadLen == want
}

// misplacedResponse judges a READ response that has just the opcode and the length of the one that comes next, and a PSN of another message: its PSN is wrong
// (rule RC-RES-001). It reports whether it is so, and judges the rest of p as if it had the right one. w is the message that its PSN is of.
func (v *Verifier) misplacedResponse(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if !v.inOrder(c, from, p) || w != nil && w.Has(wqe.Reissued) {
		return false
	}
	o := oldestUnanswered(q)
	if o == nil || o == w || !awaitsNext(c, r, o) {
		return false
	}
	at := *p
	if at.PSN = o.RespNext(); !inPlace(c, q, &at, o) {
		return false
	}
	if w != nil && w.Op == wqe.Read && p.PSN == w.RespNext() && p.Opcode == readOpcode(p, q.RespFirst(w), w.Last) && !countsOf(q, r, p, o) {
		return false // the answer to that, out of its turn
	}
	v.Covered(rule.RCRES001)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRES001, Class: rule.Violation, Role: rule.Responder, Wants: rule.Want(expect.PSN, uint64(at.PSN)), Expected: "the response with PSN " + at.PSN.String(),
		Actual: p.Opcode.String() + " with PSN " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, o.Frame)},
	})
	v.readResponse(c, from, &at)
	return true
}

// inOrder reports whether all that the responder has sent up to response p was seen, in its order, and nothing of it answers a duplicate.
func (v *Verifier) inOrder(c *qp.Pair, from int, p *packet.Packet) bool {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	return c.Sees(from) && r.Last.Positive && r.MSN.StartKnown && !r.DuplicateRequest && !q.Gap.Open() && len(c.Early()) == 0 && !v.copiedResponse(r, p) && !v.Unordered(c, from)
}

// awaitsNext reports whether o is a READ whose next response can be told by its opcode and length, and comes next.
func awaitsNext(c *qp.Pair, r *qp.ReceiveQueue, o *wqe.SendWQE) bool {
	return o.Op == wqe.Read && o.Flags&(wqe.Blamed|wqe.Reissued|wqe.Unsized|wqe.Gapped|wqe.Accused) == 0 && (o.RespFrame == 0 || o.RespFrame == r.Last.Frame) &&
		(c.PMTU != 0 || o.First == o.Last)
}

// countsOf reports whether response p has the MSN of the answer to READ o, and counts none after that.
func countsOf(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, o *wqe.SendWQE) bool {
	n, _, epoch, ok := completed(q, o.Last)
	return p.Has&packet.HasAETH != 0 && ok && epoch == r.MSN.Epoch && r.MSN.Degree == qp.MSNKnown && (p.MSN-n)&packet.PSNMask == r.MSN.Base
}

// oldestUnanswered is the oldest READ or atomic that waits for its own response, or nil.
func oldestUnanswered(q *qp.SendQueue) *wqe.SendWQE {
	for i := max(q.Messages.UpTo(q.Una), 0); i < q.Messages.Len(); i++ {
		if w := q.Messages.At(i); w.Op.Responded() && !w.Has(wqe.Answered) && !w.Last.Before(q.Una) {
			return w
		}
	}
	return nil
}

// readOverrun reports whether p, at the PSN of message i, goes on with the answer to a READ before it, of which a fault was reported: it has more packets than
// were asked for.
func readOverrun(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, i int) bool {
	if in := p.Info(); !in.Middle && !in.Last {
		return false
	}
	const most = 4
	for k := i - 1; k >= max(0, i-most); k-- {
		if w := q.Messages.At(k); w.Op == wqe.Read {
			if !w.Has(wqe.Blamed) || w.RespFrame != r.Last.Frame || packet.FrameNear(p.Frame, w.RespFrame) > p.Frame {
				return false
			}
			w.RespFrame = uint32(p.Frame)
			return true
		}
	}
	return false
}
