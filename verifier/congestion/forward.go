package congestion

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// Forward takes a packet of InfiniBand that may have a mark, or return one: a responder returns the FECN of a request as the BECN of the next
// response (rule CNG-IB-002). c is the connection that it belongs to, sent by end from, or nil.
func (v *Verifier) Forward(c *qp.Pair, from int, p *packet.Packet) {
	if !p.FECN && !p.BECN && v.state.fecns == 0 {
		return
	}
	if p.FECN {
		v.ReportBytes(c, from, p, rule.Verdict{Rule: rule.EvCE, Class: rule.Event, Role: rule.Network})
	}
	if c == nil || c.Service != packet.RC || !c.Paired {
		return
	}
	in := p.Info()
	if m := v.way(c.Ends[1-from].Addr, p.Src); in.Response || p.BECN {
		v.returned(c, from, p, m)
	}
	if p.FECN && in.Request {
		m := v.way(p.Src, p.Dst)
		if m.silent || m.owed != nil {
			return
		}
		m.owed, m.owedQP = p.Bare(), p.DestQP
		v.state.fecns++
	}
}

// Backward takes a congestion notification packet of InfiniBand, which returns a mark in place of a response. c is the connection of the QP that it
// names, sent by end from, or nil.
func (v *Verifier) Backward(c *qp.Pair, from int, p *packet.Packet) {
	v.ReportUnpaired(p, rule.Verdict{Rule: rule.EvCNP, Class: rule.Event, Role: rule.Receiver})
	if c == nil || c.Service != packet.RC || !c.Paired {
		return
	}
	m := v.way(c.Ends[1-from].Addr, p.Src)
	m.apart = true
	if m.owed != nil && m.owedQP == c.Ends[from].Number {
		v.Covered(rule.CNGIB002)
		m.owed = nil
		v.state.fecns--
	}
}

// returned judges whether a packet returns a mark that its sender has got; m are the marks of the way to it.
func (v *Verifier) returned(c *qp.Pair, from int, p *packet.Packet, m *Marks) {
	owed := m.owed
	if p.BECN {
		m.notifies, m.silent = true, false
	}
	if owed == nil || m.owedQP != c.Ends[from].Number || !p.BECN && p.PSN.Before(owed.PSN) {
		return
	}
	m.owed = nil
	v.state.fecns--
	m.silent = !p.BECN
	if !m.notifies || m.apart {
		return // its congestion control may be off, or it returns marks in packets of their own
	}
	v.Covered(rule.CNGIB002)
	if p.BECN {
		return
	}
	d := rule.Verdict{
		Rule: rule.CNGIB002, Class: rule.Proven(c.Sees(from)), Role: rule.Responder,
		Expected: "BECN 1: the request had FECN", Actual: "BECN 0", Evidence: []uint64{owed.Frame},
	}
	if d.Class == rule.Unproven {
		d.Detail = "the request may have been lost after the tap"
	}
	v.Report(c, from, p, d)
}
