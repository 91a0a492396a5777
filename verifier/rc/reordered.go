package rc

import (
	"math"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// mostEarly is how many responses wait for their requests.
const mostEarly = 16

// wait keeps a response until the next request has been seen. sent says that its PSN had been seen sent.
func wait(c *qp.Pair, from int, p *packet.Packet, sent bool) {
	after := c.RQ(from).Last.ID
	for i := range c.Early() {
		if e := &c.Early()[i]; c.End(&e.Packet) == from {
			after = e.IPID
		}
	}
	c.Wait(qp.Early{Packet: *p.Bare(), Sent: sent, After: after})
}

// judgeEarly judges responses to PSNs that had not been seen sent, now that the next request is there or the capture has ended. A
// response may be recorded shortly before its request. If the request is missing, a gap has said so.
func (v *Verifier) judgeEarly(c *qp.Pair, now int64) {
	early, nakCompared := c.TakeEarly(), false
	for i := range early {
		e := &early[i]
		from := c.End(&e.Packet)
		if now != atEnd && !since(&c.Ends[1-from].SQ, &e.Packet) {
			c.Wait(*e)
			continue
		}
		r := c.RQ(from)
		newest := r.Last.ID
		r.Last.Numbered(e.After) // the responses after it have been judged
		v.earlyResponse(c, from, e, now, &nakCompared)
		if r.Last.Frame != uint32(e.Frame) {
			r.Last.Numbered(newest)
		}
	}
}

// since reports whether a requester has sent something since response p. The records of one tap are in order, whatever its clocks say.
func since(q *qp.SendQueue, p *packet.Packet) bool {
	if q.Last.Tap == p.Tap {
		return q.Last.Frame > p.Frame
	}
	return q.Last.Time >= p.Time
}

// earlyResponse judges a response that has waited for the next request. nakCompared says whether another that waited was compared with a NAK.
func (v *Verifier) earlyResponse(c *qp.Pair, from int, e *qp.Early, now int64, nakCompared *bool) {
	q, p := &c.Ends[1-from].SQ, &e.Packet
	if c.PMTU == 0 && !e.Sent && q.Last.Time >= p.Time {
		v.readSize(c, from, p) // its READ may be there now
	}
	switch {
	case asksForTrimmed(q, p) && q.Gap.Open() && p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)):
		v.judgeWaited(c, from, e, p, nakCompared)
		return
	case !e.Sent && q.Gap.Open() && p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)):
		answersMisplaced(c, from, p)
		return
	case !p.PSN.Before(packet.Later(q.Next, q.High)):
		v.unseenRequest(c, from, p)
		return
	}
	if p = v.stillWaits(c, from, e, now-e.Time, nakCompared); p != nil {
		v.judgeWaited(c, from, e, p, nakCompared)
	}
}

// asksForTrimmed reports whether p is a sequence NAK that may ask for a request which a switch has trimmed: its responder needs no later one for that, so that the NAK answers what came before it.
func asksForTrimmed(q *qp.SendQueue, p *packet.Packet) bool {
	return isSequenceNak(p) && trimNAKed(q, p.PSN, p.Time)
}

// judgeWaited judges response e, as p, now that its request has been seen.
func (v *Verifier) judgeWaited(c *qp.Pair, from int, e *qp.Early, p *packet.Packet, nakCompared *bool) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if w, _ := q.Messages.Find(e.PSN); !e.Sent && p == &e.Packet && w != nil && w.Answers(p.Opcode.Fn()) {
		v.precedesRequest(c, from, p)
	}
	*nakCompared = *nakCompared || e.Sent && r.State != qp.Expecting
	v.respond(c, from, p)
	if r.State == qp.SequenceNAKed && q.Last.PSN == r.NAK.PSN {
		r.CloseNAK()
		r.ExpectFrom(q.Last.PSN.Add(1)) // the request after it has brought what it asked for
	}
	r.Last.Came(p)
}

