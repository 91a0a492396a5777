package verifier

import (
	"fmt"
	"time"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// sameFrame is how soon after a packet its copy may come that the network made.
const sameFrame = int64(10 * time.Millisecond)

// rcBehind judges a request with a PSN before the next one: it fills a gap, was copied by the network, or is sent again.
func (v *Verifier) rcBehind(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q := &end.SQ
	if v.renumber(c, from, p) {
		v.rcNew(c, from, p)
		return
	}
	if q.HasHole() && p.PSN.In(q.Hole, q.HoleEnd.Add(-1)) {
		rewind(c, q, p.PSN)
		if p.PSN != q.Hole {
			q.Unsure = true
		}
		v.rcNew(c, from, p)
		return
	}
	s := q.History.Get(p.PSN)
	if w := q.Messages.Newest(); s == nil && w != nil && w.Op == wqe.Read && (q.LastPSN == w.First || w.Has(wqe.Miscounted)) && p.PSN.In(w.First.Add(1), w.Last) && !w.Has(wqe.Again) {
		v.rcReadCount(c, from, p, w)
		return
	}
	if r := &c.Ends[1-from].RQ; s != nil && !(r.Nak != qp.NakNone && r.NakTime >= q.LastTime) && v.networkCopy(q, s, p) {
		if w, _ := q.Messages.Find(p.PSN); w != nil && w.Op.Responded() {
			w.Flags |= wqe.Again
		}
		return
	}
	if q.Fresh || q.Messages.Len() == 0 {
		v.covered(rule.RCPSN001)
		v.report(c, from, p, verdict{
			rule: rule.RCPSN001, class: proven(c.Complete()), role: rule.Requester,
			expected: "start PSN " + q.Next.String(), actual: "PSN " + p.PSN.String(),
		})
		q.Fresh = false
		return
	}
	end.Sums.Retransmissions++
	v.event(c, from, rule.Requester, p, rule.EvRetransmission, "")
	w, _ := q.Messages.Find(p.PSN)
	if w == nil {
		c.Ends[1-from].RQ.MSN = qp.MSNUnknown // it went elsewhere the first time: one message more than was counted
	}
	if s != nil && !packet.SameContent(p, s.Trace) && (w == nil || w.Op != wqe.Read) {
		v.rcDiffers(c, from, p, s, w)
		if s.Trace.Opcode == p.Opcode && q.LastPSN != p.PSN {
			s.Trace = v.trace(p) // one finding, not one for each time it comes again
			q.Retrying, q.Retry = true, p.PSN.Add(1)
		}
		c.Ends[1-from].RQ.MSN = qp.MSNUnknown
		q.Break()
		q.Excused = true // it may have been a new request under an old PSN
		return
	}
	if q.Retrying && p.PSN == q.Retry {
		v.covered(rule.RCRTY006)
	} else {
		v.rcRestart(c, from, p)
	}
	q.Retrying = true
	q.Retry = p.PSN.Add(max(span(c, p), 1))
	if p.AckReq || p.Info().Only && wqe.OpOf(p.Opcode.Fn()).Responded() {
		q.AskedAt = p.Time
	}
	if w != nil && w.Op == wqe.Read {
		v.rcReadAgain(c, from, p, w)
		return
	}
	if s == nil {
		return
	}
	v.rcSame(c, from, p, s, w)
	if w != nil && w.Op.Responded() && w.Has(wqe.Answered) {
		w.Flags &^= wqe.Answered
		w.RespNext = w.First
		q.RdOut++
	}
}

// rcReadCount judges a new request that begins within the PSNs that the READ before it reserved (rule RC-PSN-003).
func (v *Verifier) rcReadCount(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	done := uint64(p.PSN.Diff(w.First)) * uint64(c.PMTU)
	if p.Opcode.Fn() == packet.ReadRequest && (p.VA == w.VA+done || uint64(p.DMALen)+done == uint64(w.Length) || p.VA > w.VA && p.VA < w.VA+uint64(w.Length)) {
		w.Flags |= wqe.Again // its tail, asked for again
		v.rcBehind(c, from, p)
		return
	}
	if w.Has(wqe.Miscounted) { // the requester goes on from there
		w.Last = p.PSN.Add(-1)
		q.Next, q.High, q.Excused = p.PSN, p.PSN, false
		c.Ends[1-from].RQ.EPSN = p.PSN
		v.rcNew(c, from, p)
		return
	}
	v.covered(rule.RCPSN003)
	v.report(c, from, p, verdict{
		rule: rule.RCPSN003, class: proven(c.Complete()), role: rule.Requester,
		expected: fmt.Sprintf("PSN %v: the READ of %d bytes takes %d PSNs", q.Next, w.Length, w.Last.Diff(w.First)+1),
		actual:   "PSN " + p.PSN.String(), evidence: []uint64{frame(p.Frame, w.Frame)},
	})
	w.Flags |= wqe.Blamed | wqe.Miscounted
	q.Excused = true
}

// networkCopy reports whether p is a copy of an earlier frame that something on the path made: the sender numbers its IPv4 packets,
// so one sent again has another identification; without one, a copy follows its original at once.
func (v *Verifier) networkCopy(q *qp.SendQueue, s *qp.Sent, p *packet.Packet) bool {
	if p.Encap == packet.RoCEv2IPv4 && p.IPID != 0 {
		return p.IPID == s.Trace.IPID && v.trace(p) == s.Trace
	}
	return q.LastPSN == p.PSN && p.Time-q.LastTime < sameFrame/100 && v.trace(p) == s.Trace
}

// renumber recognises that the packet before p, which was ahead of its stream, stood in the place that p now follows: its PSN was
// wrong, which has been reported, and the stream goes on as if it had been right.
func (v *Verifier) renumber(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	w := q.Messages.Newest()
	if !q.HasHole() || w == nil || q.LastPSN != q.HoleEnd || w.Op == wqe.Read && w.First != q.LastPSN {
		return false
	}
	n := 1
	if w.Op == wqe.Read {
		n = w.Last.Diff(w.First) + 1
	}
	s := q.History.Get(p.PSN)
	if p.PSN != q.Hole.Add(n) || s != nil && p.PSN == q.HoleEnd && packet.SameContent(p, s.Trace) {
		return false
	}
	q.History.Drop(q.LastPSN)
	if w.First == q.LastPSN {
		w.First = q.Hole
		w.RespFirst, w.RespNext = w.First, w.First
	}
	w.Last = p.PSN.Add(-1)
	q.Next, q.High, q.Unsure = p.PSN, p.PSN, q.Open == wqe.None && (p.Info().Middle || p.Info().Last)
	q.CloseHole()
	c.Ends[1-from].RQ.EPSN = p.PSN
	c.Ends[1-from].RQ.MSN = qp.MSNUnknown
	q.Break()
	return true
}

// rcDiffers reports a packet whose PSN was used for another: right behind that one the PSN has not advanced (rule RC-PSN-002), else
// it was sent again otherwise than the first time (rules RC-RTY-004, -009).
func (v *Verifier) rcDiffers(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	if q.LastPSN != p.PSN || p.Time-q.LastTime > int64(inFlight) || w != nil && w.Op.Atomic() && wqe.OpOf(p.Opcode.Fn()).Atomic() {
		v.rcSame(c, from, p, s, w)
		return
	}
	v.covered(rule.RCPSN002)
	v.report(c, from, p, verdict{
		rule: rule.RCPSN002, class: proven(c.Complete()), role: rule.Requester,
		expected: "PSN " + p.PSN.Add(1).String() + " for another packet", actual: "PSN " + p.PSN.String() + " again",
		evidence: []uint64{frame(p.Frame, s.Frame)},
	})
}

// rcSame holds a packet sent again against the first time (rules RC-RTY-004, -009).
func (v *Verifier) rcSame(c *qp.Pair, from int, p *packet.Packet, s *qp.Sent, w *wqe.SendWQE) {
	id, what := rule.RCRTY004, "the packet as it was sent first"
	if w != nil && w.Op.Atomic() {
		id = rule.RCRTY009
	}
	v.covered(id)
	if v.broken || packet.SameContent(p, s.Trace) {
		return
	}
	actual := "other payload or headers"
	if p.Opcode != s.Trace.Opcode {
		actual = p.Opcode.String()
		what += ": " + s.Trace.Opcode.String()
	}
	v.report(c, from, p, verdict{
		rule: id, class: proven(c.Complete()), role: rule.Requester, expected: what, actual: actual,
		evidence: []uint64{frame(p.Frame, s.Frame)},
	})
}

// rcReadAgain holds a READ request that falls into the PSNs of an earlier READ against it: it may ask for the tail that is missing,
// not for anything else (rules RC-RTY-007, -008).
func (v *Verifier) rcReadAgain(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q := &c.Ends[from].SQ
	v.covered(rule.RCRTY007)
	v.covered(rule.RCRTY008)
	w.Flags &^= wqe.Blamed
	blame := func(id rule.ID, want, got string) {
		v.report(c, from, p, verdict{
			rule: id, class: proven(c.Complete()), role: rule.Requester, expected: want, actual: got,
			evidence: []uint64{frame(p.Frame, w.Frame)},
		})
	}
	if p.Has&p.Info().Headers != p.Info().Headers || !w.Has(wqe.Whole) {
		return
	}
	if p.Opcode.Fn() != packet.ReadRequest {
		blame(rule.RCRTY004, "the RDMA READ Request that took this PSN", p.Opcode.String())
		return
	}
	done := uint32(0)
	if n := p.PSN.Diff(w.First); n > 0 {
		if c.PMTU == 0 {
			return
		}
		done = uint32(n) * c.PMTU
	}
	switch {
	case p.RKey != w.RKey:
		blame(rule.RCRTY007, fmt.Sprintf("R_Key 0x%x", w.RKey), fmt.Sprintf("R_Key 0x%x", p.RKey))
	case p.VA != w.VA+uint64(done):
		id := rule.RCRTY007
		if c.PMTU != 0 && (p.VA-w.VA)%uint64(c.PMTU) != 0 {
			id = rule.RCRTY008
		}
		blame(id, fmt.Sprintf("VA 0x%x", w.VA+uint64(done)), fmt.Sprintf("VA 0x%x", p.VA))
	case p.DMALen != w.Length-min(done, w.Length):
		blame(rule.RCRTY007, fmt.Sprintf("DMALen %d", w.Length-min(done, w.Length)), fmt.Sprintf("DMALen %d", p.DMALen))
	}
	if w.Has(wqe.Answered) {
		w.Flags &^= wqe.Answered
		q.RdOut++
	}
	if w.Has(wqe.Gapped) {
		v.covered(rule.RCRES003)
		if p.PSN.After(w.Missing) {
			v.report(c, from, p, verdict{
				rule: rule.RCRES003, class: proven(c.Sees(from)), role: rule.Requester,
				expected: "to ask again from PSN " + w.Missing.String() + ", the first response that is missing", actual: "PSN " + p.PSN.String(),
				evidence: []uint64{frame(p.Frame, w.RespFrame)},
			})
		}
		w.Flags &^= wqe.Gapped
	}
	w.Orig = uint32(w.RespNext) // how far responses had come before: those may be repeated now
	w.RespFirst, w.RespNext = p.PSN, p.PSN
	w.Flags |= wqe.Again
}

// rcRestart judges where and when a retransmission begins.
func (v *Verifier) rcRestart(c *qp.Pair, from int, p *packet.Packet) {
	end, r := &c.Ends[from], &c.Ends[1-from].RQ
	q := &end.SQ
	if q.Retrying && p.PSN.After(q.Retry) {
		v.covered(rule.RCRTY006)
		v.report(c, from, p, verdict{
			rule: rule.RCRTY006, class: proven(c.Sees(from)), role: rule.Requester,
			expected: "PSN " + q.Retry.String() + " next: all later packets are sent again in order", actual: "PSN " + p.PSN.String(),
		})
		return
	}
	if !c.Paired {
		return
	}
	if p.PSN == q.Restart {
		q.Restarts++
	} else {
		q.Restart, q.Restarts = p.PSN, 1
	}
	switch r.Nak {
	case qp.NakRNR:
		v.rcAfterRNR(c, from, p)
	case qp.NakSequence:
		v.covered(rule.RCRTY005)
		if p.PSN.After(r.NakPSN) && !r.Blamed {
			r.Blamed = true
			v.report(c, from, p, verdict{
				rule: rule.RCRTY005, class: proven(c.Sees(from)), role: rule.Requester,
				expected: "to resume at PSN " + r.NakPSN.String() + " or before", actual: "PSN " + p.PSN.String(),
				evidence: []uint64{frame(p.Frame, r.NakFrame)},
			})
		}
	case qp.NakFatal:
		v.rcAfterFatal(c, from, p)
	case qp.NakNone:
		if !q.HasHole() {
			v.rcTimeout(c, from, p)
		}
	}
	id := rule.RCRTY010
	w, _ := q.Messages.Find(p.PSN)
	if w != nil && w.Op == wqe.Read {
		id = rule.RCRTY008
	}
	v.covered(id)
	if p.PSN.Before(q.Una) && r.Nak == qp.NakNone && r.Answered && (w == nil || !w.Has(wqe.Accused)) {
		v.report(c, from, p, verdict{
			rule: id, class: proven(c.Sees(from)), role: rule.Requester,
			expected: "nothing before PSN " + q.Una.String() + ": acknowledged", actual: "PSN " + p.PSN.String() + " sent again",
			evidence: []uint64{frame(p.Frame, r.LastFrame)},
		})
	}
}

// rcTimeout judges a retransmission that no NAK asked for (rules RC-TMO-002, RC-RTY-001).
func (v *Verifier) rcTimeout(c *qp.Pair, from int, p *packet.Packet) {
	end := &c.Ends[from]
	q := &end.SQ
	v.event(c, from, rule.Requester, p, rule.EvTimeout, "")
	v.rcOwes(c, from, p)
	if end.Knows(hcaagent.KnowsTimeout) && end.Attr.Timeout != 0 && q.AskedAt != 0 {
		v.covered(rule.RCTMO002)
		least := packet.Timeout(end.Attr.Timeout)
		if took := time.Duration(p.Time - q.AskedAt); took < least {
			v.report(c, from, p, verdict{
				rule: rule.RCTMO002, class: proven(c.Sees(from)), role: rule.Requester,
				expected: "no retransmission before " + least.String(), actual: "after " + took.String(),
			})
		} else if took > 4*least {
			v.report(c, from, p, verdict{
				rule: rule.RCTMO002, class: proven(c.Sees(from)), role: rule.Requester,
				expected: "a retransmission within " + (4 * least).String(), actual: "after " + took.String(),
			})
		}
	}
	if end.Knows(hcaagent.KnowsRetryCnt) {
		v.covered(rule.RCRTY001)
		if q.Restarts == uint16(end.Attr.RetryCnt)+1 {
			v.report(c, from, p, verdict{
				rule: rule.RCRTY001, class: proven(c.Sees(from)), role: rule.Requester,
				expected: fmt.Sprintf("at most %d retries", end.Attr.RetryCnt), actual: fmt.Sprintf("retry %d of PSN %v", q.Restarts, p.PSN),
			})
		}
	}
}
