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

// msn judges the MSN of a response. before is 1 for a NAK, which does not count its own PSN. Only a response that goes on where the newest
// ended says how many messages there are up to it: one out of its turn may have overtaken that.
func (v *Verifier) msn(c *qp.Pair, from int, p *packet.Packet, before int) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	last := r.MSN.Last
	v.count(c, from, p, before)
	v.msnWraps(c, r, p, last)
	w, _ := q.Messages.Find(p.PSN)
	if r.Last.Positive && !c.Sees(from) && p.PSN != r.Last.PSN && (before != 0 || p.PSN.Before(q.Una) || w != nil && w.Has(wqe.Gapped)) {
		r.MSN.Show(last)
	}
}

// mostAlike is how many packets a responder sends at most, at the beginning of a capture, in answer to what was sent before it.
const mostAlike = 64

// count holds the MSN of a response against the messages that the responder has completed (rules RC-RSP-013, -014, -015). A responder
// counts a SEND or WRITE when it executes its last packet and a READ when it accepts it, so the MSN lies between the number of
// messages up to the response's PSN and the number of all that were sent.
func (v *Verifier) count(c *qp.Pair, from int, p *packet.Packet, before int) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	q.FirstShown(p.MSN)
	least, next, epoch, ok := completed(q, p.PSN.Add(-before))
	if !ok || q.Gap.Open() && !p.PSN.Add(-before).Before(q.Gap.From) {
		v.Skipped[verifier.SkipMSN]++
		r.MSN.Show(p.MSN)
		return
	}
	id := rule.RCRSP013
	if before == 1 {
		id = rule.RCRSP015
	}
	base := (p.MSN - least) & packet.PSNMask
	begins := base == 0 && q.AnsweredBeforeCapture() == 0 && !q.EverReordered() // the connection began in this capture
	if epoch != r.MSN.Epoch {
		r.BeginEpoch(epoch)
	}
	if r.MSN.Degree == qp.MSNUnknown {
		v.baseline(c, from, p, base, begins, next == q.Count)
		return
	}
	v.Covered(id)
	n := miscount{id: id, before: before, least: least, last: r.MSN.Last, have: packet.PSN((p.MSN - r.MSN.Base) & packet.PSNMask)}
	r.MSN.Show(p.MSN)
	n.over = n.have.Diff(packet.PSN(least))
	if q.CountsAhead() {
		v.overcount(c, from, p, n.over)
	}
	switch {
	case n.over == 0:
		if next == q.Count {
			agrees(q, r, p)
		}
	case r.Baseline != nil && begins:
		v.wrongBaseline(c, from, p, id)
	default:
		v.miscounted(c, from, p, &n)
	}
}

// agrees notes that response p to the newest message has the MSN that the baseline gives it: a second one proves that.
func agrees(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) {
	if r.Baseline != nil && p.MSN == r.Baseline.MSN {
		return
	}
	r.MSN.Know()
	r.CloseBaseline()
	r.MSN.SetStartKnown(r.MSN.StartKnown || !p.PSN.Before(q.Una))
}

// baseline takes response p, of base messages more than there are up to its PSN, where MSNs are not counted yet: they are from there on, unless it goes
// back (rule RC-RSP-014), or may be the answer to a duplicate. begins says that p counts from the first message of the capture, newest that none has begun after its PSN.
func (v *Verifier) baseline(c *qp.Pair, from int, p *packet.Packet, base uint32, begins, newest bool) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	v.Covered(rule.RCRSP014)
	waited := int32(uint32(p.Frame)-r.Last.Frame) < 0 // for its request, and that one came later
	if r.Last.Positive && !waited && p.PSN.After(r.Last.PSN) && packet.PSN(p.MSN).Before(packet.PSN(r.MSN.Last)) {
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCRSP014, Class: rule.Proven(c.Complete() && (c.Sees(from) || verifier.Numbered(p) && !r.DuplicateRequest && !q.MayBeRetransmitted(r.Last.PSN) && !q.IsReordered(r.Last.PSN))), Role: rule.Responder,
			Expected: fmt.Sprintf("MSN %d or more: it never goes back", r.MSN.Last), Actual: fmt.Sprintf("MSN %d", p.MSN),
			Evidence: []uint64{packet.FrameNear(p.Frame, r.Last.Frame)},
		})
	}
	if (base != 0 || q.EverReordered()) && (r.DuplicateRequest || p.PSN.Before(q.Una)) {
		v.Skipped[verifier.SkipMSN]++ // an answer to a duplicate may count later messages
		r.MSN.Show(p.MSN)
		return
	}
	v.countFrom(q, r, p, base, begins, newest)
}

