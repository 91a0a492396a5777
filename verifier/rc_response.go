package verifier

import (
	"fmt"
	"math"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// rcResponse is the responder's outgoing verifier: every response is held against the requests that it answers.
func (v *Verifier) rcResponse(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if !c.Paired {
		v.Skipped[SkipUnpaired]++
		r.Heard, r.LastPSN = true, p.PSN
		if p.Syndrome.Type() != packet.ACK {
			r.LastPSN = p.PSN.Add(-1)
		}
		return
	}
	if !q.Joined {
		v.Skipped[SkipUnseen]++
		return
	}
	if s := q.Stray; s != nil && s.PSN == p.PSN {
		v.reconnect(c, 1-from, p) // the responder knows the PSN that was far from the stream
	}
	if c.Sees(from) && (r.Nak == qp.NakSequence || r.Nak == qp.NakRNR) && !p.PSN.Before(r.NakPSN) && p.PSN.Before(q.High) && (p.Has&packet.HasAETH == 0 || p.Syndrome.Type() == packet.ACK) ||
		p.Opcode.Fn() == packet.Acknowledge && p.Syndrome == packet.NAKSequence && (r.Nak == qp.NakNone || r.NakPSN != p.PSN) && p.PSN.Before(q.High) && !p.PSN.Add(1).Before(q.High) {
		c.Early = append(c.Early, qp.Early{Packet: *bare(p), Sent: true})
		return
	}
	if !p.PSN.Before(later(q.Next, q.High)) {
		if q.ReadLen == 0 || p.PSN.Diff(q.Next) > 1<<23 {
			if c.Early = append(c.Early, qp.Early{Packet: *bare(p)}); len(c.Early) > earlyMost {
				v.rcUnseen(c, from, &c.Early[0].Packet)
				c.Early = c.Early[1:]
			}
		}
		return
	}
	r.Unseen = 0
	if r.Owed != nil {
		v.rcPays(c, from, p)
	}
	v.rcRespond(c, from, p)
	r.LastID, r.LastICRC, r.LastFrame, r.LastTime = p.IPID, p.ICRC, uint32(p.Frame), p.Time
}

// earlyMost is how many responses wait for their requests.
const earlyMost = 16

func (v *Verifier) rcRespond(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[from].RQ
	if r.Nak == qp.NakFatal && !p.PSN.Before(r.NakPSN) && !v.sameResponse(r, p) {
		v.covered(rule.RCRSP027)
		if !r.Silenced {
			r.Silenced = true
			v.report(c, from, p, verdict{
				rule: rule.RCRSP027, class: proven(c.Complete()), role: rule.Responder,
				expected: "silence after " + r.NakCode.String(), actual: p.Opcode.String() + " with " + p.PSN.String(),
				evidence: []uint64{frame(p.Frame, r.NakFrame)},
			})
		}
		return
	}
	if p.Has&p.Info().Headers != p.Info().Headers {
		v.Skipped[SkipCut]++
		return
	}
	switch fn := p.Opcode.Fn(); fn {
	case packet.Acknowledge:
		switch {
		case p.Syndrome.Reserved(), p.Syndrome == packet.NAKInvalidRD: // on RC both are reserved, and a requester ignores them
		case p.Syndrome.Type() == packet.ACK:
			v.rcAck(c, from, p)
		case p.Syndrome.Type() == packet.RNRNAK:
			v.rcRNRNak(c, from, p)
		case p.Syndrome == packet.NAKSequence:
			v.rcSequenceNak(c, from, p)
		default:
			v.rcFatalNak(c, from, p)
		}
	case packet.AtomicAck:
		v.rcAtomicAck(c, from, p)
	default:
		v.rcReadResponse(c, from, p)
	}
}

// sameResponse reports whether p is a copy of the newest response that something on the path made.
func (v *Verifier) sameResponse(r *qp.ReceiveQueue, p *packet.Packet) bool {
	if p.Encap == packet.RoCEv2IPv4 && p.IPID != 0 {
		return p.IPID == r.LastID && p.ICRC == r.LastICRC && p.Time-r.LastTime < sameFrame
	}
	return p.ICRC == r.LastICRC && p.ICRC != 0 && p.Time-r.LastTime < sameFrame/100
}

// rcEarly judges responses to PSNs that had not been seen sent, now that the next request is there or the capture has ended. A
// response may be recorded shortly before its request. If the request is missing, a gap has said so.
func (v *Verifier) rcEarly(c *qp.Pair, now int64) {
	early, unnaked := c.Early, false
	c.Early = c.Early[:0:0]
	for i := range early {
		p := &early[i].Packet
		from := c.End(p)
		q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
		switch {
		case q.LastTime < p.Time && now != atEnd:
			c.Early = append(c.Early, early[i]) // its requester has said nothing since
		case !early[i].Sent && q.HasHole() && p.PSN.In(q.Hole, q.HoleEnd.Add(-1)):
		case p.PSN.Before(later(q.Next, q.High)):
			if early[i].Sent && p.Syndrome == packet.NAKSequence && now-p.Time > earlyWindow {
				v.rcNoGap(c, from, p)
				continue
			}
			if early[i].Sent && p.Syndrome.Type() == packet.ACK && now-p.Time > earlyWindow/10 && r.Nak == qp.NakNone && !unnaked {
				unnaked = true
				v.rcUnnaked(c, from, p)
			}
			if !early[i].Sent && now-p.Time > earlyWindow {
				v.rcUnseen(c, from, p)
				continue
			}
			unnaked = unnaked || early[i].Sent && r.Nak != qp.NakNone
			v.rcRespond(c, from, p)
			if r.Nak == qp.NakSequence && q.LastPSN == r.NakPSN {
				r.Nak, r.EPSN = qp.NakNone, later(r.EPSN, q.LastPSN.Add(1)) // the request after it has brought what it asked for
			}
			r.LastID, r.LastICRC, r.LastFrame, r.LastTime = p.IPID, p.ICRC, uint32(p.Frame), p.Time
		default:
			v.rcUnseen(c, from, p)
		}
	}
}

// atEnd is the time of the end of the capture.
const atEnd = math.MaxInt64

// rcUnseen judges a response to a PSN that was never seen sent (rule RC-RSP-006). When several come in a row the tap misses the
// requests, and the stream is joined anew.
func (v *Verifier) rcUnseen(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	v.covered(rule.RCRSP006)
	d := verdict{
		rule: rule.RCRSP006, class: proven(c.Sees(from)), role: rule.Responder,
		expected: "a response to a PSN before " + q.Next.String(), actual: "PSN " + p.PSN.String() + ": never seen sent",
	}
	if d.class == rule.Unproven {
		d.detail = "the tap may have missed the request"
	}
	if q.Broken == uint32(p.PSN)|qp.BrokenSet {
		if !c.Sees(from) {
			return // its request was damaged on the way to the tap, or behind it
		}
		v.covered(rule.RCRSP036)
		d.rule, d.expected, d.actual = rule.RCRSP036, "silence: the request arrived with a wrong ICRC", p.Opcode.String()
	}
	if m := c.Missent; m != nil && m.PSN == p.PSN {
		return // the request went to a wrong QP
	}
	if r.Unseen == 0 {
		v.report(c, from, p, d)
	}
	if r.Unseen++; r.Unseen == 3 {
		c.Lossy, q.Joined, r.Unseen = true, false, 0
	}
}

// rcAck judges a positive Acknowledge.
func (v *Verifier) rcAck(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	v.covered(rule.RCRSP006)
	if p.PSN.Before(q.Una) {
		v.rcOldAck(c, from, p)
		return
	}
	v.rcBeyondHole(c, from, p, p.PSN)
	if q.RdOut > 0 {
		v.rcPassedOver(c, from, p)
	}
	v.rcMSN(c, from, p, 0)
	v.rcProgress(c, from, p, p.PSN.Add(1))
}

// rcOldAck judges an Acknowledge of what was acknowledged before: legal as an answer to a duplicate, as an unsolicited ACK that
// repeats the newest, or as a copy that the network made (rules RC-RSP-006, RC-RSP-029, RC-RSP-042).
func (v *Verifier) rcOldAck(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[from].RQ
	v.event(c, from, rule.Responder, p, rule.EvDuplicateResponse, "")
	if v.sameResponse(r, p) || !r.Answered || p.PSN == r.LastPSN {
		if p.PSN == r.LastPSN {
			if r.Repeated {
				v.covered(rule.RCRSP029)
			}
			v.rcUnsolicited(c, from, p)
		}
		return
	}
	if r.Repeated {
		v.rcDuplicateAck(c, from, p)
		return
	}
	v.report(c, from, p, verdict{
		rule: rule.RCRSP006, class: proven(c.Sees(from)), role: rule.Responder,
		expected: "PSN " + r.LastPSN.String() + " or later: responses go in PSN order", actual: "PSN " + p.PSN.String(),
		evidence: []uint64{frame(p.Frame, r.LastFrame)},
	})
}

// rcDuplicateAck judges the Acknowledge of a duplicate SEND or WRITE: its PSN is that of the newest request executed, or of the one
// before a READ or atomic that comes next (rule RC-RSP-029).
func (v *Verifier) rcDuplicateAck(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	v.covered(rule.RCRSP029)
	if i := q.Messages.UpTo(p.PSN); !p.PSN.Before(r.LastPSN) || i < 0 || i+1 < q.Messages.Len() && q.Messages.At(i+1).Op.Responded() || q.Messages.At(i).Op.Responded() {
		return
	}
	v.report(c, from, p, verdict{
		rule: rule.RCRSP029, class: proven(c.Sees(from)), role: rule.Responder,
		expected: "PSN " + r.LastPSN.String() + ", the newest acknowledged, for a duplicate", actual: "PSN " + p.PSN.String(),
		detail: missedDetail(c, from), evidence: []uint64{frame(p.Frame, r.LastFrame)},
	})
}

// rcUnsolicited judges an Acknowledge that repeats the PSN of the newest response (rule RC-ACK-008): it may bring credits, and
// repeats its MSN too unless it answers a duplicate.
func (v *Verifier) rcUnsolicited(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[from].RQ
	v.covered(rule.RCACK008)
	if !r.Repeated && p.MSN != r.LastMSN && r.Answered {
		v.report(c, from, p, verdict{
			rule: rule.RCACK008, class: rule.Unproven, role: rule.Responder,
			expected: fmt.Sprintf("MSN %d, as with this PSN before", r.LastMSN), actual: fmt.Sprintf("MSN %d", p.MSN),
			detail: "messages may have been executed since", evidence: []uint64{frame(p.Frame, r.LastFrame)},
		})
		return
	}
	v.rcMSN(c, from, p, 0)
	v.rcCredits(c, from, p)
}

// rcBeyondHole deals with a response to a request behind a gap: the responder has what the tap has not seen, or it acknowledges what
// it cannot have (rule RC-RSP-006).
func (v *Verifier) rcBeyondHole(c *qp.Pair, from int, p *packet.Packet, acked packet.PSN) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if !q.HasHole() || acked.Before(q.Hole) {
		return
	}
	if c.Sees(from) {
		id := rule.RCRSP006
		if q.Broken == uint32(q.Hole)|qp.BrokenSet {
			id = rule.RCRSP036
		}
		v.covered(id)
		v.report(c, from, p, verdict{
			rule: id, class: rule.Violation, role: rule.Responder,
			expected: "nothing acknowledged from PSN " + q.Hole.String() + " on: it has not arrived", actual: "PSN " + p.PSN.String(),
		})
	}
	c.Lossy = !c.Sees(from) || c.Lossy
	q.CloseHole()
	r.MSN = qp.MSNUnknown
	if q.Next.Before(q.High) {
		q.Next, q.Unsure, q.Open = q.High, true, wqe.None
	}
}

