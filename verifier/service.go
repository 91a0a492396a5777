package verifier

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Service is the verifier of one service: what the transport agent asks of it. c is always a connection of the service.
type Service interface {
	// Packet judges a packet that end from of c sent, whose headers have been judged.
	Packet(c *qp.Pair, from int, p *packet.Packet)
	// Gap takes a packet that end from of c sent of which it is not known what its receiver makes of it: what it is to its stream is not known.
	Gap(c *qp.Pair, from int, p *packet.Packet)
	// TakeWrongService reports a packet of another service than that of c, whose QP it names (rule BTH-004), and takes it to be in the place of the one that its
	// sender had to send. evidence are frames that show that the QP still has its service.
	TakeWrongService(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64)
	// Finish judges what of c is still open when the capture ends, at time end.
	Finish(c *qp.Pair, end int64)
}

// WrongService reports a packet of another service than that of c (rule BTH-004). agent/internal/connection/wrong_service.go finds such packets.
func (v *Verifier) WrongService(c *qp.Pair, p *packet.Packet, class rule.Class, evidence []uint64) {
	v.ReportWrongEnd(c, p, rule.Verdict{Rule: rule.BTH004, Class: class, Role: rule.Sender, Expected: "an opcode of " + c.Service.String(), Evidence: evidence})
}

// ReportWrongEnd reports a packet that is not of the service of c, or not from that end of it.
func (v *Verifier) ReportWrongEnd(c *qp.Pair, p *packet.Packet, d rule.Verdict) {
	if s := p.Opcode.Service(); !p.Info().Defined && p.Opcode < 0xC0 && s > packet.UC && s != packet.XRC {
		return // BTH-003
	}
	v.Covered(d.Rule)
	d.Actual = p.Opcode.String()
	v.Report(c, c.End(p), p, d)
}

// TakeWrongService reports a packet of another service than that of c (rule BTH-004), and takes it for the one that its sender had to send.
func (v *Verifier) TakeWrongService(c *qp.Pair, p *packet.Packet, class rule.Class, evidence ...uint64) {
	v.WrongService(c, p, class, evidence)
	v.ReplacesNext(c, p)
}

// ReplacesNext takes a packet that is not of the stream of its sender for the next one of it, where it has its PSN. It reports whether it has.
func (v *Verifier) ReplacesNext(c *qp.Pair, p *packet.Packet) bool {
	q := &c.Ends[c.End(p)].SQ
	if !q.Joined || p.PSN != q.Next {
		return false
	}
	q.ExplainNextGap()
	c.Misplace(p.PSN)
	return true
}
