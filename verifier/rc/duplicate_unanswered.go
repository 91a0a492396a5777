package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// duplicateRequest judges a READ or atomic that is retransmitted, and notes it where its responder waits for what it has NAKed: that is no reason not to
// answer it (rule RC-RSP-004). It was ignored where it comes once more, and what came after it has been answered, or it is answered now and was not
// while there was all the time for that.
func (v *Verifier) duplicateRequest(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	if d := &q.Lost().Ignored; d.Set() && d.First == w.First {
		if d.LaterAnswered {
			v.duplicateUnanswered(c, from, p)
		} else if p.Time-d.Request.Time >= stalled {
			d.NoteRetransmitted()
		}
		return
	}
	if asksRest(c, p, w) && r.State == qp.SequenceNAKed && c.Sees(1-from) && r.MSN.StartKnown && !v.Broken && !q.HasCrossed() && !q.IsReordered(w.First) && w.Last.Before(r.NAK.PSN) && newestResponded(q) == w {
		v.Covered(rule.RCRSP004)
		q.Ignore(qp.Ignored{First: w.First, Last: w.Last, NakPSN: r.NAK.PSN, Request: p.Bare()})
	}
}

// asksRest reports whether request p asks for what READ w asked for, from its PSN on, or w is none.
func asksRest(c *qp.Pair, p *packet.Packet, w *wqe.SendWQE) bool {
	n := uint32(p.PSN.Diff(w.First)) * c.PMTU
	return w.Op != wqe.Read || (n > 0 || p.PSN == w.First) && p.RKey == w.RKey && p.VA == w.VA+uint64(n) && p.DMALen == w.Length-n
}

// newestResponded is the newest READ or atomic: a responder keeps that longest, to answer it again.
func newestResponded(q *qp.SendQueue) *wqe.SendWQE {
	for i := q.Messages.Len() - 1; i >= 0; i-- {
		if w := q.Messages.At(i); w.Op.Responded() {
			return w
		}
	}
	return nil
}

// duplicateAnswered takes a positive response, of a responder that may have ignored a request that was retransmitted.
func (v *Verifier) duplicateAnswered(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	if q.Recovery == nil || !q.Recovery.Ignored.Set() {
		return
	}
	switch d := &q.Recovery.Ignored; {
	case p.PSN.In(d.First, d.Last):
		if d.Retransmitted {
			v.duplicateUnanswered(c, 1-from, p)
		}
		d.Close()
	case !p.PSN.Before(d.NakPSN):
		d.AnswerLater()
	}
}

// duplicateUnanswered reports that the responder of what end from sends has ignored a request, as p shows.
func (v *Verifier) duplicateUnanswered(c *qp.Pair, from int, p *packet.Packet) {
	d := &c.Ends[from].SQ.Recovery.Ignored
	v.Accuse(c, 1-from, d.Request, rule.Verdict{
		Rule: rule.RCRSP004, Class: rule.Proven(c.Sees(1 - from)), Role: rule.Responder,
		Expected: "a response to the duplicate request: an outstanding PSN sequence NAK for " + d.NakPSN.String() + " does not delay it",
		Actual:   "none for " + time.Duration(p.Time-d.Request.Time).String(), Evidence: []uint64{p.Frame},
	})
	d.Close()
}
