package verifier

import (
	"slices"
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// rcReadResponse compares a READ response with the READ that it answers: PSN, opcode, length (rules RC-RES-001, -002).
func (v *Verifier) rcReadResponse(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	w, i := q.Messages.Find(p.PSN)
	if w != nil && q.MayRead(p.PSN) {
		w = answeredRead(q, p, i)
	}
	if w == nil {
		if q.Gap.Open() && p.PSN == q.Gap.From {
			q.ExplainGap() // nobody answers so what is no READ: it came with another PSN
		}
		if !v.rcDoubtGoesOn(c, from, p) {
			v.Skipped[SkipUnseen]++
			v.rcUnsettled(c, from, p)
		}
		return
	}
	v.covered(rule.RCRES001)
	if q.RdOut > 0 && v.rcElsewhere(c, from, p, w) {
		return
	}
	if w.Op != wqe.Read && (q.MayRead(p.PSN) || q.OtherAt(p.PSN)) {
		w.Flags |= wqe.Accused // it may have been a READ the second time
		return
	}
	if !w.Op.Responded() || w.Op.Atomic() {
		id, want := rule.RCRES001, "Acknowledge"
		if w.Op.Atomic() && p.Info().Only && q.RdOut == 1 {
			id, want = rule.RCRSP010, "ATOMIC Acknowledge"
			v.covered(id)
		}
		if !w.Has(wqe.Blamed) && !rcRunsOver(q, r, p, i) { // else its opcode may be what is wrong
			v.report(c, from, p, rule.Verdict{
				Rule: id, Class: rule.Proven(c.Complete() && !q.IsMixed(p.PSN)), Role: rule.Responder,
				Expected: "an " + want + ": PSN " + p.PSN.String() + " is a " + w.Op.String(), Actual: p.Opcode.String(),
				Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)},
			})
		}
		rcAnswersFor(q, p, c.Complete() && !q.IsMixed(p.PSN))
		return
	}
	v.rcFlushed(c, from, p, w)
	v.rcBeyondGap(c, from, p, p.PSN)
	if in := p.Info(); c.PMTU == 0 && (in.First || in.Middle) && !w.Has(wqe.Unsized) && wqe.ValidMTU(p.PayloadLen) && wqe.Packets(w.Length, uint32(p.PayloadLen)) == w.Last.Diff(w.First)+1 {
		v.learnPMTU(c, p, uint32(p.PayloadLen))
	}
	if w.Op == wqe.Read && p.PSN.Before(w.RespNext) && v.rcReadTwice(c, from, p, w) {
		return
	}
	had := q.Taken()
	v.taken(c, from, p, p.PSN, true)
	if p.PSN == w.Missing {
		if w.Missing = p.PSN.Add(1); p.PSN == w.Last {
			w.Flags &^= wqe.Gapped
		}
	}
	if w.Op == wqe.Read && !v.sameResponse(r, p) {
		v.rcDoubt(c, from, p, w)
	}
	misplaced := false // its PSN is wrong, so what its AETH is to say is not known
	if w.Op == wqe.Read && !w.Has(wqe.Blamed) {
		fits, blamed := true, false
		if !v.sameResponse(r, p) {
			fits, blamed = v.rcReadPlace(c, from, p, w)
		}
		switch misplaced = !fits && blamed; {
		case fits && v.rcLacksAETH(c, from, p, w):
			misplaced = true
		case fits:
			v.rcReadLength(c, from, p, w)
		}
	}
	if q.RdOut > 0 {
		v.rcPassedOver(c, from, p)
	}
	if p.Has&packet.HasAETH != 0 && !misplaced {
		v.covered(rule.RCRES004)
		if p.Syndrome.Type() != packet.ACK && !p.Syndrome.Reserved() {
			d := rule.Verdict{
				Rule: rule.RCRES004, Class: rule.Violation, Role: rule.Responder,
				Expected: "an ACK syndrome in a READ response", Actual: p.Syndrome.String(),
			}
			if p.PayloadLen == 0 && w.Length > 0 { // it brings nothing, as a NAK does
				v.covered(rule.RCRSP016)
				d.Rule, d.Expected, d.Actual = rule.RCRSP016, "opcode Acknowledge in a NAK", p.Opcode.String()+", "+p.Syndrome.String()
			}
			v.report(c, from, p, d)
		}
		v.rcMSN(c, from, p, 0)
	}
	w.RespNext = p.PSN.Add(1)
	w.RespFrame = uint32(p.Frame)
	// Where some were out of their order, they may all have come to the requester one by one since.
	if p.PSN == w.Last && !w.Has(wqe.Answered) && (!w.Has(wqe.Gapped) || c.Sees(1-from) && w.Missing == w.Last.Add(1)) && !firstOfSeveral(p, w) {
		w.Flags |= wqe.Answered
		q.ReadDone()
	}
	if w.Has(wqe.Gapped) && c.Sees(1-from) && w.First.After(had) {
		q.Spares(q.Una) // what is before the READ is acknowledged
	}
	if !p.PSN.Before(q.Una) && !w.Has(wqe.Gapped) {
		v.rcProgress(c, from, p, p.PSN.Add(1))
	}
	if p.PSN == w.Last {
		r.EPSN = packet.Later(r.EPSN, w.Last.Add(1))
	}
}

