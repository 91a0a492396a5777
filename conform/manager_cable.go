package conform

import (
	"ibwitness/fabricagent/ibsim"
	"ibwitness/fabricagent/sim"
	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
)

// ofCable reports whether an address is that of an end of a cable.
func ofCable(a packet.Addr, end uint8) bool {
	for port := range uint16(256) {
		if a == packet.LinkAddr(port, end) {
			return true
		}
	}
	return false
}

// ofRelayed reports whether an address is one of those from which testers have a switch forward packets.
func ofRelayed(a packet.Addr) bool { return a.IsLID() && a.Lo > relayLID && a.Lo <= relayTop }

// dataLanes is how many data lanes a node has.
func dataLanes(n *sma.Node) int { return []int{1, 1, 2, 4, 8, 15}[n.Config().VLCap] }

// plugCable links the tester, who plays its end by hand, with port 1 of the device.
func (m *manager) plugCable(target *Target, adapter Device, o sim.LinkOptions) {
	m.plugged = &plugged{r: m.r, node: m.node, adapter: adapter, fault: target.LinkFault, cables: map[uint8]*cable{}}
	m.at = ibsim.End{Node: m.node, Port: 1}
	m.cable = m.plugged.cableTo(1, o, m.from.Node)
	m.cable.comes = m.comes
}

// comes takes a packet of the device that has come by the cable.
func (m *manager) comes(p *packet.Packet) {
	m.departed = append(m.departed, sentAt{1, p})
	if p.DestQP > gsiQP || p.LNH < packet.LNHLocal {
		m.r.note("<- frame %d: %s, VL %d", p.Frame, told(p), p.VL)
		if m.r.tester != nil {
			m.r.tester.takes(p)
		}
		return
	}
	if !m.quiet {
		m.r.note("<- frame %d: %s", p.Frame, toldMAD(p))
	}
	m.arrived = append(m.arrived, p)
}

// byCable has a packet of a MAD leave the tester by the cable.
func (m *manager) byCable(d ibsim.Datagram) *packet.Packet {
	return m.cabled(m.madPacket(d), nil, link.Mark{}, "")
}

// madPacket is the packet of a MAD as the tester sends it, not yet on the link.
func (m *manager) madPacket(d ibsim.Datagram) *packet.Packet {
	if mad.Class(d.MAD[1]) == mad.ClassSubnetDirected {
		m.from.Node.Relay(1, true, d.MAD[:])
	}
	p := datagramPacket(&d, m.psn[m.from])
	m.psn[m.from] = p.PSN.Add(1)
	p.Complete()
	return p
}

// cabled has a packet that is complete leave the tester by the cable, ended as a mark says. change, where not nil, makes of its bytes those that are sent; about says what
// is wrong with it.
func (m *manager) cabled(p *packet.Packet, change func(b []byte) []byte, mark link.Mark, about string) *packet.Packet {
	m.cable.follow(m.from.Node)
	b := p.Append(nil)
	if change != nil {
		b = change(b)
	}
	p.Time = m.r.now()
	text := told(p)
	if p.DestQP <= gsiQP && p.LNH >= packet.LNHLocal {
		text = toldMAD(p)
	}
	if about != "" {
		text += ", " + about
	}
	m.r.note("-> %s", text)
	m.r.sent = append(m.r.sent, sentLine{len(m.r.result.Log) - 1, p})
	return m.cable.sends(link.Data, mark, b, p)
}

// follow takes the port of the tester to the state that subnet management has given it, and tells of its lanes there.
func (c *cable) follow(tester *sma.Node) {
	was := c.link.State(testerEnd)
	if c.link.SetState(testerEnd, int(tester.State(1))); c.link.State(testerEnd) == was || c.silent {
		return
	}
	for vl := range c.count {
		c.tell(vl, nil)
	}
}