// rcPassedOver judges that a response to psn does not pass over a READ or an atomic that is still to be answered: only its own
// response acknowledges it (rules RC-ACK-003, RC-RSP-007).
func (v *Verifier) rcPassedOver(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	v.covered(rule.RCRSP007)
	var oldest *wqe.SendWQE // one response passes over several: one finding
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		w := q.Messages.At(i)
		if w.First.After(p.PSN) {
			continue
		}
		if w.Last.Before(q.Una) && !w.Has(wqe.Again) && !w.Has(wqe.Gapped) {
			break
		}
		if !w.Op.Responded() || w.Has(wqe.Answered) || w.Op == wqe.Read && p.Opcode.Fn() != packet.Acknowledge && p.PSN.In(w.First, w.Last) {
			continue
		}
		if !w.Has(wqe.Accused) && !w.Has(wqe.Blamed) {
			oldest = w
		}
		w.Flags |= wqe.Answered | wqe.Accused
		q.RdOut -= min(q.RdOut, 1)
	}
	if oldest == nil {
		return
	}
	d := verdict{
		rule: rule.RCRSP007, class: proven(c.Sees(from)), role: rule.Responder,
		expected: "the response to the " + oldest.Op.String() + " at PSN " + oldest.First.String() + " first",
		actual:   p.Opcode.String() + " with PSN " + p.PSN.String(), evidence: []uint64{frame(p.Frame, oldest.Frame)},
	}
	if p.PSN.In(oldest.First, oldest.Last) {
		d.rule = rule.RCACK003
		d.expected = "the response of the " + oldest.Op.String() + ": an Acknowledge cannot stand for it"
	}
	if d.class == rule.Unproven {
		d.detail = "its response may have been lost before the tap"
	}
	v.report(c, from, p, d)
}

