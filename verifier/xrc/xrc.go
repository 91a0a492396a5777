package xrc

import (
	"fmt"

	"ibwitness/expect"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Packet judges one packet of XRC (annex A14): its initiator is a requester of RC and its target a responder of RC, and their rules are judged
// as those of RC. What is left is the XRCETH.
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	q, in := &c.Ends[from].SQ, p.Info()
	switch {
	case in.Response:
		v.Covered(rule.XRCTGT001)
	case in.Request:
		v.Covered(rule.XRCINI001)
		srq := v.queue(c, from, p)
		v.Verifier.Packet(c, from, p)
		q.NameSRQ(srq)
		return
	}
	v.Verifier.Packet(c, from, p)
}

// queue judges that all packets of a message name one shared receive queue (rule XRC-SRQ-002). It returns the one of the message that p leaves open.
func (v *Verifier) queue(c *qp.Pair, from int, p *packet.Packet) (srq uint32) {
	q, in := &c.Ends[from].SQ, p.Info()
	if in.First || in.Middle {
		srq = p.XRCSRQ | qp.SRQSet
	}
	if !in.Middle && !in.Last || q.SRQ == 0 || p.PSN != q.Last.PSN.Add(1) {
		return srq
	}
	v.Covered(rule.XRCSRQ002)
	want := q.SRQ &^ qp.SRQSet
	if want == p.XRCSRQ {
		return srq
	}
	if in.Middle {
		srq = q.SRQ // the first packet counts
	}
	v.Report(c, from, p, rule.Verdict{
		Rule: rule.XRCSRQ002, Class: rule.Violation, Role: rule.Requester,
		Wants: rule.Want(expect.XRCSRQ, uint64(want)), Expected: fmt.Sprintf("shared receive queue 0x%x of the message", want), Actual: fmt.Sprintf("0x%x", p.XRCSRQ),
	})
	return srq
}

// TakeWrongService is that of RC for XRC, of which a packet may also be from the wrong end.
func (v *Verifier) TakeWrongService(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	if p.Opcode.Service() != packet.XRC {
		v.Verifier.TakeWrongService(c, p, class, evidence...)
		return
	}
	id, role, expected := role(p)
	v.ReportWrongEnd(c, p, rule.Verdict{Rule: id, Class: class, Role: role, Expected: expected, Evidence: evidence})
	v.Replaces(c, p)
}

// role is the rule that a packet breaks which came from the wrong end of a connection, and what was expected of that end.
func role(p *packet.Packet) (rule.ID, rule.Role, string) {
	if p.Info().Request {
		return rule.XRCTGT001, rule.Responder, "a response: an XRC target sends no request"
	}
	return rule.XRCINI001, rule.Requester, "a request: an XRC initiator sends no response"
}
