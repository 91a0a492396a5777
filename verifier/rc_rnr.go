package verifier

import (
	"fmt"
	"time"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// inFlight is how long after a NAK at the tap packets may still arrive that were sent before the NAK reached the requester, at a tap
// near the requester: its queues.
const inFlight = 100 * time.Microsecond

// rcAfterRNR judges the first packet retransmitted after an RNR NAK: where, how soon and how often (rules RC-RNR-001, -002, -003).
func (v *Verifier) rcAfterRNR(c *qp.Pair, from int, p *packet.Packet) {
	end, r := &c.Ends[from], &c.Ends[1-from].RQ
	wait := packet.RNRTimer(r.NakCode.Value())
	took := time.Duration(p.Time - r.NakTime)
	nak := []uint64{packet.FrameNear(p.Frame, r.NakFrame)}
	if c.Sees(from) && answered(&end.SQ, r.NakPSN, p.PSN) {
		return // which acknowledges what the NAK refuses
	}
	if p.PSN != r.NakPSN {
		w, _ := end.SQ.Messages.Find(p.PSN)
		if !r.Blamed && !r.Untaken && (p.PSN.After(r.NakPSN) || w != nil && !w.Op.Responded()) {
			r.Blame()
			v.covered(rule.RCRNR002)
			d := rule.Verdict{
				Rule: rule.RCRNR002, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Wants: rule.Want(expect.PSN, uint64(r.NakPSN)), Expected: "to resume at PSN " + r.NakPSN.String(), Actual: "PSN " + p.PSN.String(), Evidence: nak,
			}
			v.doubtNak(c, from, p, &d)
			v.report(c, from, p, d)
		}
		return
	}
	v.rcResumes(c, from, p, wait)
	v.covered(rule.RCRNR001)
	v.covered(rule.RCRNR002)
	if took+unit(p.Time, r.NakTime, r.LastTime, end.SQ.LastTime) <= wait && !r.Untaken {
		d := rule.Verdict{
			Rule: rule.RCRNR001, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
			Expected: "no retransmission before " + wait.String(), Actual: "after " + took.String(), Evidence: nak,
		}
		if d.Class == rule.Unproven {
			d.Detail = "the NAK may not have reached the requester yet, or may have been lost after the tap"
		}
		v.doubtNak(c, from, p, &d)
		v.report(c, from, p, d)
	}
	if end.Knows(qp.KnowsRNRRetry) && end.Attr.RNRRetry < 7 {
		v.covered(rule.RCRNR003)
		if r.RNRs == end.Attr.RNRRetry+1 {
			v.report(c, from, p, rule.Verdict{
				Rule: rule.RCRNR003, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
				Expected: fmt.Sprintf("at most %d RNR retries", end.Attr.RNRRetry), Actual: fmt.Sprintf("retry %d", r.RNRs), Evidence: nak,
			})
		}
	}
}

// rcDuringRNR judges a new request after an RNR NAK: until the timer has run out the requester waits (rule RC-RNR-005), then it resumes
// at the PSN that the NAK names (rule RC-RNR-002). One finding a wait. That its requester had taken the NAK shows later: see rcUnaware and rcResumes.
func (v *Verifier) rcDuringRNR(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[1-from].RQ
	took := time.Duration(p.Time - r.NakTime)
	wait := packet.RNRTimer(r.NakCode.Value())
	if took <= inFlight || r.Untaken || v.rcGoesOnUnaware(c, from, p) || r.Blamed || c.Sees(from) && answered(&c.Ends[from].SQ, r.NakPSN, p.PSN) {
		return
	}
	d := rule.Verdict{
		Rule: rule.RCRNR005, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "no new request for " + wait.String() + " after the RNR NAK", Actual: "PSN " + p.PSN.String() + " after " + took.String(),
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NakFrame)},
	}
	if took >= wait {
		d.Wants = rule.Want(expect.PSN, uint64(r.NakPSN))
		d.Rule, d.Expected, d.Actual, d.Detail = rule.RCRNR002, "to resume at PSN "+r.NakPSN.String(), "PSN "+p.PSN.String(), lossDetail(c, from)
	}
	v.covered(d.Rule)
	r.Blame()
	inTime := wait > time.Duration(uptake) && took >= wait && took-wait <= inFlight // it had waited, and so had taken the NAK
	if took <= time.Duration(uptake) || quiet(c, from, r.NakTime) && !inTime {
		v.rcUnaware(c, from, p, &d)
	}
	v.report(c, from, p, d)
}

// rcAfterFatal judges a request after a fatal NAK (rule RC-RTY-011): one finding a connection.
func (v *Verifier) rcAfterFatal(c *qp.Pair, from int, p *packet.Packet) {
	r := &c.Ends[1-from].RQ
	took := time.Duration(p.Time - r.NakTime)
	v.covered(rule.RCRTY011)
	if took <= inFlight || v.rcGoesOnUnaware(c, from, p) || r.Blamed {
		return
	}
	r.Blame()
	d := rule.Verdict{
		Rule: rule.RCRTY011, Class: rule.Proven(c.Sees(from)), Role: rule.Requester,
		Expected: "no request after " + r.NakCode.String(), Actual: p.Opcode.String() + ", " + took.String() + " later",
		Evidence: []uint64{packet.FrameNear(p.Frame, r.NakFrame)},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the packet may have been in flight when the responder sent the NAK, or the NAK may have been lost after the tap"
	}
	if took <= time.Duration(uptake) || took <= time.Duration(goesBack) && p.PSN.Before(c.Ends[from].SQ.High) && v.hostPaused(c, from, p, r.NakTime) {
		v.rcUnaware(c, from, p, &d)
	}
	v.report(c, from, p, d)
}