// precedesRequest takes a response that came before its request: by one clock it has left before the request was there (rule RC-RSP-036), otherwise the order is uncertain.
func (v *Verifier) precedesRequest(c *qp.Pair, from int, p *packet.Packet) {
	if !v.OneClock || !c.Sees(from) && !c.Sees(1-from) {
		v.Distrust(c, "a response precedes its request in the capture: the two directions were recorded separately, so their relative order is uncertain")
		return
	}
	q := &c.Ends[1-from].SQ
	v.Covered(rule.RCRSP036)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRSP036, Class: rule.Violation, Role: rule.Responder,
		Expected: "no response before the request has arrived with its ICRC", Actual: p.Opcode.String() + " " + time.Duration(q.Last.Time-p.Time).String() + " before its end",
		Evidence: []uint64{q.Last.Frame},
	})
}

// answersMisplaced takes a response to a PSN in the gap: where that is the first one and something with a wrong PSN may have been taken for its request, that
// explains the gap.
func answersMisplaced(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if p.PSN == q.Gap.From && (c.IsMisplaced(p.PSN) || r.DuplicateRequest && p.Opcode.Fn() != packet.Acknowledge) {
		q.ExplainGap()
	}
}

// stillWaits judges a response that has waited for some time by the requests that have come meanwhile. It returns the response as it is to be
// compared with these, or nil: that is all, or it waits on.
func (v *Verifier) stillWaits(c *qp.Pair, from int, e *qp.Early, waited int64, nakCompared *bool) *packet.Packet {
	r, p := c.RQ(from), &e.Packet
	if !e.Sent {
		return v.stillUnsent(c, from, e, waited)
	}
	switch {
	case p.Syndrome == packet.NAKSequence && waited > stream.EarlyWindow:
		v.noGapCame(c, from, p)
		return nil
	case p.Syndrome.Type() == packet.ACK && waited > stream.EarlyWindow/10 && r.State == qp.Expecting && !*nakCompared:
		*nakCompared = true
		v.acknowledgesNaked(c, from, p)
	}
	return p
}

// noGapCame takes a sequence NAK that has waited for a later request than that of its PSN: none came.
func (v *Verifier) noGapCame(c *qp.Pair, from int, p *packet.Packet) {
	if asksForTrimmed(&c.Ends[1-from].SQ, p) {
		v.countNak(c, from, p, qp.SequenceNAKed)
	}
	v.noGap(c, from, p)
}

// stillUnsent is stillWaits for a response whose PSN had not been seen sent.
func (v *Verifier) stillUnsent(c *qp.Pair, from int, e *qp.Early, waited int64) *packet.Packet {
	q, r, p := &c.Ends[1-from].SQ, c.RQ(from), &e.Packet
	noGap := isSequenceNak(p) && !p.PSN.Add(1).Before(q.High)
	switch {
	case noGap && waited <= stream.EarlyWindow && !c.IsMisplaced(p.PSN): // what shows a gap may come yet
		c.Wait(qp.Early{Packet: e.Packet, Sent: true, After: e.After})
		return nil
	case noGap && waited > stream.EarlyWindow:
		v.noGapCame(c, from, p)
		return nil
	case waited > stream.EarlyWindow:
		v.unseenRequest(c, from, p)
		return nil
	case countsBefore(q, r, p) && (c.Sees(1-from) || c.Sees(from)):
		if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op.Responded() && !c.Sees(1-from) {
			w.Flags |= wqe.Accused // where it was on its way, its requester takes the response for lost
		}
		before := *p
		before.PSN = p.PSN.Add(-1)
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRSP006, Class: rule.Violation, Role: rule.Responder,
			Wants: rule.Want(expect.PSN, uint64(before.PSN)), Expected: "PSN " + before.PSN.String() + ", by its MSN", Actual: "PSN " + p.PSN.String() + ": its request is later", Evidence: []uint64{q.Last.Frame},
		})
		return &before
	}
	return p
}

// countsBefore reports whether an Acknowledge recorded before the request of its PSN has the MSN of the message before that, which waits for its own: its
// PSN is one too high.
func countsBefore(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) bool {
	if p.Opcode.Fn() != packet.Acknowledge || p.Syndrome.Type() != packet.ACK || r.MSN.Degree != qp.MSNKnown || q.EverReordered() || q.Una != p.PSN && q.Una == q.Next {
		return false
	}
	before := p.PSN.Add(-1)
	w, _ := q.Messages.Find(before)
	if w == nil || before.Before(q.Una) || w.Last != before || !w.Has(wqe.Ended) || w.Op.Responded() {
		return false
	}
	n, _, epoch, ok := completed(q, before)
	return ok && epoch == r.MSN.Epoch && (p.MSN-n)&packet.PSNMask == r.MSN.Base
}

