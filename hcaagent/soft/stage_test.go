package soft_test

import (
	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// verify verifies what the tap at the device saw, with all attributes of both ends known.
func (s *stage) verify() []rule.Finding {
	c := &s.link.taps[s.tap]
	tr := agent.NewTransport(c.near)
	tr.SetProfile(s.profile())
	for _, e := range s.ends {
		attr := e.attr
		attr.Known = hcaagent.KnowsSQPSN | hcaagent.KnowsPKey | hcaagent.KnowsTClass | hcaagent.KnowsHopLimit | hcaagent.KnowsQKey
		if e.typ != hcaagent.TypeUD {
			attr.Known |= hcaagent.KnowsPMTU | hcaagent.KnowsRQPSN | hcaagent.KnowsDestQPN | hcaagent.KnowsDestAddr | hcaagent.KnowsTimeout |
				hcaagent.KnowsRetryCnt | hcaagent.KnowsRNRRetry | hcaagent.KnowsMinRNRTimer | hcaagent.KnowsMaxRdAtomic | hcaagent.KnowsMaxDestRdAtomic |
				hcaagent.KnowsCredits
		} else {
			attr.Known |= hcaagent.KnowsPMTU
		}
		attr.Credits = s.credits
		tr.Attributes(e.qp.Addr, e.qp.QPN, attr)
	}
	begin := packet.Packet{Time: c.frames[0].Time, Encap: packet.RoCEv2IPv6}
	if s.ends[0].qp.Addr.IsIPv4() {
		begin.Encap = packet.RoCEv2IPv4
	}
	switch s.ends[0].typ {
	case hcaagent.TypeRC:
		tr.Connect(packet.RC, [2]hcaagent.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
	case hcaagent.TypeXRCInitiator:
		tr.Connect(packet.XRC, [2]hcaagent.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
	case hcaagent.TypeUC:
		tr.Connect(packet.UC, [2]hcaagent.QP{s.ends[0].qp, s.ends[1].qp}, &begin)
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
	qp, err := e.CreateQP(ctx, hcaagent.NewQP{Type: hcaagent.TypeRC, PD: e.pd, SendCQ: e.cq, RecvCQ: e.cq})
	if err != nil {
		s.t.Fatal(err)
	}
	full := hcaagent.KnowsPKey | hcaagent.KnowsPort | hcaagent.KnowsAccess
	attr := e.attr
	for _, c := range []struct {
		to    hcaagent.State
		known hcaagent.Known
	}{
		{hcaagent.Init, full &^ hcaagent.KnowsPKey},
		{hcaagent.Init, full | hcaagent.KnowsPMTU},
		{hcaagent.Init, full},
		{hcaagent.RTS, hcaagent.KnowsSQPSN},
	} {
		attr.Known = c.known
		_ = e.TransitionQP(ctx, qp, c.to, attr)
	}
	attr.Known, _ = hcaagent.Takes(hcaagent.TypeRC, hcaagent.Init, hcaagent.RTR)
	for _, change := range []func(x *hcaagent.Attr){func(x *hcaagent.Attr) { x.PMTU = 300 }, func(x *hcaagent.Attr) { x.MinRNRTimer = 40 }} {
		x := attr
		change(&x)
		_ = e.TransitionQP(ctx, qp, hcaagent.RTR, x)
	}
}

// verifyEvents verifies what the tap saw together with the events of both devices.
func (s *stage) verifyEvents() []rule.Finding {
	c := &s.link.taps[s.tap]
	tr := agent.NewTransport(c.near)
	for _, x := range s.events {
		switch x := x.(type) {
		case *hcaagent.Event:
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
