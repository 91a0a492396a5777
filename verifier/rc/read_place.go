package rc

import (
	"slices"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// stalled is how long a responder may pause within an answer, before it must have turned to the next request.
const stalled = int64(time.Millisecond)

// readIssue finds the issue of a READ that p answers. A responder answers each that was retransmitted, one after the other, and its answer to
// the one before may still be in flight: p goes on with that answer or begins the next. If it does neither, the newest is what it should answer.
func readIssue(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, w *wqe.SendWQE) {
	if !w.Has(wqe.Reissued) {
		return
	}
	var room [8]qp.Issue
	issues := q.Reissued(w.First, room[:0])
	if len(issues) == 0 {
		return
	}
	continues := !p.PSN.Before(w.RespNext()) && p.Opcode == readOpcode(p, q.RespFirst(w), w.Last)
	asked := slices.ContainsFunc(issues, func(issue qp.Issue) bool { return issue.From == p.PSN })
	if continues && (w.RespFrame == 0 || !asked && p.PSN == w.RespNext() || min(p.Time-r.Last.Time, p.Time-issues[0].At) < stalled) {
		return // however long the responder paused, where it begins to answer or no issue asks for just this PSN
	}
	n := len(issues)
	for i, issue := range issues {
		if issue.From == p.PSN && p.Opcode == readOpcode(p, p.PSN, w.Last) {
			n = i + 1
			break
		}
	}
	q.AnswerFrom(w, issues[n-1].From, issues[n-1].From, q.Missing(w))
	w.Flags &^= wqe.Gapped
	q.AnswerIssues(w.First, n)
}

// readPlace judges the order of READ responses and that each has the opcode of its place, counted from the issue of the request that
// is being answered (rule RC-RES-001). It reports whether the opcode leaves a length to be judged, and
// whether a fault is proven.
func (v *Verifier) readPlace(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) (fits, proven bool) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	continues := w.RespFrame == r.Last.Frame && w.RespNext() == p.PSN
	// Where it has sent nothing else since, its host may have been stopped.
	paused := continues && p.Opcode == readOpcode(p, q.RespFirst(w), w.Last)
	sees := c.Sees(from) && !paused || c.Complete() && !continues && !p.Info().First && !p.Info().Only && sentNext(r, p) // the response before it would have left in between
	readIssue(q, r, p, w)
	if p.PSN.After(w.RespNext()) {
		if fits, proven, judged := v.readAhead(c, from, p, w); judged {
			return fits, proven
		}
	} else if p.PSN.Before(w.RespNext()) && !r.DuplicateRequest && !w.Has(wqe.Reissued) {
		if fits, proven, judged := v.readBefore(c, from, p, w); judged {
			return fits, proven
		}
	}
	return v.readOpcode(c, from, p, w, sees, continues)
}

// reportReadPlace reports response p to READ w for its place (rule RC-RES-001). It reports whether that is proven.
func (v *Verifier) reportReadPlace(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, class rule.Class, wants rule.Wants, want, detail string, gap rule.Gap) bool {
	v.WithdrawPad(p)
	w.Flags |= wqe.Blamed
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCRES001, Class: class, Role: rule.Responder, Wants: wants, Expected: want, Actual: p.Opcode.String() + " with PSN " + p.PSN.String(),
		Detail: detail, Evidence: []uint64{packet.FrameNear(p.Frame, w.Frame)}, Gap: gap,
	})
	return class == rule.Violation
}

// readAhead judges response p to READ w with a PSN after the next one: one is missing before it. It reports what readPlace does, where that is all there is to judge.
func (v *Verifier) readAhead(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) (fits, proven, judged bool) {
	r, d := c.RQ(from), ""
	if !c.Sees(from) {
		d = "earlier responses may have been lost before the tap"
	}
	v.missesResponses(c, from, p, w, p.PSN.Diff(w.RespNext()))
	w.Flags |= wqe.Gapped | wqe.Holed
	explained := c.Ends[from].SQ.GapExplained || waitsForRequest(c, from, w)
	c.Ends[from].SQ.CloseExplanation()
	if once := !r.DuplicateRequest && !w.Has(wqe.Reissued); once && c.Complete() && p.Opcode != readOpcode(p, w.First, w.Last) {
		another := w.Has(wqe.Unsized) && v.mayAnswerOther(c, from, p, w, false)
		if another {
			d = "it may respond to a request that the tap has missed"
		}
		return false, v.reportReadPlace(c, from, p, w, rule.Proven(!another), rule.Want(expect.PSN, uint64(w.RespNext())), "the response with PSN "+w.RespNext().String()+", or "+readOpcode(p, w.First, w.Last).String(), d, 0), true
	}
	if v.Unordered(c, from) {
		return true, false, true // it may be in flight
	}
	if !explained {
		return true, v.reportReadPlace(c, from, p, w, rule.Proven(c.Sees(from)), rule.Want(expect.PSN, uint64(w.RespNext())), "the response with PSN "+w.RespNext().String(), d, rule.GapAt(w.RespNext())), true
	}
	w.Flags |= wqe.Blamed // the one between was reported
	return false, false, false
}

