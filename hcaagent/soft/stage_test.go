package soft_test

import (
	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// verify verifies what the tap at the device saw, with all attributes of both ends known.
func (s *stage) verify() []rule.Finding {
	c := &s.link.taps[s.tap]
	tr := agent.NewTransport(c.near)
	tr.SetProfile(s.profile())
	for _, e := range s.ends {
		attr := e.attr
		attr.Known = qp.KnowsSQPSN | qp.KnowsPKey | qp.KnowsTClass | qp.KnowsHopLimit | qp.KnowsQKey
		if e.typ != qp.TypeUD {
			attr.Known |= qp.KnowsPMTU | qp.KnowsRQPSN | qp.KnowsDestQPN | qp.KnowsDestAddr | qp.KnowsTimeout |
				qp.KnowsRetryCnt | qp.KnowsRNRRetry | qp.KnowsMinRNRTimer | qp.KnowsMaxRdAtomic | qp.KnowsMaxDestRdAtomic |
				qp.KnowsCredits
		} else {
			attr.Known |= qp.KnowsPMTU
		}
		attr.Credits = s.credits
		tr.Attributes(e.qp.Addr, e.qp.QPN, attr)
	}
	begin := packet.Packet{Time: c.frames[0].Time, Encap: packet.RoCEv2IPv6}
	if s.ends[0].qp.Addr.IsIPv4() {
		begin.Encap = packet.RoCEv2IPv4
	}
	switch s.ends[0].typ {
	case qp.TypeRC:
		tr.Connect(packet.RC, [2]wqe.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
	case qp.TypeXRCInitiator:
		tr.Connect(packet.XRC, [2]wqe.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
	case qp.TypeUC:
		tr.Connect(packet.UC, [2]wqe.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
	}
	for i := range c.frames {
		p := new(packet.Packet)
		if fabricagent.Decode(&c.frames[i], p).IsRDMA() {
			p.CheckICRC()
			tr.Packet(p)
		}
	}
	tr.Finish(s.link.now)
	agent.Reconcile(tr)
	return tr.Rec.Findings
}

// misuse asks a queue pair of its own for what there is not.
func (s *stage) misuse() {
	e := s.ends[0]
	q, err := e.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: e.pd, SendCQ: e.cq, RecvCQ: e.cq})
	if err != nil {
		s.t.Fatal(err)
	}
	full := qp.KnowsPKey | qp.KnowsPort | qp.KnowsAccess
	attr := e.attr
	for _, c := range []struct {
		to    qp.State
		known qp.Known
	}{
		{qp.Init, full &^ qp.KnowsPKey},
		{qp.Init, full | qp.KnowsPMTU},
		{qp.Init, full},
		{qp.RTS, qp.KnowsSQPSN},
	} {
		attr.Known = c.known
		_ = e.TransitionQP(ctx, q, c.to, attr)
	}
	attr.Known, _ = qp.Takes(qp.TypeRC, qp.Init, qp.RTR)
	for _, change := range []func(x *qp.Attr){func(x *qp.Attr) { x.PMTU = 300 }, func(x *qp.Attr) { x.MinRNRTimer = 40 }} {
		x := attr
		change(&x)
		_ = e.TransitionQP(ctx, q, qp.RTR, x)
	}
}

// verifyEvents verifies what the tap saw together with the events of both devices.
func (s *stage) verifyEvents() []rule.Finding {
	c := &s.link.taps[s.tap]
	tr := agent.NewTransport(c.near)
	for _, x := range s.events {
		switch x := x.(type) {
		case *cq.Event:
			tr.Event(x)
		case fabricagent.Frame:
			p := new(packet.Packet)
			if fabricagent.Decode(&x, p).IsRDMA() {
				p.CheckICRC()
				tr.Packet(p)
			}
		}
	}
	tr.Finish(s.link.now)
	agent.Reconcile(tr)
	return tr.Rec.Findings
}
