package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// reordering is how late the network brings a packet that others have overtaken, at most: one that comes later was retransmitted.
const reordering = int64(time.Millisecond)

// takenForLost is within what time of a packet that was overtaken its responder has it retransmitted as lost.
const takenForLost = int64(time.Second)

// slow is how long a requester waits for a response before that is worth telling, though it does not retransmit.
const slow = qp.SlowAnswer

// sentAgain notes, for who tells of incidents, that request p was retransmitted, of message w; nil: it is not known any more. asked is a stamp of when that was first sent; 0: not
// known. shown says that the capture has shown it before.
func (v *Verifier) sentAgain(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, asked uint32, shown bool) {
	q := &c.Ends[from].SQ
	soon := q.Last.Tap == p.Tap && p.Time-q.Last.Time <= reordering
	if soon && verifier.Numbered(p) && verifier.LeftBefore(p, q.Last.ID) {
		q.CountStalled(p, c.Ends[from].Sums()) // others have overtaken it
		return
	}
	if q.GoesBack(p.PSN) && !v.begins(c, from, p, w, asked, shown, soon) {
		return
	}
	v.goesOn(c, from, p)
}

// begins judges whether a round begins with request p, which has a PSN before the one that would come next; see sentAgain. soon says that it came right after another.
func (v *Verifier) begins(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, asked uint32, shown, soon bool) bool {
	q, sent := &c.Ends[from].SQ, int64(0)
	if asked != 0 {
		sent = p.Time - int64(verifier.Stamp(p.Time)-asked)*verifier.Tick
	}
	cause, known := roundCause(c, from, p, sent)
	unnumbered := !verifier.Numbered(p)
	if !shown && soon && (!known || cause == qp.TimerExpired && unnumbered) {
		return false // others may have overtaken it: if they follow once more, the round begins with them
	}
	if known {
		if sent == 0 {
			sent = waitsSince(c, from, p, w, cause)
		}
		v.goesBack(c, from, p, w, cause, sent, shown)
		if cause == qp.SequenceAsked && unnumbered && !shown {
			q.NoteLone(p)
		}
		return true
	}
	if unnumbered && shown && q.LoneOvertaken(p) {
		return true
	}
	q.CountStalled(p, c.Ends[from].Sums())
	return false
}

// waitsSince is since when request p of message w waits, with which a round begins, where that is not known from when w asked for its answer; 0: since the timer began.
func waitsSince(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, cause qp.RetransmissionCause) int64 {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	switch nak := &r.NAK; {
	case cause == qp.TimerExpired && nak.PSN == p.PSN && nak.Time != 0 && nak.Time == r.Last.Time && nak.Time < q.TimerStart:
		return nak.Time // its receiver has waited for it all the time, though the requester went on with new requests
	case w != nil && w == q.Messages.Newest() && w.First == q.Una:
		return max(q.Last.Time, q.TimerStart) // it asks for no ACK yet, and nothing before it waits for one: the timer began with it, not with the last progress
	}
	return 0
}

// goesOn notes that a round goes on with request p.
func (v *Verifier) goesOn(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	q.CountStalled(p, c.Ends[from].Sums())
	q.SentAgain(p.PSN.Add(max(c.PSNs(p), 1)))
}

