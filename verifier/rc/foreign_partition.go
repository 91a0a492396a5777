package rc

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// foreignPartition judges a response to a request with the P_Key of another partition: there is none (rule PKY-003).
func (v *Verifier) foreignPartition(c *qp.Pair, from int, p *packet.Packet) {
	q := &c.Ends[1-from].SQ
	psn, _ := q.Foreign()
	positive := p.Syndrome.Type() == packet.ACK
	if p.PSN != psn && !(positive && p.PSN.After(psn)) || p.Syndrome == packet.NAKSequence && p.Opcode.Fn() == packet.Acknowledge {
		return
	}
	q.CloseForeign()
	if !c.Sees(from) {
		return
	}
	v.Covered(rule.PKY003)
	c.Ends[1-from].Flow.Reported |= qp.ReportedTaken
	d := rule.Verdict{
		Rule: rule.PKY003, Class: rule.Violation, Role: rule.Responder,
		Expected: "no response: the request with PSN " + psn.String() + " had the P_Key of another partition", Actual: p.Opcode.String(),
	}
	consequence(c, from, &d)
	v.Report(c, from, p, d)
}