// rcReadTwice judges that a responder sends no response to READ w a second time, but from where the READ was asked for again: an answer
// begins with a First or Only, so that whatever was retransmitted before the capture began, a Middle or Last goes on with what was sent last. It reports
// whether p is such a response, which changes nothing.
func (v *Verifier) rcReadTwice(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if in := p.Info(); in.First || in.Only || p.PSN == w.First || w.Flags&(wqe.Miscounted|wqe.Blamed) != 0 || q.MayRead(p.PSN) || q.MayAsk(w.First, p.PSN) ||
		v.sameResponse(r, p) || v.unordered(c, from) || !c.Sees(from) {
		return false
	}
	if w.Has(wqe.Again) {
		var room [8]qp.Issue
		if len(q.Reissued(w.First, room[:0])) > 0 {
			return false // it may be meant as an answer to that
		}
	}
	v.report(c, from, p, rule.Verdict{
		Rule: rule.RCRES001, Class: rule.Violation, Role: rule.Responder, Expected: "the response with PSN " + w.RespNext.String(),
		Actual: p.Opcode.String() + " with PSN " + p.PSN.String(), Detail: "retransmitted, but no retransmitted READ begins there", Evidence: []uint64{packet.FrameNear(p.Frame, w.RespFrame)},
	})
	w.RespFrame = uint32(p.Frame)
	w.Flags |= wqe.Blamed // it may be the one that is missing then, with a wrong PSN
	return true
}

// rcElsewhere judges a READ response that has just the opcode and the length of the one that comes next, and a PSN of another message: its PSN is wrong
// (rule RC-RES-001). It reports whether it is so, and judges the rest of p as if it had the right one. w is the message that its PSN is of.
func (v *Verifier) rcElsewhere(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[1-from].SQ, &c.Ends[from].RQ
	if !c.Sees(from) || !r.Answered || !r.Told || r.Repeated || q.Gap.Open() || len(c.Early) != 0 || w != nil && w.Has(wqe.Again) || v.sameResponse(r, p) || v.unordered(c, from) {
		return false
	}
	o := oldestUnanswered(q)
	if o == nil || o == w || o.Op != wqe.Read || o.Flags&(wqe.Blamed|wqe.Again|wqe.Unsized|wqe.Gapped|wqe.Accused) != 0 || o.RespFrame != 0 && o.RespFrame != r.LastFrame || c.PMTU == 0 && o.First != o.Last {
		return false
	}
	at, want := *p, int(c.PMTU)
	if at.PSN = o.RespNext; at.PSN == o.Last {
		want = int(o.Length) - o.Last.Diff(o.First)*int(c.PMTU)
	}
	if at.PSN.After(o.Last) || p.Opcode != readOpcode(&at, o.RespFirst, o.Last) || p.PayloadLen != want {
		return false
	}
	if w != nil && w.Op == wqe.Read && p.PSN == w.RespNext && p.Opcode == readOpcode(p, w.RespFirst, w.Last) && !rcCountsOf(q, r, p, o) {
		return false // the answer to that, out of its turn
	}
	v.covered(rule.RCRES001)
	v.report(c, from, p, rule.Verdict{
		Rule: rule.RCRES001, Class: rule.Violation, Role: rule.Responder, Expected: "the response with PSN " + at.PSN.String(),
		Actual: p.Opcode.String() + " with PSN " + p.PSN.String(), Evidence: []uint64{packet.FrameNear(p.Frame, o.Frame)},
	})
	v.rcReadResponse(c, from, &at)
	return true
}