// goesBack notes that a round begins with request p; see sentAgain.
func (v *Verifier) goesBack(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, cause qp.RetransmissionCause, sent int64, shown bool) {
	q := &c.Ends[from].SQ
	cut := cause == qp.TimerExpired && shown && q.WentShort(p.Time)
	q.Stall(p, w, cause, sent, !shown)
	if cause == qp.TimerExpired {
		q.NoteNewestOfPeer(newestID(c, 1-from))
	}
	came := answerCame(c, from, p, w)
	switch {
	case cause == qp.TimerExpired && p.PSN.Before(q.First):
		q.SentEarlier()
	case cause == qp.TimerExpired && came:
		ago := p.Time - c.RQ(1-from).Last.Time
		lost := ago >= reordering || 2*ago >= p.Time-q.Trouble().Now.Since // else the two may have met on their way
		q.Answered(lost, c.Ends[1-from].SQ.DamagedFrom(p.PSN))
	case cause == qp.TimerExpired && w != nil && w.Op == wqe.Read && w.RespFrame != 0 && w.RespNext().After(w.First):
		q.LacksEnd()
	case cut:
		q.CountWentShort()
	case cause == qp.SequenceAsked:
		if r := c.RQ(1 - from); r.State == qp.SequenceNAKed && p.PSN.After(r.NAK.PSN) && q.Gap.Open() && !r.NAK.PSN.Before(q.Gap.From) && r.NAK.PSN.Before(q.Gap.To) {
			q.AskedForUnshown()
		}
		q.AskedForOvertaken(p.PSN, p.Time, takenForLost)
	case cause == qp.ResponseLost && came && !impliedNAK(q, p) && !c.Ends[1-from].SQ.DamagedFrom(p.PSN):
		q.AnsweredLater()
	case cause == qp.ResponseLost && w != nil && w.Op == wqe.Read:
		q.AskedForOvertakenResponse(p.PSN, w, p.Time, takenForLost)
	}
}

// newestID is the IPv4 identification of the newest packet of an end: a response, or a request of its own.
func newestID(c *qp.Pair, end int) uint16 {
	q, r := &c.Ends[end].SQ, c.RQ(end)
	if q.Last.Time > r.Last.Time {
		return q.Last.ID
	}
	return r.Last.ID
}

// answerCame reports whether the answer to request p of message w had come, which is retransmitted, and notes where one to a later request had, and this one had none, or a PSN sequence NAK asks for it.
func answerCame(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) bool {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	lacks := w == nil && q.PassesOver(p.PSN)
	came := q.Una.After(p.PSN) && !lacks && (w == nil || w.AnswerCame(p.PSN))
	if r.State == qp.SequenceNAKed && p.PSN == r.NAK.PSN {
		q.NAKed()
	}
	last, taken := p.PSN, lacks
	if w != nil {
		last, taken = w.Last, !came && q.Una.After(w.Last)
	}
	switch acked := r.Last.Positive && r.Last.PSN.After(last); {
	case !taken:
	case !acked && r.State == qp.SequenceNAKed && r.NAK.PSN.After(last) && (lacks || w.Op.Responded()):
		q.PassedOver(r.NAK.Frame, true) // which is no answer to it
	case acked, lacks && r.Last.Positive:
		q.PassedOver(r.Last.Frame, !acked)
	}
	return came
}

// unseen takes a request with a PSN that no request had, as far as the tap shows them whole. again says that it had shown one damaged.
func (v *Verifier) unseen(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, again bool) {
	q := &c.Ends[from].SQ
	if again {
		v.droppedBefore(c, from, p, w)
		q.TailDropped()
	} else if q.GoesOn(); q.InTail() {
		v.goesOnAfter(q, p)
	}
}

// goesOnAfter takes request p, the first after a round that a timer began in the midst of a message, or one after that: the message goes on, and has been sent before.
func (v *Verifier) goesOnAfter(q *qp.SendQueue, p *packet.Packet) {
	if in := p.Info(); in.First || in.Only {
		q.EndTail()
	} else {
		q.SentTail(p, in.Last)
	}
}

// droppedBefore takes request p of message w with the PSN of a packet before it that its receiver has dropped, as the tap shows it damaged: it is retransmitted.
func (v *Verifier) droppedBefore(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	if cause, known := roundCause(c, from, p, 0); known {
		v.goesBack(c, from, p, w, cause, c.Ends[from].SQ.DamageBegun(p.PSN), false)
	}
	v.goesOn(c, from, p)
}

// noteLate notes where response p, which makes progress, comes so late; last is when the one before it came, 0: there was none. It is small enough for the compiler to inline it.
func noteLate(q *qp.SendQueue, last int64, p *packet.Packet) {
	if p.Time-last > slow {
		answersLate(q, last, p)
	}
}

