package conform

import (
	"encoding/binary"
	"fmt"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// linkPacketTests are those of LIDs, lengths and raw packets at an adapter.
var linkPacketTests = []*Test{linkLIDs, linkLengths, rawPackets}

// wrongDatagram is a datagram that an adapter is to drop.
type wrongDatagram struct {
	what  string
	spoil func(p *packet.Packet)
}

// dropsEach sends datagrams that are to be dropped, and one that is right before the first and after each.
func (c *conn) dropsEach(id, right string, list []wrongDatagram) {
	r := c.r
	whole := func() {
		had := c.receives()
		c.postReceive(512)
		p := c.datagramTo(nil)
		r.settle()
		r.check(right, c.receives() == had+1, "one completion", fmt.Sprintf("%d", c.receives()-had), p)
	}
	whole()
	for _, w := range list {
		had := c.receives()
		c.postReceive(512)
		p := c.datagramTo(w.spoil)
		r.settle()
		if !r.check(id, c.receives() == had, "no completion", fmt.Sprintf("%d after a datagram %s", c.receives()-had, w.what), p) {
			continue
		}
		p = c.datagramTo(nil)
		r.settle()
		r.check(right, c.receives() == had+1, "one completion", fmt.Sprintf("%d", c.receives()-had), p)
	}
}

var linkLIDs = &Test{
	ID: "X07_012", Title: "LIDs that no data packet has",
	Abstract: "An adapter drops datagrams to LID 0 and to the permissive LID, and those from a multicast LID; its own have the LIDs of both ends.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device post a receive request. Send it a datagram with DLID 0, with DLID 0xFFFF, and with SLID 0xC001, and wait for 10 ms after each. Send one that is right before the first and after each.",
		"Have the device send ten datagrams.",
	},
	Assertions: []Assertion{
		{"ours#01", "A datagram with such a LID completes no receive request."},
		{"ours#02", "One that is right completes one."},
		{"ours#03", "The datagrams of the device have its own LID and that of the tester."},
	},
	Decisions: ours, Breaks: []string{"LNK-LID-001", "LNK-LID-003", "LNK-LID-004"},
	run: func(r *run) {
		m, d := r.active()
		r.at(2)
		d.dropsEach("ours#01", "ours#02", []wrongDatagram{
			{"with DLID 0", sealed(func(p *packet.Packet) { p.DLID = 0 })},
			{"with DLID 0xFFFF", sealed(func(p *packet.Packet) { p.DLID = permissiveLID })},
			{"with SLID 0xC001", sealed(func(p *packet.Packet) { p.SLID = 0xC001 })},
		})
		r.at(3)
		m.cable.forget()
		d.sendsSome(10, 64)
		r.settle()
		for _, p := range m.cable.dataOf() {
			r.check("ours#03", p.SLID == nodeLID && p.DLID == testerLID, fmt.Sprintf("LID %d to %d", nodeLID, testerLID), fmt.Sprintf("LID %d to %d", p.SLID, p.DLID), p)
		}
	},
}

// linkMTU is the MTU of the link in the test of lengths, and its code.
const (
	linkMTU     = 2048
	linkMTUCode = 4
)

var linkLengths = &Test{
	ID: "X07_013", Title: "packets longer than the MTU",
	Abstract: "A port drops and counts packets that are longer than NeighborMTU and 124 bytes, and sends none.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep + " Set NeighborMTU 2048.",
		"Get PortCounters. Send a raw packet of 2048 + 124 + 4 bytes and its VCRC, and get them.",
		"Connect a queue pair of RC, and have it send a SEND of one byte more than its path MTU.",
		"Have the device post a datagram of 64 bytes, and one of 4096.",
	},
	Assertions: []Assertion{
		{"ours#01", "PortRcvErrors counts the packet that is too long."},
		{"ours#02", "The SEND comes in two packets, the first as long as the path MTU."},
		{"ours#03", "No packet of the device is longer than 2048 + 124 bytes."},
	},
	Decisions: []Decision{{"A packet that is too long is a SEND.", "A raw packet, which no queue pair waits for."}}, Breaks: []string{"LNK-LRH-007"},
	run: func(r *run) {
		m := r.begins()
		c := m.cable
		m.activates()
		m.set(mad.AttrPortInfo, 1, map[string]uint64{"neighborMTU": linkMTUCode})
		r.at(2)
		was := m.receiveErrors()
		p := m.raw(make([]byte, linkMTU+124+4-8-4))
		r.settle()
		now := m.receiveErrors()
		r.check("ours#01", now == was+1, fmt.Sprintf("PortRcvErrors %d", was+1), fmt.Sprintf("PortRcvErrors %d", now), p)
		r.at(3)
		conn := r.connect(patient)
		conn.post(wqe.OpSend, pmtu+1)
		list := conn.message(wqe.OpSend, 2)
		r.check("ours#02", list[0].PayloadLen == pmtu && list[1].PayloadLen == 1, fmt.Sprintf("payloads of %d bytes and 1", pmtu), fmt.Sprintf("%d and %d", list[0].PayloadLen, list[1].PayloadLen), list...)
		conn.ack(list[1].PSN, positive, 1)
		r.at(4)
		c.forget()
		d := r.datagram()
		d.sendsSome(1, 64)
		d.sendsSome(1, 4096)
		r.settle()
		for _, p := range c.datas {
			n := int(p.PktLen) * 4
			r.check("ours#03", n <= linkMTU+124, fmt.Sprintf("at most %d bytes", linkMTU+124), fmt.Sprintf("%d bytes", n), p)
		}
	},
}