// rcCountsOf reports whether response p has the MSN of the answer to READ o, and counts none after that.
func rcCountsOf(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, o *wqe.SendWQE) bool {
	n, _, epoch, ok := completed(q, o.Last)
	return p.Has&packet.HasAETH != 0 && ok && epoch == r.Epoch && r.MSN == qp.MSNKnown && (p.MSN-n)&packet.PSNMask == r.MSNBase
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

// rcRunsOver reports whether p, at the PSN of message i, goes on with the answer to a READ before it, of which a fault was reported: it has more packets than
// were asked for.
func rcRunsOver(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, i int) bool {
	if in := p.Info(); !in.Middle && !in.Last {
		return false
	}
	const most = 4
	for k := i - 1; k >= max(0, i-most); k-- {
		if w := q.Messages.At(k); w.Op == wqe.Read {
			if !w.Has(wqe.Blamed) || w.RespFrame != r.LastFrame || packet.FrameNear(p.Frame, w.RespFrame) > p.Frame {
				return false
			}
			w.RespFrame = uint32(p.Frame)
			return true
		}
	}
	return false
}

// stalled is how long a responder may pause within an answer, before it must have turned to the next request.
const stalled = int64(time.Millisecond)

// rcReadIssue finds the issue of a READ that p answers. A responder answers each that was retransmitted, one after the other, and its answer to
// the one before may still be in flight: p goes on with that answer or begins the next. If it does neither, the newest is what it should answer.
func rcReadIssue(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, w *wqe.SendWQE) {
	if !w.Has(wqe.Again) {
		return
	}
	var room [8]qp.Issue
	issues := q.Reissued(w.First, room[:0])
	if len(issues) == 0 {
		return
	}
	goesOn := !p.PSN.Before(w.RespNext) && p.Opcode == readOpcode(p, w.RespFirst, w.Last)
	asked := slices.ContainsFunc(issues, func(issue qp.Issue) bool { return issue.From == p.PSN })
	if goesOn && (w.RespFrame == 0 || !asked && p.PSN == w.RespNext || min(p.Time-r.LastTime, p.Time-issues[0].At) < stalled) {
		return // however long the responder paused, where it begins to answer or no issue asks for just this PSN
	}
	n := len(issues)
	for i, issue := range issues {
		if issue.From == p.PSN && p.Opcode == readOpcode(p, p.PSN, w.Last) {
			n = i + 1
			break
		}
	}
	w.RespFirst, w.RespNext = issues[n-1].From, issues[n-1].From
	w.Flags &^= wqe.Gapped
	q.Answering(w.First, n)
}

// rcReadPlace judges the order of READ responses and that each has the opcode of its place, counted from the issue of the request that
// is being answered (rule RC-RES-001). It reports whether the opcode leaves a length to be judged, and
// whether a fault is proven.
func (v *Verifier) rcReadPlace(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) (fits, blamed bool) {
	r := &c.Ends[from].RQ
	goesOn := w.RespFrame == r.LastFrame && w.RespNext == p.PSN
	// Where it has sent nothing else since, its host may have been stopped.
	paused := goesOn && p.Opcode == readOpcode(p, w.RespFirst, w.Last)
	sees := c.Sees(from) && !paused || c.Complete() && !goesOn && !p.Info().First && !p.Info().Only && nextLeft(r, p) // the response before it would have left in between
	rcReadIssue(&c.Ends[1-from].SQ, r, p, w)
	var gap rule.Gap
	blame := func(class rule.Class, want, detail string) {
		v.padded(p)
		w.Flags |= wqe.Blamed
		blamed = class == rule.Violation
		v.report(c, from, p, rule.Verdict{
			Rule: rule.RCRES001, Class: class, Role: rule.Responder, Expected: want, Actual: p.Opcode.String() + " with PSN " + p.PSN.String(),
			Detail: detail, Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)}, Gap: gap,
		})
	}
	switch {
	case p.PSN.After(w.RespNext):
		d := ""
		if !c.Sees(from) {
			d = "earlier responses may have been lost before the tap"
		}
		w.Flags |= wqe.Gapped | wqe.Holed
		excused := c.Ends[from].SQ.Excused || rcWaits(c, from, w)
		c.Ends[from].SQ.Excused = false
		if once := !r.Repeated && !w.Has(wqe.Again); once && c.Complete() && p.Opcode != readOpcode(p, w.First, w.Last) {
			another := w.Has(wqe.Unsized) && v.rcReadElse(c, from, p, w, false)
			if another {
				d = "it may respond to a request that the tap has missed"
			}
			blame(rule.Proven(!another), "the response with PSN "+w.RespNext.String()+", or "+readOpcode(p, w.First, w.Last).String(), d)
			return false, blamed
		}
		if v.unordered(c, from) {
			return true, blamed // it may be in flight
		}
		if !excused {
			gap = rule.GapAt(w.RespNext)
			blame(rule.Proven(c.Sees(from)), "the response with PSN "+w.RespNext.String(), d)
			return true, blamed
		}
		w.Flags |= wqe.Blamed // the one between was reported
	case p.PSN.Before(w.RespNext) && !r.Repeated && !w.Has(wqe.Again) && v.unordered(c, from):
		v.event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
		w.RespNext = packet.Later(w.RespNext, p.PSN.Add(1))
		return true, blamed
	case p.PSN.Before(w.RespNext) && !r.Repeated && !w.Has(wqe.Again):
		d := "retransmitted, but the READ was not"
		told := r.Told && !rcFirst(&c.Ends[1-from].SQ, r)
		if !told {
			d = "the request may also have been sent before the capture began"
		}
		blame(rule.Proven(c.Sees(from) && told), "the response with PSN "+w.RespNext.String(), d)
		if blamed {
			return false, blamed
		}
	}
	if p.Opcode == readOpcode(p, w.RespFirst, w.Last) || firstOfSeveral(p, w) {
		return true, blamed
	}
	want := readOpcode(p, w.RespFirst, w.Last).String()
	if !sees && c.Ends[1-from].SQ.Asked(w.First, func(psn packet.PSN) bool {
		return !p.PSN.Before(psn) && p.Opcode == readOpcode(p, psn, w.Last)
	}) {
		blame(rule.Unproven, want, "an earlier READ of this PSN, or its response, may have been reordered or duplicated by the network")
		return true, blamed
	}
	if p.Opcode != readOpcode(p, w.First, w.Last) {
		d := ""
		sure := !v.rcReadElse(c, from, p, w, goesOn)
		if !sure {
			d = "it may respond to a request that the tap has missed, or that was sent before the capture began"
		}
		blame(rule.Proven(sure && c.Complete() && !c.Ends[1-from].SQ.IsMixed(p.PSN) && !w.Has(wqe.Guessed)), want, d)
		return false, blamed
	}
	// The place fits the first issue of the request, not the newest: a response to that may have been overtaken, or been copied on its way.
	d := "the READ was retransmitted from this PSN, so its response begins here"
	if w.RespFirst != p.PSN && c.Ends[1-from].SQ.Asked(w.First, func(psn packet.PSN) bool { return psn == p.PSN }) {
		if p.Opcode == readOpcode(p, p.PSN, w.Last) {
			sees = false // it begins the answer to one of several copies, which may have waited in the queue of the responder
		} else {
			want = readOpcode(p, p.PSN, w.Last).String()
		}
	}
	if !sees {
		d += "; a response to the original request may have been in flight"
	}
	blame(rule.Proven(sees), want, d)
	return true, blamed
}