// progressed is when the response before p came, or the one before that which made progress: one that came after a gap, as responses to the READ that waits are missing, did not.
func progressed(q *qp.SendQueue, r *qp.ReceiveQueue, p *packet.Packet) int64 {
	last := r.Last.Time
	if q.TimerStart == 0 || q.TimerStart >= last {
		return last
	}
	if w, _ := q.Messages.Find(q.Una); w != nil && (w.Has(wqe.Gapped) || w.Op.Responded() && p.PSN.After(w.Last)) {
		return q.TimerStart
	}
	return last
}

// answersLate notes that response p has come so late: after the request that waits longest, or after the response before it.
//
//go:noinline
func answersLate(q *qp.SendQueue, last int64, p *packet.Packet) {
	w, _ := q.Messages.Find(q.Una)
	if w == nil {
		return
	}
	since := q.TimerStart
	if w.Asked != 0 && last != 0 {
		since = max(last, p.Time-int64(verifier.Stamp(p.Time)-w.Asked)*verifier.Tick)
	}
	if since != 0 && p.Time-since > slow {
		q.NoteSlow(p, w, since, w.Op == wqe.Read && (w.Has(wqe.Gapped) || p.PSN.After(w.RespNext())))
	}
}

// silentGap notes that request p comes after a gap and a silence of the whole connection: what was sent meanwhile is not in the capture.
func (v *Verifier) silentGap(c *qp.Pair, from int, p *packet.Packet) {
	if last := max(c.LastTime(0), c.LastTime(1)); last != 0 && p.Time-last > slow {
		c.Ends[from].SQ.NoteSilence(p, last)
	}
}

// overtaken notes request p, whose PSN is before one that has come, where that one has overtaken it on its way: nothing shows that p was retransmitted. It reports
// whether its IPv4 identification proves that it left before.
func (v *Verifier) overtaken(c *qp.Pair, from int, p *packet.Packet) bool {
	q := &c.Ends[from].SQ
	if q.History().Get(p.PSN) != nil || q.Retransmission.Active && !p.PSN.After(q.Retransmission.Next) || !q.Gap.Open() || !p.PSN.In(q.Gap.From, q.Gap.To.Add(-1)) {
		q.NotOvertaken()
		return false
	}
	if q.Last.Tap != p.Tap || p.Time-q.Last.Time > reordering {
		return false
	}
	after := q.OvertakenAfter()
	numbered := verifier.Numbered(p)
	if numbered && !verifier.LeftBefore(p, after) || !numbered && (!c.Paired || c.RQ(1-from).State != qp.Expecting || impliedNAK(q, p)) {
		return false
	}
	if q.CountOvertaken(p, after, numbered); numbered {
		q.CountFoundHole(p.PSN)
		v.sprayed(c, from, p)
	}
	return numbered
}

// responseOvertaken notes response p of end from to READ w, where it came after a later one: nothing shows that the READ was retransmitted for it.
func (v *Verifier) responseOvertaken(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	q.ResponseCame(p.PSN)
	newest, fills := w.RespNext().Add(-1), p.PSN == q.Missing(w)
	if r.Last.Positive {
		newest = packet.Later(newest, r.Last.PSN)
	}
	run := q.OvertakenResponses(&r.Last)
	if run != nil {
		newest, fills = packet.Later(newest, run.Newest()), q.InHole(p.PSN)
	}
	if p.PSN.After(w.RespNext()) {
		q.NoteHole(w.RespNext(), p.PSN)
	}
	if !newest.After(p.PSN) || v.Unordered(c, from) || v.copiedResponse(r, p) {
		return
	}
	numbered, after := verifier.Numbered(p), overtook(run, r)
	asked := q.EverReissued(w.First, func(psn packet.PSN) bool { return psn == p.PSN })
	near, before := uint8(p.Tap) == r.Last.Tap && p.Time-r.Last.Time <= reordering, numbered && verifier.LeftBefore(p, after)
	switch {
	case before && near && q.EverReissued(w.First, func(psn packet.PSN) bool { return !p.PSN.Before(psn) }):
		q.CountOvertakenResponse(p, newest, after, true, run != nil, asked) // be it the first that came, or a copy
	case !fills && !asked:
		if run != nil {
			run.TakeBack()
		}
	case near && (before || !numbered && !w.Has(wqe.Reissued) && !r.DuplicateRequest && !c.Lossy):
		q.CountOvertakenResponse(p, newest, after, numbered, run != nil, asked)
	}
}

