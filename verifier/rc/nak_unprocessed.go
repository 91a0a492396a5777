package rc

import (
	"time"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
	"ibwitness/wqe"
)

// A NAK that has passed the tap near its requester has not been processed yet: it may wait for a driver, or the host may be stopped by its
// hypervisor. What the requester sends meanwhile is as if there were no NAK.

// nakUnprocessed is why what follows a NAK at the tap is not proven.
const nakUnprocessed = "the NAK had just passed the tap, or the host of the requester had stalled: the requester may not have processed the NAK"

// silentSince reports whether an end has sent nothing since a time but what may have been in flight.
func silentSince(c *qp.Pair, i int, since int64) bool {
	return c.LastTime(i) <= since+int64(verifier.InFlight)
}

// lags reports whether an end has answered, so long after a NAK passed the tap, a request that had passed before it: it takes packets in order, and may not have come to the NAK.
func lags(c *qp.Pair, i int, nak *qp.NAK) bool {
	before, known := answeredBefore(c, i, nak)
	return known && before && c.RQ(i).Last.Time >= nak.Time+stream.Uptake
}

// answeredBefore reports whether the newest request that an end has answered passed the tap before a NAK to it, and whether that is known.
func answeredBefore(c *qp.Pair, i int, nak *qp.NAK) (before, known bool) {
	w, _ := c.Ends[1-i].SQ.Messages.Find(c.RQ(i).Last.PSN)
	return w != nil && int32(w.Frame-nak.Frame) < 0, w != nil
}

// hostLag is by how much later than at the tap a host with many packets may process one: soft-RoCE in an emulated machine did so 220 ms later.
const hostLag = int64(200 * time.Millisecond)

// mayLag is by how much longer than goBackTime a requester may take to go back for a NAK: not at all where it has answered a request that passed the tap after the newest NAK.
func mayLag(c *qp.Pair, from int) int64 {
	if before, known := answeredBefore(c, from, &c.RQ(1-from).NAK); known && !before {
		return 0
	}
	return hostLag
}

// sentSince reports whether a requester has sent something since message w was answered, so that its host was not stopped: a request after the answer
// to a READ or atomic, or one so much after a SEND or WRITE that this was answered by then; or a response after all.
func (v *Verifier) sentSince(c *qp.Pair, from int, w *wqe.SendWQE) bool {
	end, r := &c.Ends[from], c.RQ(1-from)
	if c.RQ(from).Last.Time > r.Last.Time {
		return true
	}
	if w.Op.Responded() && w.RespFrame != 0 {
		return packet.FrameNear(end.SQ.Last.Frame, w.RespFrame) < end.SQ.Last.Frame
	}
	m := end.SQ.Messages.Newest()
	return v.waitingSince != 0 && m.Asked != 0 && int64(m.Asked-v.waitingSince)*int64(verifier.Tick) > stream.Uptake
}

// doubtNak takes back that retransmission p is proven to be the wrong one after the newest NAK, where its requester may not have processed that.
func (v *Verifier) doubtNak(c *qp.Pair, from int, p *packet.Packet, d *rule.Verdict) {
	if d.Class == rule.Violation && v.mayPrecedeNak(c, from, p) {
		d.Class, d.Detail = rule.Unproven, nakUnprocessed
	}
}

// mayPrecedeNak reports whether the requester of retransmission p may have sent it since its timer had run out, before it processed the newest NAK. That its host
// was stopped for longer than briefStall while it should have waited for an RNR timer is supposed only where its own timer is known from the queue pair, or an earlier NAK has it go back.
func (v *Verifier) mayPrecedeNak(c *qp.Pair, from int, p *packet.Packet) bool {
	r := c.RQ(1 - from)
	took := p.Time - r.NAK.Time
	waits := r.State == qp.RNRNAKed && took >= briefStall && !c.Ends[from].KnowsDirectly(qp.KnowsTimeout) && !c.Ends[from].SQ.MayRetransmit(p.Time, mayLag(c, from), false)
	still := !waits && (silentSince(c, from, r.NAK.Time) || lags(c, from, &r.NAK))
	return (took < stream.Uptake || still) && v.mayRetransmit(c, from, p)
}

// briefStall is for how long a host is stopped now and then, where nothing tells for how long it was.
const briefStall = int64(10 * time.Millisecond)

// goBackTime is how long after a NAK its requester may still go back for it, beside twice the RNR timer.
const goBackTime = int64(50 * time.Millisecond)

// mayRetransmit reports whether a requester that has not processed the newest responses may have had a reason to retransmit p: its timer, or a NAK before
// these for which it has not gone back yet.
func (v *Verifier) mayRetransmit(c *qp.Pair, from int, p *packet.Packet) bool {
	r, lag := c.RQ(1-from), mayLag(c, from)
	if p.Time-r.NAK.Time < stream.Uptake {
		lag = 0 // no host needs to lag for it
	}
	return c.Ends[from].SQ.MayRetransmit(p.Time, lag, r.State == qp.Expecting) || v.mayTimeOut(c, from, p)
}

// usualTimer is what the timer of a requester is taken for at most where the queue pair does not give it, whatever CM says: that of code 12. Applications set 14, seldom less.
const usualTimer = 16777216 * time.Nanosecond

