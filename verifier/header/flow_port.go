package header

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// portChanged judges another UDP source port than before (rule ROC-V2-018). The QP may have been modified, but not for a few packets.
func (v *Verifier) portChanged(c *qp.Pair, from int, p *packet.Packet) {
	f := &c.Ends[from].Flow
	if c.Ends[1-from].Packets() == 0 && c.Ends[from].SQ.TriesAgain(p) { // a queue pair that was recreated
		f.SrcPort = p.SrcPort
		return
	}
	d := rule.Verdict{
		Rule: rule.ROCV2018, Class: rule.Unproven, Role: rule.Sender,
		Wants: rule.Want(expect.SrcPort, uint64(f.SrcPort)), Expected: fmt.Sprintf("source port %d as before", f.SrcPort), Actual: fmt.Sprintf("%d", p.SrcPort), Detail: "legal after modify QP",
	}
	f.SrcPort = p.SrcPort
	switch {
	case f.Reported&qp.ReportedPort == 0:
		f.Reported |= qp.ReportedPort
		v.Report(c, from, p, d)
	case f.Reported&qp.ReportedPorts == 0 && c.Complete(): // else the QPs may have been connected again twice
		f.Reported |= qp.ReportedPorts
		if own := verifier.Endpoint(&c.Ends[from]); !v.confirm(p, v.Rec.About(rule.ROCV2018, own, rule.Endpoint{Addr: p.Dst, QPN: p.DestQP, QPNKnown: true}, 0), func(g *rule.Finding) bool {
			return g.Accused.QPN == own.QPN && g.Peer.QPN == p.DestQP
		}, "the port changes again in frame "+fmt.Sprint(p.Frame)) {
			d.Class, d.Detail = rule.Violation, "it has changed before"
			v.Report(c, from, p, d)
		}
	}
}

// confirm proves, by p, the first unproven finding of these for which is holds. It reports false where there is none any more.
func (v *Verifier) confirm(p *packet.Packet, findings []int, is func(*rule.Finding) bool, detail string) bool {
	if p.Cut {
		return false
	}
	for _, i := range findings {
		if f := &v.Rec.Findings[i]; f.Class == rule.Unproven && !f.Cut && is(f) {
			v.Rec.Prove(i, detail)
			return true
		}
	}
	return false
}