// missesResponses notes that n responses of end from to READ w are missing before response p, where nothing was retransmitted that they may answer.
func (v *Verifier) missesResponses(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE, n int) {
	if c.RQ(from).DuplicateRequest || w.Flags&(wqe.Reissued|wqe.Unsized|wqe.Guessed) != 0 || v.Unordered(c, from) {
		return
	}
	e := &c.Ends[1-from]
	e.SQ.CountMissingResponses(w.RespNext(), n, p, e.Sums().Messages)
}

// overtook is the IPv4 identification of what has overtaken the newest response, where run says that it was; else that of the newest response.
func overtook(run *qp.Overtaking, r *qp.ReceiveQueue) uint16 {
	if run != nil {
		return run.After
	}
	return r.Last.ID
}

// lateResponse notes response p of end from to a READ that is over, and was retransmitted from its PSN or one before: that it left before later ones only its IPv4 identification shows.
func (v *Verifier) lateResponse(c *qp.Pair, from int, p *packet.Packet) {
	q, r := &c.Ends[1-from].SQ, c.RQ(from)
	q.ResponseCame(p.PSN)
	if !q.EverReissuedTo(p.PSN) || !verifier.Numbered(p) || !r.Last.PSN.After(p.PSN) || uint8(p.Tap) != r.Last.Tap || p.Time-r.Last.Time > reordering || v.Unordered(c, from) {
		return
	}
	run := q.OvertakenResponses(&r.Last)
	if after := overtook(run, r); verifier.LeftBefore(p, after) {
		q.CountOvertakenResponse(p, r.Last.PSN, after, true, run != nil, q.EverReissuedFrom(p.PSN))
	}
}

// laterAnswer reports whether a response to what comes after READ or atomic p has come: where its own was lost after the tap, that had the requester go back.
func laterAnswer(r *qp.ReceiveQueue, p *packet.Packet) bool {
	return wqe.OpOf(p.Opcode.Fn()).Responded() && r.Last.Positive && r.Last.PSN.After(p.PSN)
}

// roundCause is what had the requester go back to p. The PSN sequence NAK that it is has been obeyed then. sent is when p was first sent; 0: not known.
// It is false where nothing has asked for it and no timer is so short: others have overtaken what was retransmitted before.
func roundCause(c *qp.Pair, from int, p *packet.Packet, sent int64) (cause qp.RetransmissionCause, known bool) {
	q, r := &c.Ends[from].SQ, c.RQ(1-from)
	switch {
	case r.State == qp.RNRNAKed && p.PSN == r.NAK.PSN:
		return qp.NotReady, true
	case q.ObeysNAK(p.PSN, p.Time), nakWaits(c, from):
		return qp.SequenceAsked, true
	case r.State == qp.SequenceNAKed && (p.PSN.After(r.NAK.PSN) || wqe.OpOf(p.Opcode.Fn()).Responded()) && q.ObeysNewestNAK(p.Time):
		return qp.SequenceAsked, true // the request that it asks for was lost before the tap, or a READ or atomic before that waits for its response
	case c.Paired && qp.Prompt(r.Last.Time, p.Time) && answeredLater(q, r, p):
		return qp.ResponseLost, true
	}
	return qp.TimerExpired, q.Waited(sent, p.Time)
}

// refuses notes RNR NAK p of end from.
func refuses(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	w, _ := q.Messages.Find(p.PSN)
	since := int64(0)
	if w != nil && w.Asked != 0 {
		since = p.Time - int64(verifier.Stamp(p.Time)-w.Asked)*verifier.Tick
	}
	q.StallNotReady(p, w, since)
}

// progresses ends the stalls that packet p of connection c shows to be over.
func progresses(c *qp.Pair, p *packet.Packet) {
	for i := range c.Ends {
		if q := &c.Ends[i].SQ; q.Stalled() {
			q.Progress(p, c.PMTU)
		}
	}
}
