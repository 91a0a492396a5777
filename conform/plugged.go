package conform

import (
	"ibwitness/fabricagent/ibsim"
	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// plugged is a device in software with its ports on native links: what a port takes is judged by the packet receiver of its node, is for the agents of that or, of an
// adapter, for its queue pairs, and a switch forwards it.
type plugged struct {
	r       *run
	node    *sma.Node
	adapter Device // nil: it has no queue pairs
	fault   string // of its ports, of sim.LinkFaults
	cables  map[uint8]*cable
	psn     packet.PSN
}

// slowSymbol is how long a symbol takes on links of tests that wait for long, in picoseconds: else their captures are flow control packets.
const slowSymbol = 64_000

// cableTo links the tester with a port of the device, which trains.
func (d *plugged) cableTo(port uint8, o sim.LinkOptions, tester *sma.Node) *cable {
	r := d.r
	o.Ports[deviceEnd].Fault, o.Ports[deviceEnd].FaultAll = d.fault, true
	c := r.cable(port, o)
	d.cables[port] = c
	c.link.Admit(deviceEnd, func(m link.Mark, data []byte) bool { return d.node.Admits(port, data, endingOf(m)) })
	c.link.Attach(deviceEnd, func(data []byte) { d.takes(port, sma.Straightened(data)) })
	d.join(c, tester)
	return c
}

// join has the link of a cable train.
func (d *plugged) join(c *cable, tester *sma.Node) {
	c.train()
	r := d.r
	r.until(r.now()+linkUpIn, func() bool {
		return c.link.State(deviceEnd) >= stateInitialize && c.link.State(testerEnd) >= stateInitialize
	})
	sma.Join(r.now(), tester, 1, d.node, c.port)
}

// linkUpIn is how long a link may take to train.
const linkUpIn = 300_000_000

func endingOf(m link.Mark) sma.Ending {
	switch {
	case !m.Bad:
		return sma.EndGood
	case m.End == link.EGP:
		return sma.EndBad
	}
	return sma.EndOdd
}

// takes takes a packet that a port has received.
func (d *plugged) takes(port uint8, data []byte) {
	p := new(packet.Packet)
	if !packet.DecodeInfiniBand(p, data, len(data)) {
		return
	}
	if p.VL != smpLane {
		d.node.Activated(port)
		d.sync()
	}
	lid := uint16(p.Dst.Lo)
	switch {
	case lid == permissiveLID && p.VL == smpLane:
		d.agents(port, p)
	case d.node.Type() == subnet.Switch && !d.node.TakesLID(port, lid):
		d.forwards(port, data)
	case !d.node.TakesLID(port, lid) && d.adapter == nil:
	case d.routes(port, data):
	case p.LNH >= packet.LNHLocal && p.DestQP <= gsiQP:
		d.agents(port, p)
	case d.adapter != nil:
		d.adapter.Receive(data)
	}
}

// routes has a router send a packet on, and reports whether it does.
func (d *plugged) routes(port uint8, data []byte) bool {
	x, ok := d.node.Routed(port, data)
	if c := d.cables[x.Port]; ok && c != nil {
		c.link.SendOn(deviceEnd, x.VL, x.Data)
	}
	return ok
}

// departs takes a packet of the adapter to the link, on the lane that its service level has.
func (d *plugged) departs(data []byte) {
	c := d.cables[1]
	if vl := d.node.VL(0, 1, data[1]>>4); vl != smpLane {
		c.link.SendOn(deviceEnd, vl, data)
	}
}

// forwards has a switch send a packet on.
func (d *plugged) forwards(port uint8, data []byte) {
	for _, x := range d.node.Forwards(port, data) {
		if c := d.cables[x.Port]; c != nil {
			c.link.SendOn(deviceEnd, x.VL, x.Data)
		}
	}
}

// agents hands a packet to the agents of the node, which answer in a while.
func (d *plugged) agents(port uint8, p *packet.Packet) {
	if !d.node.Takes(port, &sma.Arrival{
		MAD: p.Payload, SrcQP: p.SrcQP, DestQP: p.DestQP, QKey: p.QKey, PKey: p.PKey, VL: p.VL, GRH: p.Has&packet.HasGRH != 0, Immediate: p.Has&packet.HasImmDt != 0,
	}) {
		return
	}
	x := ibsim.Datagram{DLID: uint16(p.Src.Lo), SrcQP: p.DestQP, DestQP: p.SrcQP}
	x.SLID, x.SL = d.node.Reply(port, uint16(p.Dst.Lo), p.SL)
	copy(x.MAD[:], p.Payload)
	if mad.Class(x.MAD[1]) == mad.ClassSubnetDirected {
		if route, _ := d.node.Relay(port, false, x.MAD[:]); route != sma.Deliver {
			return
		}
	}
	d.r.clock.After(turnaround, func() {
		b := d.node.Receive(d.r.now(), port, x.MAD[:])
		d.sync()
		if b == nil {
			return
		}
		copy(x.MAD[:], b)
		d.r.clock.After(d.node.Delay(port), func() { d.answers(port, x) })
	})
}

// answers sends the answer of an agent.
func (d *plugged) answers(port uint8, x ibsim.Datagram) {
	out, route := port, sma.Forward
	if mad.Class(x.MAD[1]) == mad.ClassSubnetDirected {
		route, out = d.node.Relay(port, true, x.MAD[:])
	} else if d.node.Type() == subnet.Switch {
		route, out = d.node.Unicast(0, true, x.DLID)
	}
	c := d.cables[out]
	if route != sma.Forward || c == nil {
		return
	}
	p := datagramPacket(&x, d.psn)
	d.psn = d.psn.Add(1)
	if p.VL != smpLane {
		p.VL = d.node.VL(0, out, p.SL)
	}
	p.Complete()
	c.link.SendOn(deviceEnd, p.VL, p.Append(nil))
}

// datagramPacket is the packet of a MAD, which is not complete.
func datagramPacket(x *ibsim.Datagram, psn packet.PSN) *packet.Packet {
	p := &packet.Packet{
		Encap: packet.Native, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: packet.LIDAddr(x.SLID), Dst: packet.LIDAddr(x.DLID), SL: x.SL, VL: smpLane, PKey: 0xFFFF,
		SrcQP: x.SrcQP, DestQP: x.DestQP, PSN: psn, Payload: append([]byte(nil), x.MAD[:]...),
	}
	if p.DestQP == gsiQP {
		p.QKey, p.VL = gsiQKey, 0
	}
	return p
}

// sync brings the links to what subnet management has told the node.
func (d *plugged) sync() {
	for port, c := range d.cables {
		c.link.SetState(deviceEnd, int(d.node.State(port)))
		c.link.SetMTU(deviceEnd, d.node.NeighborMTU(port))
		c.link.SetLife(deviceEnd, d.node.Life(port), func() { d.node.Count(port, sma.XmitDiscards, 1) })
		high, low, limit := d.node.Arbitration(port)
		if len(high)+len(low) <= 1 { // as it comes: its one lane sends alike
			high, low = nil, nil
		}
		c.link.Arbitrate(deviceEnd, weights(high), weights(low), limit)
	}
}

// weights are the entries of a VLArbitrationTable.
func weights(list []mad.VLArb) (w []sim.Weight) {
	for _, e := range list {
		w = append(w, sim.Weight{VL: e.VL(), Weight: e.Weight()})
	}
	return w
}
