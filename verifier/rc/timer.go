package rc

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/wqe"
)

// timer judges when a requester retransmits what no NAK asked for: not before its timer has run since the last progress, nor after four
// times that, and never where it has none (rules RC-TMO-001, -002, -003). seen is the shortest time after which it did so before; 0: it did not.
func (v *Verifier) timer(c *qp.Pair, from int, p *packet.Packet, seen time.Duration) {
	end := &c.Ends[from]
	q := &end.SQ
	v.Covered(rule.RCTMO001)
	took := time.Duration(p.Time - q.TimerStart)
	if end.Attr.Timeout == 0 {
		if !v.Profile.AdaptiveRetransmission {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCTMO001, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Expected: "no retransmission on timeout: a timeout of 0 disables the timer", Actual: "after " + took.String(),
			})
		}
		return
	}
	v.Covered(rule.RCTMO002)
	v.Covered(rule.RCTMO003)
	direct, detail := timeoutKnown(end)
	least := packet.Timeout(end.Attr.Timeout)
	switch {
	case took < least && took+verifier.Unit(p.Time, q.TimerStart, q.Last.Time) > least:
	case took < least && v.Profile.AdaptiveRetransmission:
	case !direct && ofAnotherTimer(took, seen, least) && !(took < least && v.anyTimer(c, from, p)):
	case took < least:
		v.tooSoon(c, from, p, took, least)
	case took > 4*least && q.AwaitsAck() && !q.ReportedSilent(q.TimerStart):
		v.Report(c, from, p, rule.Verdict{
			Rule: rule.RCTMO002, Class: rule.Proven(direct && c.Sees(from)), Role: rule.Requester,
			Expected: "a retransmission within " + (4 * least).String(), Actual: "after " + took.String(), Detail: detail,
		})
	}
}

// ofAnotherTimer reports whether a requester whose timer only CM tells, least, may have retransmitted after a time by another, which its
// program has set: the first such round shows none, and a timer runs out after up to four times its value. seen is the shortest time before.
func ofAnotherTimer(took, seen, least time.Duration) bool {
	if took < least {
		return seen <= 4*took
	}
	return seen == 0 || took <= 4*seen
}

// tooSoon reports a retransmission after a time that is shorter than the timer of its requester, least (rules RC-TMO-002, -003).
func (v *Verifier) tooSoon(c *qp.Pair, from int, p *packet.Packet, took, least time.Duration) {
	direct, detail := timeoutKnown(&c.Ends[from])
	if v.anyTimer(c, from, p) {
		direct, detail = true, ""
	}
	d := rule.Verdict{
		Rule: rule.RCTMO002, Class: rule.Proven(direct && c.Sees(from)), Role: rule.Requester,
		Expected: "no retransmission before " + least.String(), Actual: "after " + took.String(), Detail: detail,
	}
	asked := v.waited(c, from, p)
	if w, _ := c.Ends[from].SQ.Messages.Find(p.PSN); (asked == 0 || asked >= least) && laterAnswer(c.RQ(1-from), p) && unansweredRead(p, w) {
		return // what acknowledges later requests is no progress for its requester
	}
	if asked >= least && asked <= 4*least {
		if time.Duration(p.Time-c.RQ(1-from).Last.Time) >= least {
			return // only requests are newer, and a timer that runs for the oldest need not start afresh with each
		}
		d.Rule = rule.RCTMO003
		d.Expected, d.Actual = d.Expected+" after the last progress", d.Actual+", "+asked.String()+" after the request"
	}
	v.Report(c, from, p, d)
}

// waited is for how long request p, which is retransmitted, has waited since it was last sent and asked for an answer; 0: that is not known.
func (v *Verifier) waited(c *qp.Pair, from int, p *packet.Packet) time.Duration {
	if v.waitingSince != 0 {
		return time.Duration(verifier.Stamp(p.Time)-v.waitingSince) * verifier.Tick
	}
	if at := c.Ends[from].SQ.RetransmittedBefore(p.PSN); at != 0 {
		return time.Duration(p.Time - at)
	}
	return 0
}

// unknownTimer judges a retransmission of a requester whose timeout is not known: the shortest that there is has to run out too (rule RC-TMO-002).
func (v *Verifier) unknownTimer(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[from].SQ
	if v.Profile.AdaptiveRetransmission || !c.Sees(from) || !v.anyTimer(c, from, p) {
		return
	}
	v.Covered(rule.RCTMO002)
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.RCTMO002, Class: rule.Violation, Role: rule.Requester,
		Expected: "no retransmission before " + shortest.String() + ", the shortest ACK timeout", Actual: "after " + time.Duration(p.Time-q.TimerStart).String(),
	})
}

