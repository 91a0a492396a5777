package rc

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
	"ibwitness/verifier/stream"
)

// afterRNR judges the first packet retransmitted after an RNR NAK: where, how soon and how often (rules RC-RNR-001, -002, -003).
func (v *Verifier) afterRNR(c *qp.Pair, from int, p *packet.Packet) {
	end, r := &c.Ends[from], c.RQ(1-from)
	wait := packet.RNRTimer(r.NAK.Code.Value())
	took := time.Duration(p.Time - r.NAK.Time)
	nak := []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)}
	if c.Sees(from) && answered(&end.SQ, r.NAK.PSN, p.PSN) {
		return // which acknowledges what the NAK refuses
	}
	if p.PSN != r.NAK.PSN {
		w, _ := end.SQ.Messages.Find(p.PSN)
		if !r.NAK.Blamed && !r.NAK.Unprocessed && (p.PSN.After(r.NAK.PSN) || w != nil && !w.Op.Responded()) {
			r.BlameNAK()
			v.Covered(rule.RCRNR002)
			d := rule.Verdict{
				Rule: rule.RCRNR002, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Wants: rule.Want(expect.PSN, uint64(r.NAK.PSN)), Expected: "to resume at PSN " + r.NAK.PSN.String(), Actual: "PSN " + p.PSN.String(), Evidence: nak,
			}
			v.doubtNak(c, from, p, &d)
			v.Report(c, from, p, d)
		}
		return
	}
	v.resumes(c, from, p, wait)
	v.Covered(rule.RCRNR001)
	v.Covered(rule.RCRNR002)
	if took+verifier.Unit(p.Time, r.NAK.Time, r.Last.Time, end.SQ.Last.Time) <= wait && !r.NAK.Unprocessed {
		d := rule.Verdict{
			Rule: rule.RCRNR001, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Expected: "no retransmission before " + wait.String(), Actual: "after " + took.String(), Evidence: nak,
		}
		if d.Class == rule.Unproven {
			d.Detail = "the NAK may not have reached the requester yet, or may have been lost after the tap"
		}
		v.doubtNak(c, from, p, &d)
		v.Report(c, from, p, d)
	}
	if end.Knows(qp.KnowsRNRRetry) && end.Attr.RNRRetry < 7 {
		v.Covered(rule.RCRNR003)
		if r.NAK.RNRs == end.Attr.RNRRetry+1 {
			v.Report(c, from, p, rule.Verdict{
				Rule: rule.RCRNR003, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Expected: fmt.Sprintf("at most %d RNR retries", end.Attr.RNRRetry), Actual: fmt.Sprintf("retry %d", r.NAK.RNRs), Evidence: nak,
			})
		}
	}
}

// duringRNR judges a new request after an RNR NAK: until the timer has run out the requester waits (rule RC-RNR-005), then it resumes
// at the PSN that the NAK names (rule RC-RNR-002). One finding a wait. That its requester had processed the NAK shows later: see holdAfterNak and resumes.
func (v *Verifier) duringRNR(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(1 - from)
	took := time.Duration(p.Time - r.NAK.Time)
	wait := packet.RNRTimer(r.NAK.Code.Value())
	if took <= verifier.InFlight || r.NAK.Unprocessed || v.continuesAfterNak(c, from, p) || r.NAK.Blamed || c.Sees(from) && answered(&c.Ends[from].SQ, r.NAK.PSN, p.PSN) {
		return
	}
	d := rule.Verdict{
		Rule: rule.RCRNR005, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "no new request for " + wait.String() + " after the RNR NAK", Actual: "PSN " + p.PSN.String() + " after " + took.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	}
	if took >= wait {
		d.Wants = rule.Want(expect.PSN, uint64(r.NAK.PSN))
		d.Rule, d.Expected, d.Actual, d.Detail = rule.RCRNR002, "to resume at PSN "+r.NAK.PSN.String(), "PSN "+p.PSN.String(), verifier.LossDetail(c, from)
	}
	v.Covered(d.Rule)
	r.BlameNAK()
	inTime := wait > time.Duration(stream.Uptake) && took >= wait && took-wait <= verifier.InFlight // it had waited, and so had processed the NAK
	if took <= time.Duration(stream.Uptake) || silentSince(c, from, r.NAK.Time) && !inTime {
		v.holdAfterNak(c, from, p, &d)
	}
	v.Report(c, from, p, d)
}

// afterFatal judges a request after a fatal NAK (rule RC-RTY-011): one finding a connection.
func (v *Verifier) afterFatal(c *qp.Pair, from int, p *packet.Packet) {
	r := c.RQ(1 - from)
	took := time.Duration(p.Time - r.NAK.Time)
	v.Covered(rule.RCRTY011)
	if took <= verifier.InFlight || v.continuesAfterNak(c, from, p) || r.NAK.Blamed {
		return
	}
	r.BlameNAK()
	d := rule.Verdict{
		Rule: rule.RCRTY011, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "no request after " + r.NAK.Code.String(), Actual: p.Opcode.String() + ", " + took.String() + " later",
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NAK.Frame)},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the packet may have been in flight when the responder sent the NAK, or the NAK may have been lost after the tap"
	}
	if took <= time.Duration(stream.Uptake) || took <= time.Duration(goBackTime) && p.PSN.Before(c.Ends[from].SQ.High) && v.hostPaused(c, from, p, r.NAK.Time) {
		v.holdAfterNak(c, from, p, &d)
	}
	v.Report(c, from, p, d)
}