// miscount is what the MSN of a response counts, where that is not the number of messages up to its PSN.
type miscount struct {
	id     rule.ID
	before int        // 1: of a NAK, which does not count its own PSN
	least  uint32     // messages up to its PSN
	last   uint32     // MSN of the response before it
	have   packet.PSN // messages that it counts
	most   packet.PSN // messages that have been sent whole
	over   int        // how many more it counts than there are up to its PSN
}

// beyond reports whether it counts more messages than have been sent.
func (n *miscount) beyond() bool { return n.over > 0 && n.have.After(n.most) }

// miscounted judges a response whose MSN is not the number of messages up to its PSN.
func (v *Verifier) miscounted(c *qp.Pair, from int, p *packet.Packet, n *miscount) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	d := rule.Verdict{
		Rule: n.id, Class: rule.Proven(r.MSN.Degree == qp.MSNKnown && c.Complete() && len(c.Early()) == 0), Role: rule.Responder,
		Wants: rule.Want(expect.MSN, uint64((r.MSN.Base+n.least)&packet.PSNMask)), Expected: fmt.Sprintf("MSN %d", (r.MSN.Base+n.least)&packet.PSNMask), Actual: fmt.Sprintf("MSN %d", p.MSN),
	}
	if r.Last.Positive {
		d.Evidence = []uint64{packet.FrameNear(p.Frame, r.Last.Frame)}
	}
	open := false
	if n.over == 1 && openAt(q, p.PSN) {
		open = d.Class == rule.Violation
		d.Class = rule.Unproven
		d.Detail = "the MSN counts a message whose last packet is not in the capture or has a wrong opcode"
	}
	n.most = packet.PSN((q.Count - openMessages(q)) & packet.PSNMask)
	v.doubtCount(c, from, p, n, &d)
	if n.over > 0 && n.before == 0 && !n.have.After(n.most) {
		v.countsLater(c, from, p, n, d)
		return
	}
	v.Report(c, from, p, d)
	if open || n.beyond() && d.Class == rule.Violation {
		q.CountAfter(p.PSN)
	}
	if n.over > 0 && (d.Class == rule.Violation || open) || d.Class == rule.Violation && stream.Far(n.over) {
		r.MSN.Show((r.MSN.Base + n.least) & packet.PSNMask) // the right one does not go back
	}
	r.CloseMSN() // the next response sets the baseline again: one fault, one finding
}

// openAt reports whether the newest message is open and has its newest packet at psn.
func openAt(q *qp.SendQueue, psn packet.PSN) bool {
	w := q.Messages.Newest()
	return w != nil && w.Last == psn && !w.Has(wqe.Ended)
}

// doubtCount takes the proof from d where the number of messages that have been sent may be another one than the capture shows.
func (v *Verifier) doubtCount(c *qp.Pair, from int, p *packet.Packet, n *miscount, d *rule.Verdict) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if d.Class == rule.Violation && (r.Last.Positive && q.IsReordered(r.Last.PSN) || n.over > 0 && q.Next.Before(q.High)) {
		d.Class = rule.Unproven // until a response after them agrees
		d.Detail = "requests were reordered, or are being retransmitted after a gap: the message count may be wrong"
	}
	if d.Class == rule.Violation && n.over < 0 && p.MSN|qp.MSNFromEarlier == q.FirstMSN && !r.MSN.Witnessed && !c.Ends[1-from].Knows(qp.KnowsSQPSN) && c.Ends[from].Packets() < mostAlike {
		d.Class, d.Detail = rule.Unproven, "all MSNs since the capture began are the same: the requests may be retransmissions from before it"
	}
	if detail := tapMisses(c, from, p, n); detail != "" {
		d.Class, d.Detail = rule.Unproven, detail
	}
}

// tapMisses says what a tap that is not near the requester may have missed, so that a response counts right; "": nothing.
func tapMisses(c *qp.Pair, from int, p *packet.Packet, n *miscount) (what string) {
	r := c.RQ(from)
	if n.beyond() {
		what = tapMissesRequests(c, from, p)
	}
	if r.State == qp.SequenceNAKed && n.before == 0 && !p.PSN.Before(r.NAK.PSN) && !c.Sees(1-from) {
		what = "it acknowledges the retransmission that its sequence NAK requested: the tap has missed it, and with it the number of messages"
	}
	if n.over > 0 && r.Last.Positive && otherPacketSent(r, p) && !c.Sees(from) && !c.Sees(1-from) {
		what = "the tap may have missed earlier responses, and a retransmission of the request after later ones"
	}
	return what
}