// rcReadElse reports whether a response with another opcode than READ w asks for may answer another request: one for the rest of w, that the tap has
// missed, or, where w is the first request of the capture, the READ that w itself asks for the rest of. goesOn says that the newest response was the one
// before it: a retransmission of the READ in between is unlikely.
func (v *Verifier) rcReadElse(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, goesOn bool) bool {
	q, r, in := &c.Ends[1-from].SQ, &c.Ends[from].RQ, p.Info()
	if w.First == q.First && !c.Ends[1-from].Knows(qp.KnowsSQPSN) && (in.Middle || in.Last) {
		return true
	}
	soon := goesOn && p.Time-r.LastTime < int64(inFlight) && (nextLeft(r, p) || !numbered(p) || w == q.Messages.Newest())
	return !c.Sees(from) && !c.Sees(1-from) && !soon && p.Opcode == readOpcode(p, p.PSN, w.Last)
}

// nextLeft reports whether p is what its sender sent right after the newest response: most senders number their IPv4 packets.
func nextLeft(r *qp.ReceiveQueue, p *packet.Packet) bool {
	return p.Encap == packet.RoCEv2IPv4 && p.IPID == r.LastID+1
}

// firstOfSeveral reports whether p is the first response to READ w, whose PSNs wait for the path MTU, and says that there are more. Where it
// has more bytes than were asked for, and no path MTU has as many, they are what is wrong.
func firstOfSeveral(p *packet.Packet, w *wqe.SendWQE) bool {
	n := int(w.Length)
	return w.Has(wqe.Unsized) && p.PSN == w.First && p.Info().First && (p.PayloadLen < n || p.PayloadLen > n && !wqe.ValidMTU(p.PayloadLen))
}