// rcUnnaked judges a response that acknowledges a PSN which was NAKed and has not come again (rules RC-RSP-006, RC-RSP-018).
func (v *Verifier) rcUnnaked(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[from].RQ
	id := rule.RCRSP006
	if r.NakCode.Type() == packet.RNRNAK {
		id = rule.RCRSP018
	}
	r.Nak = qp.NakNone
	v.covered(id)
	d := verdict{
		rule: id, class: proven(c.Sees(from)), role: rule.Responder,
		expected: "nothing acknowledged from PSN " + r.NakPSN.String() + " on until it comes again", actual: "PSN " + p.PSN.String(),
		evidence: []uint64{frame(p.Frame, r.NakFrame)},
	}
	if d.class == rule.Unproven {
		d.detail = "the tap may have missed it"
		c.Lossy = true
	}
	v.report(c, from, p, d)
}

// rcProgress notes that everything before una is acknowledged.
func (v *Verifier) rcProgress(c *qp.Pair, from int, p *packet.Packet, una packet.PSN) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if una.After(q.Una) {
		q.Una, q.Restarts, q.AskedAt = una, 0, p.Time
	}
	if una.After(r.EPSN) {
		r.EPSN = una
	}
	if (r.Nak == qp.NakSequence || r.Nak == qp.NakRNR) && una.After(r.NakPSN) {
		v.rcUnnaked(c, from, p)
	}
	v.covered(rule.RCRSP005)
	v.covered(rule.RCACK003)
	r.RNRs = 0
	r.LastPSN, r.Answered, r.Repeated = p.PSN, true, false
	v.rcCredits(c, from, p)
}

// rcCredits takes the end-to-end credits of a response (table T3): the requester may send SENDs up to message MSN + credits.
func (v *Verifier) rcCredits(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if p.Has&packet.HasAETH == 0 {
		return
	}
	n, limited := p.Syndrome.Credits()
	if e := &c.Ends[from]; e.Knows(hcaagent.KnowsCredits) && !e.Attr.Credits {
		v.covered(rule.RCCRD006)
		if limited {
			v.report(c, from, p, verdict{
				rule: rule.RCCRD006, class: rule.Violation, role: rule.Responder,
				expected: "credit code 31: connected without end-to-end flow control", actual: p.Syndrome.String(),
			})
		}
	}
	if !limited || r.MSN != qp.MSNKnown {
		q.Credited = false
		return
	}
	limit := (p.MSN + n - r.MSNBase) & packet.PSNMask
	if !q.Credited || packet.PSN(limit).After(packet.PSN(q.Limit)) {
		q.Limit = limit // credit codes round down, so a later response may give less; the requester keeps the greatest
	}
	q.Credited = true
}