// tapMissesRequests says which requests the tap may have missed, so that a response may count more messages than have been sent; "": none.
func tapMissesRequests(c *qp.Pair, from int, p *packet.Packet) (what string) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	if (r.DuplicateRequest || p.PSN.Before(q.Una)) && !c.Sees(from) && !c.Sees(1-from) {
		what = "it may respond to a duplicate, and count a message that the tap has missed"
	}
	if q.Gap.Open() && !c.Sees(1-from) {
		what = "requests are missing before the tap: it may count some that the tap has missed"
	}
	return what
}

// otherPacketSent reports whether a responder that numbers its packets has sent another one between the newest response and p, the answer to a READ or atomic.
func otherPacketSent(r *qp.ReceiveQueue, p *packet.Packet) bool {
	return p.Opcode.Fn() != packet.Acknowledge && verifier.Numbered(p) && p.IPID != r.Last.ID+1
}

// countsLater judges a response that counts messages after its PSN which have been sent: the answer to a duplicate, or what was accepted or executed before it left, or
// the responder has executed them since.
func (v *Verifier) countsLater(c *qp.Pair, from int, p *packet.Packet, n *miscount, d rule.Verdict) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	switch {
	case r.DuplicateRequest || p.PSN.Before(q.Una): // answers to duplicates carry the newest MSN
	case countedAhead(q, p, n.over):
		q.CountAhead(qp.Overcount{
			Time: p.Time, Frame: p.Frame, Tap: p.Tap, PSN: p.PSN, MSN: p.MSN, Expected: (r.MSN.Base + n.least) & packet.PSNMask, IPID: p.IPID, Opcode: p.Opcode, Set: true,
		})
	case p.MSN != n.last: // what counts on from there when they are answered has one too many
		d.Class = rule.Unproven
		d.Detail = "it counts messages after its PSN: the responder may have executed them since"
		v.Report(c, from, p, d)
	}
}

// overcount judges, with response p, one before it that counted messages after its PSN: they were accepted or executed then, so that p counts them too.
// over is how many messages after its own PSN p counts.
func (v *Verifier) overcount(c *qp.Pair, from int, p *packet.Packet, over int) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	a := q.TakeAhead()
	if over != 0 || !packet.PSN(p.MSN).Before(packet.PSN(a.MSN)) || r.DuplicateRequest || q.EverReordered() || len(c.Early()) > 0 ||
		!c.Complete() || !c.Sees(from) && (!verifier.Numbered(p) || verifier.LeftBefore(p, a.IPID)) {
		return
	}
	v.Covered(rule.RCRSP014)
	before := packet.Packet{Time: a.Time, Frame: a.Frame, Tap: a.Tap, Opcode: a.Opcode, PSN: a.PSN, MSN: a.MSN, Has: packet.HasBTH}
	v.Report(c, from, &before, rule.Verdict{
		Rule: rule.RCRSP013, Class: rule.Violation, Role: rule.Responder,
		Wants: rule.Want(expect.MSN, uint64(a.Expected)), Expected: fmt.Sprintf("MSN %d", a.Expected), Actual: fmt.Sprintf("MSN %d", a.MSN),
		Detail: "it counts requests after its PSN, and the next MSN does not", Evidence: []uint64{p.Frame},
	})
}

// openMessageCounted judges, now that a message of end from goes on with request p, a response that has counted it before its end.
func (v *Verifier) openMessageCounted(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	l := q.Recovery
	q.CloseCounted()
	if in := p.Info(); p.PSN != l.Counted.PSN.Add(1) || !in.Middle && !in.Last || q.Open != wqe.OpOf(p.Opcode.Fn()) {
		return
	}
	at := uint64(l.Counted.PSN)
	if k := max(v.blamed(c, 1-from, rule.RCRSP013, at), v.blamed(c, 1-from, rule.RCRSP015, at)); k >= 0 && c.Complete() {
		v.Rec.Findings[k].Assumes |= rule.AssumesWhole
		v.Rec.Prove(k, "it counts the message, of which later packets follow")
	}
}