// receiveErrors is PortRcvErrors of the port.
func (m *manager) receiveErrors() uint64 { return m.counter("portRcvErrors") }

// counter is a counter of the port with the link; the test ends where the device does not tell it.
func (m *manager) counter(name string) uint64 { return m.counterOf(m.at.Port, name) }

// counterOf is a counter of a port.
func (m *manager) counterOf(port uint8, name string) uint64 {
	x := m.perform(mad.Get, mad.AttrPortCounters, []byte{0, port})
	if !x.succeeded() {
		m.r.halt("Get(PortCounters): %s", x.outcome())
	}
	return mad.LayoutPortCounters.Field(name).Uint(x.got.Payload[mad.PerformanceData:])
}

// raw sends a raw packet with an EtherType to the device.
func (m *manager) raw(data []byte) *packet.Packet {
	p, b := rawPacket(testerLID, nodeLID, data)
	p.Time = m.r.now()
	m.r.note("-> a raw packet of %d bytes", len(b))
	return m.cable.sends(link.Data, link.Mark{}, b, p)
}

// etherType is one of those for experiments (IEEE 802).
const etherType = 0x88B5

// rawPacket makes a raw packet with an EtherType, and its bytes from LRH through VCRC.
func rawPacket(slid, dlid uint16, data []byte) (*packet.Packet, []byte) {
	b := make([]byte, 8, 8+4+len(data)+2)
	binary.BigEndian.PutUint16(b[2:], dlid)
	binary.BigEndian.PutUint16(b[6:], slid)
	b = binary.BigEndian.AppendUint32(b, etherType)
	b = append(b, data...)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)/4))
	b = binary.LittleEndian.AppendUint16(b, packet.VCRC(b))
	p := new(packet.Packet)
	packet.DecodeInfiniBand(p, b, len(b))
	return p, b
}

var rawPackets = &Test{
	ID: "X07_016", Title: "raw packets",
	Abstract: "No queue pair takes a raw packet, with an EtherType or of IPv6, whatever its bytes are.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device post a receive request. Send it a datagram whose LNH is 0, and one whose LNH is 1, and wait for 10 ms after each. Send one that is right before the first and after each.",
	},
	Assertions: []Assertion{{"ours#01", "A raw packet completes no receive request."}, {"ours#02", "A datagram that is right completes one."}},
	Decisions:  ours, Breaks: []string{"LNK-RAW-001", "LNK-LRH-004"},
	run: func(r *run) {
		_, d := r.active()
		r.at(2)
		as := func(lnh uint8) func(p *packet.Packet) {
			return func(p *packet.Packet) {
				p.Has, p.LNH, p.PktLen = p.Has&^packet.HasGRH, packet.LNHLocal, p.PktLen-10
				p.SealICRC()
				p.LNH = lnh
				d.vcrc(p)
			}
		}
		d.dropsEach("ours#01", "ours#02", []wrongDatagram{{"whose LNH is 0", as(packet.LNHRaw)}, {"whose LNH is 1", as(packet.LNHIPv6)}})
	},
}

// vcrc makes the VCRC of a packet right.
func (c *conn) vcrc(p *packet.Packet) {
	b := p.Append(nil)
	p.VCRC = packet.VCRC(b[:len(b)-2])
}