// shortest is the ACK timeout of code 1; 0 turns the timer off.
const shortest = 8192 * time.Nanosecond

// anyTimer reports whether p, the oldest request that is not acknowledged, is retransmitted sooner than any timer runs out, even one that started when p itself
// was sent. What else is retransmitted so is RC-RTY-006, -008 or -010, or what a response has overtaken. After a long silence both may have been held back, and stamped in one burst.
func (v *Verifier) anyTimer(c *qp.Pair, from int, p *packet.Packet) bool {
	const silent = int64(50 * time.Millisecond)
	q := &c.Ends[from].SQ
	took := max(time.Duration(p.Time-q.TimerStart), time.Duration(verifier.Stamp(p.Time)-v.waitingSince)*verifier.Tick)
	return v.waitingSince != 0 && p.PSN == q.Una && !q.ImpliedNAK(p.PSN, p.Time, goBackTime) && p.Time-c.RQ(1-from).Last.Time < silent && took+verifier.Unit(p.Time, q.TimerStart, q.Last.Time) < shortest
}

// timeoutKnown reports whether the ACK timeout is known from the queue pair itself, and what the doubt is where only CM says it.
func timeoutKnown(end *qp.QP) (bool, string) {
	if end.KnowsDirectly(qp.KnowsTimeout) {
		return true, ""
	}
	return false, "the ACK timeout is that of the CM exchange: the application may have set another one"
}

// mostRetries is the greatest retry_cnt that there is: the attribute has three bits.
const mostRetries = uint16(7)

// retries judges how often a requester retransmits the same without progress: on timeouts (rule RC-RTY-001), or also on the NAKs that asked
// for it (rule RC-RTY-003). onNAKs says that one has asked for p.
func (v *Verifier) retries(c *qp.Pair, from int, p *packet.Packet, onNAKs bool) {
	end := &c.Ends[from]
	q := &end.SQ
	retries, unknown := mostRetries, true
	if end.Knows(qp.KnowsRetryCnt) {
		retries, unknown = uint16(end.Attr.RetryCnt), false
	}
	v.Covered(rule.RCRTY001)
	if !unknown {
		v.Covered(rule.RCRTY003)
	}
	direct := uint16(0)
	if q.Recovery != nil {
		direct = q.Recovery.NAKRestarts
	}
	d := rule.Verdict{
		Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: fmt.Sprintf("at most %d retries", retries), Actual: fmt.Sprintf("retry %d of PSN %v", q.Restarts, p.PSN),
	}
	if unknown {
		d.Expected += ", the maximum of the attribute"
	}
	most := retries + 1
	switch {
	case q.Restarts-direct == most && !onNAKs && !answeredLater(q, c.RQ(1-from), p):
		d.Rule = rule.RCRTY001
		if direct != 0 {
			d.Actual = fmt.Sprintf("retry %d of PSN %v on timeout", q.Restarts-direct, p.PSN)
		}
	case q.Restarts == most && !unknown:
		d.Rule = rule.RCRTY003
		d.Expected += ", including retries after NAKs"
	default:
		return
	}
	v.Report(c, from, p, d)
}

// beforeNak judges that a requester does not go back, after a sequence NAK, to a SEND or WRITE before the PSN that it asks for: it acknowledges
// these (rule RC-ACK-004). w is the message that p is of.
func (v *Verifier) beforeNak(c *qp.Pair, from int, p *packet.Packet, w *wqe.SendWQE) {
	end, r := &c.Ends[from], c.RQ(1-from)
	v.Covered(rule.RCACK004)
	if !c.Sees(from) || r.NAK.Blamed || w == nil || w.Op.Responded() || !p.PSN.Before(r.NAK.PSN) || !p.PSN.Before(end.SQ.RequesterUna()) || p.PSN.Before(end.SQ.First) {
		return
	}
	r.BlameNAK()
	d := rule.Verdict{
		Rule: rule.RCACK004, Class: rule.Violation, Role: rule.Requester,
		Wants: rule.Want(expect.PSN, uint64(r.NAK.PSN)), Expected: "to resume at PSN " + r.NAK.PSN.String() + ": the NAK acknowledges all before it", Actual: "PSN " + p.PSN.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	}
	if end.SQ.MustRetransmit(p.PSN, p.Time, mayLag(c, from)) {
		d.Class, d.Detail = rule.Unproven, "an earlier NAK requests this PSN: the requester may not have processed the latest NAK yet"
	}
	v.doubtNak(c, from, p, &d)
	v.Report(c, from, p, d)
}