// atEnd is the time of the end of the capture.
const atEnd = math.MaxInt64

// unseenRequest judges a response to a PSN that was never seen sent (rule RC-RSP-006). When several come in a row the tap misses the
// requests, and the stream is joined again.
func (v *Verifier) unseenRequest(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	v.Covered(rule.RCRSP006)
	if q.MayBeLongerRead(p.PSN) {
		return // the READ that takes it was reported
	}
	d, judged := v.unseenVerdict(c, from, p)
	if !judged || v.requestKnown(c, from, p) {
		return
	}
	if r.Unseen == 0 && !unheard(c, 1-from) {
		v.Report(c, from, p, d)
		if pending := r.Pending; d.Class == rule.Violation && pending != nil && p.Time < pending.RetransmittedAt {
			r.ClosePending() // this was the response
		}
		if d.Class == rule.Violation && p.Opcode.Fn() != packet.Acknowledge {
			stream.AnswersOldest(q, p, true)
		}
	}
	if d.Class == rule.Unproven {
		r.MSN.Lose() // what it answers has not been counted
	}
	if r.CountUnseen() == 3 {
		c.Lose()
		q.Unjoin()
		r.CloseUnseen()
	}
}

// unheard reports whether the tap, which is at neither end of a connection, has nothing of what one end sends: the capture may hold one direction only.
func unheard(c *qp.Pair, end int) bool {
	return c.Ends[end].Packets() == 0 && !c.Sees(0) && !c.Sees(1)
}

// TapMissed is the detail of a response to a request that the capture does not hold, and may lack.
const TapMissed = "the tap may have missed the request"

// unseenVerdict is the finding on a response to a PSN that was never seen sent. It is false where the tap may have missed the request as it was damaged.
func (v *Verifier) unseenVerdict(c *qp.Pair, from int, p *packet.Packet) (rule.Verdict, bool) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	// At the requester all that it sent was seen; but a response to just the next PSN may belong to a packet that was not recognised.
	neverSent := c.Sees(1-from) && r.MSN.StartKnown && p.PSN != q.Next
	// At the responder all that arrived was seen, since the capture began; a NAK answers what came just before it.
	neverCame := c.Sees(from) && (r.MSN.StartKnown || p.Syndrome.Type() == packet.NAK)
	repeats := r.DuplicateRequest && q.Last.PSN.Before(q.Una) && p.Opcode.Fn() != packet.Acknowledge
	d := rule.Verdict{
		Rule: rule.RCRSP006, Class: rule.Proven((neverSent || neverCame) && !repeats), Role: rule.Responder,
		Expected: "a response to a PSN before " + q.Next.String(), Actual: "PSN " + p.PSN.String() + ": no such request in the capture",
	}
	if d.Class == rule.Unproven {
		d.Detail = TapMissed
		if c.Sees(from) {
			d.Detail = "the request may have arrived before the capture began"
		}
		if repeats {
			d.Detail = "the latest request is a retransmission, and this may be the response to it"
		}
	}
	if q.DamagedAt(p.PSN) {
		if !c.Sees(from) {
			return d, false // its request was damaged on the way to the tap, or after it
		}
		d.Rule, d.Expected = damaged(q)
		v.Covered(d.Rule)
		d.Actual = p.Opcode.String()
		consequence(c, from, &d)
	}
	return d, true
}

// requestKnown reports whether the request of a response at a PSN that was never seen sent is known all the same, and was reported, or will be, for what is wrong with it.
func (v *Verifier) requestKnown(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[1-from].SQ
	if m := c.Misdirected; m != nil && (m.PSN == p.PSN || q.Fresh && p.PSN.After(m.PSN)) || c.IsMisplaced(p.PSN) {
		return true // it went to a wrong QP, or had a wrong PSN
	}
	if p.PSN == q.Next && (q.Jump != nil || q.GapExplained && !q.DamagedAt(p.PSN)) {
		return true // it came
	}
	w := q.Messages.Newest()
	return w != nil && w.Has(wqe.Miscounted) && q.GapExplained // so it is where it had a PSN of a READ
}