// countedInGap doubts that a response has counted messages that were not sent, where a gap in the requests of end from begins right after its PSN: it may hide them.
func (v *Verifier) countedInGap(c *qp.Pair, from int) {
	q := &c.Ends[from].SQ
	if l := q.Recovery; l == nil || !l.Counted.Set || l.Counted.PSN != q.Next.Add(-1) {
		return
	}
	if k := v.blamed(c, 1-from, rule.RCRSP013, uint64(q.Next.Add(-1))); k >= 0 {
		v.Rec.Doubt(k, "requests are missing right after its PSN: it may count some that the capture does not hold")
	}
}

// countFrom takes a response as the one from which MSNs are counted. A base of 0 means that the connection began in this capture, and
// is certain where no doubt is about the count of messages; any other is a guess until a second response agrees with it, the more so while
// later messages are in flight.
func (v *Verifier) countFrom(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet, base uint32, certain, newest bool) {
	r.MSN.CountFrom(base, p.MSN)
	switch {
	case certain:
		r.MSN.Know()
		r.MSN.SetStartKnown(true)
		q.FirstCounts(p.MSN)
	case newest || p.Opcode.Fn() == packet.Acknowledge:
		r.GuessMSN(p.Bare())
	}
	v.Skipped[verifier.SkipMSN]++
}

// wrongBaseline reports the response from which MSNs were counted, now that the next one shows that the connection began in this
// capture, and the first was wrong; or it answered a duplicate, and counted what the capture shows only as retransmitted.
func (v *Verifier) wrongBaseline(c *qp.Pair, from int, p *packet.Packet, id rule.ID) {
	r := c.RQ(from)
	back := packet.PSN(p.MSN).Before(packet.PSN(r.Baseline.MSN))                              // else it may count what came before the capture, and is retransmitted in it
	first := c.Sees(from) || verifier.Numbered(p) && !verifier.LeftBefore(p, r.Baseline.IPID) // else the answer to a duplicate may have overtaken p
	v.Report(c, from, r.Baseline, rule.Verdict{
		Rule: id, Class: rule.Proven(c.Complete() && back && first), Role: rule.Responder,
		Wants: rule.Want(expect.MSN, uint64((r.Baseline.MSN-r.MSN.Base)&packet.PSNMask)), Expected: fmt.Sprintf("MSN %d", (r.Baseline.MSN-r.MSN.Base)&packet.PSNMask), Actual: fmt.Sprintf("MSN %d", r.Baseline.MSN),
		Detail: "the MSN of the next response counts from the first message of the capture", Evidence: []uint64{p.Frame},
	})
	r.MSN.CountFrom(0, p.MSN)
	r.MSN.Know()
	r.CloseBaseline()
	r.MSN.SetStartKnown(r.MSN.StartKnown || back)
}

// openMessages is 1 while a message is open, which no MSN counts yet.
func openMessages(q *qp.SendQueue) uint32 {
	if w := q.Messages.Newest(); w != nil && !w.Has(wqe.Ended) {
		return 1
	}
	return 0
}

// completed returns how many messages end at or before psn, and the count up to which messages begin at or before it.
func completed(q *qp.SendQueue, psn packet.PSN) (n, begun uint32, epoch uint8, ok bool) {
	i := q.Messages.UpTo(psn)
	if i < 0 {
		if q.Messages.Len() > 0 && psn == q.Messages.At(0).First.Add(-1) {
			n := q.Messages.At(0).Ordinal
			return n, n, q.Messages.At(0).Epoch, true
		}
		return
	}
	w := q.Messages.At(i)
	switch {
	case psn.After(w.Last), w.Has(wqe.Broken):
		return
	case w.Op.Responded() || psn == w.Last && w.Has(wqe.Ended):
		return (w.Ordinal + 1) & packet.PSNMask, (w.Ordinal + 1) & packet.PSNMask, w.Epoch, true
	}
	return w.Ordinal, (w.Ordinal + 1) & packet.PSNMask, w.Epoch, true
}

// countedAhead reports whether response p may count the n messages after its PSN: READs and atomics are counted when they are accepted, before their responses leave, and
// SENDs and WRITEs when they are executed, which a READ or atomic before them, whose response waits to leave, does not keep from.
func countedAhead(q *qp.SendQueue, p *packet.Packet, n int) bool {
	waited := p.Opcode.Fn() != packet.Acknowledge
	for i := q.Messages.UpTo(p.PSN) + 1; n > 0; i, n = i+1, n-1 {
		if i >= q.Messages.Len() {
			return false
		}
		if w := q.Messages.At(i); !w.Op.Responded() && !(waited && w.Has(wqe.Ended)) {
			return false
		}
	}
	return true
}