// hostPaused reports whether the host of the requester of retransmission p may have been stopped at a time, and until now: the timer of the request had run out
// by then, and it has sent nothing since.
func (v *Verifier) hostPaused(c *qp.Pair, from int, p *packet.Packet, at int64) bool {
	then := *p
	then.Time = at
	return silentSince(c, from, at) && v.mayTimeOut(c, from, &then)
}

// mayProcessNakLater has a requester that may have sent p before it processed the newest NAK process that afterwards, and retransmit
// once more: no timer needs to run out for that.
func (v *Verifier) mayProcessNakLater(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(1 - from)
	if r.State != qp.SequenceNAKed && r.State != qp.RNRNAKed || !c.Sees(from) || !c.Ends[from].KnowsDirectly(qp.KnowsTimeout) || !v.mayPrecedeNak(c, from, p) {
		return
	}
	until := p.Time + stream.Uptake
	if r.State == qp.RNRNAKed {
		until += 2 * int64(packet.RNRTimer(r.NAK.Code.Value()))
	}
	c.Ends[from].SQ.WaitTo(until)
}

// mayTimeOut reports whether the timer of a requester may have run out when it retransmitted p. Where the timer is not known, it is taken for the usual one, or for
// what it was seen to be at most.
func (v *Verifier) mayTimeOut(c *qp.Pair, from int, p *packet.Packet) bool {
	end, least := &c.Ends[from], usualTimer
	if l := end.SQ.Recovery; l != nil && l.Timer != 0 {
		least = min(least, time.Duration(l.Timer))
	}
	if end.Knows(qp.KnowsTimeout) {
		switch direct, timeout := end.KnowsDirectly(qp.KnowsTimeout), packet.Timeout(end.Attr.Timeout); {
		case direct && end.Attr.Timeout == 0:
			return false
		case direct:
			least = timeout
		case end.Attr.Timeout != 0:
			least = min(least, timeout)
		}
	}
	return v.outstanding(&end.SQ, p) >= least
}

// outstanding is for how long the request that is retransmitted as p, or the first after it that asked for an answer, has waited.
func (v *Verifier) outstanding(q *qp.SendQueue, p *packet.Packet) time.Duration {
	asked := v.waitingSince
	for i := q.Messages.UpTo(p.PSN); asked == 0 && i >= 0 && i < q.Messages.Len(); i++ {
		asked = q.Messages.At(i).Asked
	}
	waited := time.Duration(p.Time - q.Last.Time)
	if asked != 0 {
		waited = max(waited, time.Duration(verifier.Stamp(p.Time)-asked)*verifier.Tick)
	}
	return waited
}

// holdAfterNak has a finding wait that its requester has sent request p in spite of a NAK: it need not have processed the NAK.
func (v *Verifier) holdAfterNak(c *qp.Pair, from int, p *packet.Packet, d *rule.Verdict) {
	if d.Class == rule.Violation {
		d.Class, d.Detail = rule.Unproven, nakUnprocessed
		q := &c.Ends[from].SQ
		q.SetFirstAfterNAK(p.Bare())
		q.SetLastAfterNAK(p.Time)
	}
}

// continuesAfterNak takes another request after a NAK: it proves the finding about the first of them where that is longer ago than any requester
// takes to process a NAK. It reports whether there is such a first.
func (v *Verifier) continuesAfterNak(c *qp.Pair, from int, p *packet.Packet) bool {
	first := firstAfterNak(c, from)
	if first == nil {
		return false
	}
	c.Ends[from].SQ.SetLastAfterNAK(p.Time)
	if took := time.Duration(p.Time - first.Time); took > nakProcessedWithin {
		v.proveNakProcessed(c, from, first, "the requester continued so for "+took.String())
	}
	return true
}

// resumes takes request p, which an RNR NAK refused and which is retransmitted: its requester has processed the NAK by as much sooner as it had to wait, so
// that what it sent after that, be it the newest of several, it sent in spite of the NAK.
func (v *Verifier) resumes(c *qp.Pair, from int, p *packet.Packet, wait time.Duration) {
	if first := firstAfterNak(c, from); first != nil && c.Ends[from].SQ.Recovery.AfterNAK.Last > p.Time-int64(wait)+stream.Uptake {
		v.proveNakProcessed(c, from, first, "it resumed when the RNR timer expired, so it had processed the NAK before")
	}
}

// firstAfterNak is the first request in spite of the newest NAK, about which a finding waits; nil: there is none.
func firstAfterNak(c *qp.Pair, from int) *packet.Packet {
	l := c.Ends[from].SQ.Recovery
	if l == nil || l.AfterNAK.First == nil || l.AfterNAK.First.Time < c.RQ(1-from).NAK.Time {
		return nil
	}
	return l.AfterNAK.First
}

// proveNakProcessed proves the finding about the first request in spite of a NAK.
func (v *Verifier) proveNakProcessed(c *qp.Pair, from int, first *packet.Packet, why string) {
	if c.Ends[from].SQ.SetFirstAfterNAK(nil); !c.Sees(from) || c.Cut() {
		return
	}
	k := -1
	for _, id := range []rule.ID{rule.RCRNR002, rule.RCRNR005, rule.RCRTY011} {
		if l := v.Rec.OnFrame(id, first.Tap, first.Frame); len(l) > 0 {
			k = max(k, l[len(l)-1])
		}
	}
	if k >= 0 {
		v.Rec.Findings[k].Assumes |= rule.AssumesNear
		v.Rec.Prove(k, why)
	}
}