// readBefore judges response p to READ w with a PSN before the next one, although nothing was retransmitted. It reports what readPlace does, where that is all
// there is to judge.
func (v *Verifier) readBefore(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) (fits, proven, judged bool) {
	if v.Unordered(c, from) {
		v.Event(c, from, rule.Network, p, rule.EvOutOfOrder, "")
		w.AwaitResponse(packet.Later(w.RespNext(), p.PSN.Add(1))) // what is missing readProgress notes
		return true, false, true
	}
	r, d := c.RQ(from), "retransmitted, but the READ was not"
	startKnown := r.MSN.StartKnown && !firstCount(&c.Ends[1-from].SQ, r)
	if !startKnown {
		d = "the request may also have been sent before the capture began"
	}
	proven = v.reportReadPlace(c, from, p, w, rule.Proven(c.Sees(from) && startKnown), rule.Want(expect.PSN, uint64(w.RespNext())), "the response with PSN "+w.RespNext().String(), d, 0)
	return false, proven, proven
}

// readOpcode judges the opcode of response p to READ w by its place in the issue that is being answered. sees says that a tap near the responder shows what it
// has sent before p, continues that the newest response was the one before it. It reports what readPlace does.
func (v *Verifier) readOpcode(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, sees, continues bool) (fits, proven bool) {
	q := &c.Ends[1-from].SQ
	if p.Opcode == readOpcode(p, q.RespFirst(w), w.Last) || firstOfSeveral(p, w) {
		return true, false
	}
	want := readOpcode(p, q.RespFirst(w), w.Last)
	if !sees && q.EverReissued(w.First, func(psn packet.PSN) bool {
		return !p.PSN.Before(psn) && p.Opcode == readOpcode(p, psn, w.Last)
	}) {
		return true, v.reportReadPlace(c, from, p, w, rule.Unproven, rule.Want(expect.Opcode, uint64(want)), want.String(), "an earlier READ of this PSN, or its response, may have been reordered or duplicated by the network", 0)
	}
	if p.Opcode != readOpcode(p, w.First, w.Last) {
		d := ""
		sure := !v.mayAnswerOther(c, from, p, w, continues)
		if !sure {
			d = "it may respond to a request that the tap has missed, or that was sent before the capture began"
		}
		return false, v.reportReadPlace(c, from, p, w, rule.Proven(sure && c.Complete() && !q.IsReordered(p.PSN) && !w.Has(wqe.Guessed)), rule.Want(expect.Opcode, uint64(want)), want.String(), d, 0)
	}
	// The place fits the first issue of the request, not the newest: a response to that may have been overtaken, or been copied on its way.
	d := "the READ was retransmitted from this PSN, so its response begins here"
	if q.RespFirst(w) != p.PSN && q.EverReissued(w.First, func(psn packet.PSN) bool { return psn == p.PSN }) {
		if p.Opcode == readOpcode(p, p.PSN, w.Last) {
			sees = false // it begins the answer to one of several copies, which may have waited in the queue of the responder
		} else {
			want = readOpcode(p, p.PSN, w.Last)
		}
	}
	if !sees {
		d += "; a response to the original request may have been in flight"
	}
	return true, v.reportReadPlace(c, from, p, w, rule.Proven(sees), rule.Want(expect.Opcode, uint64(want)), want.String(), d, 0)
}

// mayAnswerOther reports whether a response with another opcode than READ w asks for may answer another request: one for the rest of w, that the tap has
// missed, or, where w is the first request of the capture, the READ that w itself asks for the rest of. continues says that the newest response was the one
// before it: a retransmission of the READ in between is unlikely.
func (v *Verifier) mayAnswerOther(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, continues bool) bool {
	q, r, in := &c.Ends[1-from].SQ, c.RQ(from), p.Info()
	if w.First == q.First && !c.Ends[1-from].Knows(qp.KnowsSQPSN) && (in.Middle || in.Last) {
		return true
	}
	soon := continues && p.Time-r.Last.Time < int64(verifier.InFlight) && (sentNext(r, p) || !verifier.Numbered(p) || w == q.Messages.Newest())
	return !c.Sees(from) && !c.Sees(1-from) && !soon && p.Opcode == readOpcode(p, p.PSN, w.Last)
}

// sentNext reports whether p is what its sender sent right after the newest response: most senders number their IPv4 packets.
func sentNext(r *qp.ReceiveQueue, p *packet.Packet) bool {
	return p.Encap == packet.RoCEv2IPv4 && p.IPID == r.Last.ID+1
}

// firstOfSeveral reports whether p is the first response to READ w, whose PSNs wait for the path MTU, and says that there are more. Where it
// has more bytes than were asked for, and no path MTU has as many, they are what is wrong.
func firstOfSeveral(p *packet.Packet, w *wqe.SendWQE) bool {
	n := int(w.Length)
	return w.Has(wqe.Unsized) && p.PSN == w.First && p.Info().First && (p.PayloadLen < n || p.PayloadLen > n && !wqe.ValidMTU(p.PayloadLen))
}
