package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

// switchTests are those of packets that a switch forwards.
var switchTests = []*Test{switchLinear, switchUnchanged, switchUnrouted, switchMulticast, switchOrder, switchDamaged, switchPartitions, switchLife}

var switchQualifiers = []string{isSwitch, "LinearFDBCap is greater than 63, and NumPorts is at least 2", keyQualifier}

var switchLinear = &Test{
	ID: "X18_001", Title: "the LinearForwardingTable",
	Abstract: "A switch forwards a unicast packet out of the port that its LinearForwardingTable has for the DLID, and out of no other.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Set the entries of LIDs 32 to 55 to ports 2 and 3 by turns. Send a datagram from port 1 to each.",
		"Set them the other way, and do so again.",
	},
	Assertions: []Assertion{{"ours#01", "A datagram leaves once, out of the port that the table has."}},
	Decisions:  ours,
	run: func(r *run) {
		w := r.switches(2)
		for step := range 2 {
			r.at(3 + step)
			for lid := relayFree; lid < relayFree+24; lid++ {
				w.table[lid] = w.ports[1+(lid+step)%(len(w.ports)-1)]
			}
			w.routes()
			for lid := relayFree; lid < relayFree+24; lid++ {
				w.forwarded("ours#01", w.datagramFrom(1, uint16(lid)), w.table[lid])
			}
		}
	},
}

var switchUnchanged = &Test{
	ID: "X18_002", Title: "what a switch leaves as it is",
	Abstract: "A switch changes nothing of a packet that it forwards but its VL and its VCRC, and FECN where it meets congestion.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Send packets of all services from port 1 to port 2: with and without a GRH, of lengths from 0 to 1024 bytes, on several SLs, and a raw one.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each leaves once."}, {"ours#02", "From the second byte of the LRH to the ICRC each byte is as it was, but FECN."}, {"ours#03", "The VCRC is right."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		r.at(3)
		for _, p := range w.kinds() {
			p.Complete()
			w.unchanged(p, p.Append(nil))
		}
		raw, b := rawPacket(relayLID+1, relayLID+2, pattern(1, 64))
		w.unchanged(raw, b)
	},
}

// unchanged has a packet come in at port 1, and judges that it leaves by port 2 as it came.
func (w *switched) unchanged(p *packet.Packet, b []byte) {
	r := w.r
	sent, copies := w.forwarded("ours#01", p, 2)
	if len(copies) != 1 {
		return
	}
	got := copies[0]
	want, have := bytes.Clone(b[:len(b)-2]), got.Data
	have = bytes.Clone(have[:max(len(have)-2, 0)])
	for _, x := range [][]byte{want, have} {
		x[0] &= 0xF // VL
		switch p.LNH {
		case packet.LNHLocal:
			x[8+4] &^= 0x80 // FECN
		case packet.LNHGlobal:
			x[8+40+4] &^= 0x80
		}
	}
	r.check("ours#02", bytes.Equal(want, have), "the bytes as they came", unlike(want, have), sent, got)
	r.check("ours#03", got.VCRCState == packet.CRCGood, "a VCRC that is right", fmt.Sprintf("VCRC %v", got.VCRCState), sent, got)
}

// unlike says where bytes differ first.
func unlike(a, b []byte) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("byte %d is %#x in place of %#x", i, b[i], a[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d bytes in place of %d", len(b), len(a))
	}
	return "the bytes as they came"
}

// kinds are packets of all services from port 1 to port 2.
func (w *switched) kinds() (list []*packet.Packet) {
	for i, op := range []packet.Opcode{
		packet.Op(packet.RC, packet.SendOnly), packet.Op(packet.RC, packet.WriteOnly), packet.Op(packet.RC, packet.ReadRequest), packet.Op(packet.RC, packet.CmpSwap),
		packet.Op(packet.UC, packet.SendOnly), packet.Op(packet.UC, packet.WriteOnly), packet.Op(packet.UD, packet.SendOnly), packet.Op(packet.UD, packet.SendOnlyImm),
	} {
		for _, global := range []bool{false, true} {
			p := w.datagramFrom(1, relayLID+2)
			p.Opcode, p.SL = op, uint8(i)
			p.DestQP, p.SrcQP = 0x300+2*uint32(i), 0x400+2*uint32(i)
			if p.Payload = pattern(uint64(i), []int{0, 1, 63, 257, 1024}[i%5]); op.Fn() == packet.ReadRequest || op.Fn() == packet.CmpSwap {
				p.Payload = nil
			}
			p.DMALen, p.VA, p.RKey = uint32(len(p.Payload)), 0x1000, 0x77
			if global {
				p.Has = packet.HasGRH
				p.DestQP++
				p.SrcQP++
				p.SGID, p.DGID = packet.Addr{Hi: defaultPrefix, Lo: testerGUID + 1}, packet.Addr{Hi: defaultPrefix, Lo: testerGUID + 2<<8 + 1}
			}
			list = append(list, p)
		}
	}
	return list
}

var switchUnrouted = &Test{
	ID: "X18_003", Title: "LIDs without a way",
	Abstract: "A switch discards and counts packets to a LID whose entry is 255 or which is above LinearFDBTop.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Set the entries of LIDs 32, 50 and 63 to port 2. Send a datagram from port 1 to LIDs 32 and 33, whose entry is 255, and get PortCounters of port 1 before and after.",
		"Set LinearFDBTop to 49. Send a datagram to LIDs 32, 50 and 63, and get PortCounters before and after.",
	},
	Assertions: []Assertion{
		{"ours#01", "A datagram to a LID whose entry is 255 leaves by no port."},
		{"ours#02", "A datagram to a LID above LinearFDBTop leaves by no port."},
		{"ours#03", "PortRcvSwitchRelayErrors counts each of these."},
		{"ours#04", "One to LID 32 leaves."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		r.at(3)
		for _, lid := range []int{32, 50, relayTop} {
			w.table[lid] = 2
		}
		w.routes()
		w.forwarded("ours#04", w.datagramFrom(1, 32), 2)
		w.discarded("ours#01", "ours#03", w.datagramFrom(1, 33), 1, relayErrors)
		w.forwarded("ours#04", w.datagramFrom(1, 32), 2)
		r.at(4)
		w.set(mad.AttrSwitchInfo, 0, map[string]uint64{"linearFDBTop": 49})
		for _, lid := range []uint16{50, relayTop} {
			w.discarded("ours#02", "ours#03", w.datagramFrom(1, lid), 1, relayErrors)
			w.forwarded("ours#04", w.datagramFrom(1, 32), 2)
		}
	},
}

// relayErrors is the counter of packets that a switch cannot forward.
const relayErrors = "portRcvSwitchRelayErrors"

var switchMulticast = &Test{
	ID: "X18_004", Title: "the MulticastForwardingTable",
	Abstract: "A switch forwards a multicast packet out of each port of its mask but the one at which it came in, once each.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: append([]string{"MulticastFDBCap is not 0, and NumPorts is at least 3"}, switchQualifiers...), Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Set the masks of LIDs 0xC001 to 0xC004 to ports 1, 2 and 3; 1 and 2; 3; and none. Send a datagram from port 1 to each.",
	},
	Assertions: []Assertion{{"ours#01", "One copy leaves out of each port of the mask but port 1."}},
	Decisions:  ours,
	run: func(r *run) {
		w := r.switches(3)
		if r.manager.get(mad.AttrSwitchInfo, 0).uint(mad.LayoutSwitchInfo, "multicastFDBCap") == 0 {
			r.inapplicable("MulticastFDBCap is 0")
		}
		r.at(3)
		masks := [][]uint8{{1, 2, 3}, {1, 2}, {3}, {}}
		for i, ports := range masks {
			w.masks(firstMulticastLID+1+uint16(i), ports...)
		}
		for i, ports := range masks {
			p := w.datagramFrom(1, firstMulticastLID+1+uint16(i))
			p.Has, p.DestQP = packet.HasGRH, 0xFFFFFF
			p.SGID, p.DGID = packet.Addr{Hi: defaultPrefix, Lo: testerGUID + 1}, packet.Addr{Hi: 0xFF12_0000_0000_0000, Lo: 0x1234}
			var outs []uint8
			for _, port := range ports {
				if port != 1 {
					outs = append(outs, port)
				}
			}
			w.forwarded("ours#01", p, outs...)
		}
	},
}

// orderedPackets are sent by the flow that the test of order is about; others by a third as many.
const orderedPackets = 1500

var switchOrder = &Test{
	ID: "X18_005", Title: "the order of packets",
	Abstract: "A switch keeps the order of packets with the same SLID, DLID and SL.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Send 1500 numbered datagrams from port 1 to port 2 as fast as the link lets them, and 500 to another LID of port 2 and to the last port between them.",
	},
	Assertions: []Assertion{{"ours#01", "The datagrams of each flow leave in the order in which they came in."}, {"ours#02", "All leave."}},
	Decisions:  []Decision{{"The plan has 10,000 packets.", "1500, as many as make a queue in the switch."}},
	run: func(r *run) {
		w := r.switches(2)
		r.at(3)
		w.table[relayFree], w.table[relayFree+1] = 2, w.ports[len(w.ports)-1]
		w.routes()
		w.quiet = true
		w.forgets()
		flows := []uint16{relayLID + 2, relayLID + 2, relayLID + 2, relayFree, relayFree + 1}
		sent := map[uint16]int{}
		for i := range orderedPackets * 5 / 3 {
			lid := flows[i%5]
			p := w.datagramFrom(1, lid)
			p.SrcQP, p.PSN = 0x500+uint32(lid), packet.PSN(sent[lid])
			binary.BigEndian.PutUint32(p.Payload, uint32(sent[lid]))
			p.Complete()
			w.enters(1, p, nil)
			if sent[lid]++; i%100 == 99 {
				r.wait(200 * int64(time.Microsecond))
			}
		}
		r.wait(ackWindow)
		left, next := w.left(), map[uint16]int{}
		for _, port := range w.ports {
			for _, p := range left[port] {
				number := int(binary.BigEndian.Uint32(p.Payload))
				r.check("ours#01", number == next[p.DLID], fmt.Sprintf("datagram %d of LID %d", next[p.DLID], p.DLID), fmt.Sprintf("datagram %d", number), p)
				next[p.DLID] = number + 1
			}
		}
		total := len(left[1]) + len(left[2]) + len(left[3])
		r.check("ours#02", total == orderedPackets*5/3, fmt.Sprintf("%d datagrams", orderedPackets*5/3), fmt.Sprintf("%d", total))
	},
}

var switchDamaged = &Test{
	ID: "X18_006", Title: "packets that are damaged on the way to a switch",
	Abstract: "A switch drops a packet whose VCRC, link version or end is wrong, or ends it with EBP; it does not forward it as a good one.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Send datagrams from port 1 to port 2 of which one bit each is changed on the way: of the BTH, of the payload, of the ICRC and of the VCRC. Send one that is right after each.",
		"Do so with ones of link version 1, and with ones that end with EBP, SLP, SDP and an invalid code group.",
	},
	Assertions: []Assertion{{"ours#01", "A damaged datagram does not leave, or ends with EBP and has a wrong VCRC."}, {"ours#02", "One that is right leaves."}},
	Decisions:  ours, Breaks: []string{"LNK-CRC-001", "LNK-LRH-002"},
	run: func(r *run) {
		w := r.switches(2)
		r.at(3)
		w.forwarded("ours#02", w.datagramFrom(1, relayLID+2), 2)
		for _, at := range []int{14, 40, 28 + 64 + 2, 28 + 64 + 5} {
			w.spoiltOnTheWay(wrongPacket{fmt.Sprintf("byte %d changed", at), func(b []byte) []byte { b[at] ^= 0x10; return b }, link.Mark{}})
		}
		r.at(4)
		w.spoiltOnTheWay(linkVersions.list[0])
		for _, x := range slices.Concat(badPacket.list, delimiters.list) {
			w.spoiltOnTheWay(x)
		}
	},
}

// spoiltOnTheWay has a packet that is wrong come in at port 1, judges that it is not forwarded as a good one, and has one that is right come after it.
func (w *switched) spoiltOnTheWay(x wrongPacket) {
	r, p := w.r, w.datagramFrom(1, relayLID+2)
	p.Complete()
	w.forgets()
	sent := w.entersAs(1, p, x.change, x.mark)
	r.wait(ackWindow)
	good, proof := 0, []*packet.Packet{sent}
	for _, list := range w.left() {
		for _, q := range list {
			if proof = append(proof, q); q.Flaws&packet.FlawDelimiter == 0 || q.VCRCState != packet.CRCBad {
				good++
			}
		}
	}
	r.check("ours#01", good == 0, "nothing, or a packet that ends with EBP", fmt.Sprintf("packets: %d, as good ones: %d; what came in was %s", len(proof)-1, good, x.what), proof...)
	w.forwarded("ours#02", w.datagramFrom(1, relayLID+2), 2)
}

// P_Keys of the test of partition enforcement: in the table of the ports, and of nobody.
const (
	enforcedKey = 0x8007
	foreignKey  = 0x8009
)

var switchPartitions = &Test{
	ID: "X18_007", Title: "partition enforcement",
	Abstract: "A switch port that enforces partitions discards and counts packets whose P_Key is not in its table, inbound and outbound.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: append([]string{"PartitionEnforcementCap is not 0, and Inbound and OutboundEnforcementCap are 1"}, switchQualifiers...), Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Give ports 1 and 2 the P_Keys 0xFFFF and 0x8007. Send datagrams of 0x8007 and of 0x8009 from port 1 to port 2.",
		"Set PartitionEnforcementInbound of port 1, and send both.",
		"Clear it, set PartitionEnforcementOutbound of port 2, and send both.",
	},
	Assertions: []Assertion{
		{"ours#01", "With inbound enforcement the datagram of 0x8009 does not leave."},
		{"ours#02", "PortRcvConstraintErrors of port 1 counts it."},
		{"ours#03", "With outbound enforcement the datagram of 0x8009 does not leave."},
		{"ours#04", "PortXmitConstraintErrors of port 2 counts it."},
		{"ours#05", "One of 0x8007, and without enforcement each, leaves."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		info := w.get(mad.AttrSwitchInfo, 0)
		if info.uint(mad.LayoutSwitchInfo, "inboundEnforcementCap") == 0 || info.uint(mad.LayoutSwitchInfo, "outboundEnforcementCap") == 0 {
			r.inapplicable("InboundEnforcementCap or OutboundEnforcementCap is 0")
		}
		r.at(3)
		for port := uint32(1); port <= 2; port++ {
			w.write(mad.AttrPKeyTable, port<<16, func(data []byte) {
				binary.BigEndian.PutUint16(data, 0xFFFF)
				binary.BigEndian.PutUint16(data[2:], enforcedKey)
			})
		}
		of := func(key uint16) *packet.Packet {
			p := w.datagramFrom(1, relayLID+2)
			p.PKey, p.DestQP = key, 0x600+uint32(key&0xFF)
			return p
		}
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.forwarded("ours#05", of(foreignKey), 2)
		r.at(4)
		w.set(mad.AttrPortInfo, 1, map[string]uint64{"partitionEnforcementInbound": 1})
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.discarded("ours#01", "ours#02", of(foreignKey), 1, "portRcvConstraintErrors")
		r.at(5)
		w.set(mad.AttrPortInfo, 1, map[string]uint64{"partitionEnforcementInbound": 0})
		w.set(mad.AttrPortInfo, 2, map[string]uint64{"partitionEnforcementOutbound": 1})
		w.forwarded("ours#05", of(enforcedKey), 2)
		w.discarded("ours#03", "ours#04", of(foreignKey), 2, "portXmitConstraintErrors")
	},
}

// lifeCode is the code of HOQLife and LifeTimeValue in the test of lifetimes: 4.2 ms.
const lifeCode = 10

var switchLife = &Test{
	ID: "X18_008", Title: "lifetimes of packets in a switch",
	Abstract: "A switch discards a packet that waits for its port for longer than HOQLife of that or LifeTimeValue.",
	Covers:   []Statement{{"", NoneID}}, Topology: relayTopology, Device: Switch, Needs: Managed, cabled: true,
	Qualifiers: switchQualifiers, Setup: cableSetup,
	Procedure: []string{
		surveyText, relayStep,
		"Have the link of port 2 come up without credits. Send a datagram from port 1 to port 2, wait for 10 ms, and give credits.",
		"Do so with HOQLife of port 2 code 10, 4.2 ms.",
		"Do so with HOQLife without end, and LifeTimeValue code 10.",
	},
	Assertions: []Assertion{
		{"ours#01", "Without an end the datagram leaves when there are credits."},
		{"ours#02", "With HOQLife it does not."},
		{"ours#03", "With LifeTimeValue it does not."},
		{"ours#04", "PortXmitDiscards of port 2 counts those that do not leave."},
	},
	Decisions: ours,
	run: func(r *run) {
		w := r.switches(2)
		c := w.plugged.cables[2]
		life := func(id string, leaves bool, hoq, total uint64) {
			w.set(mad.AttrSwitchInfo, 0, map[string]uint64{"lifeTimeValue": total})
			w.starve(2)
			w.set(mad.AttrPortInfo, 2, map[string]uint64{"HOQLife": hoq})
			was := w.counterOf(2, "portXmitDiscards")
			p := w.datagramFrom(1, relayLID+2)
			p.Complete()
			w.forgets()
			sent := w.enters(1, p, nil)
			r.wait(ackWindow)
			early := len(w.left()[2])
			for vl := range c.lanes {
				c.lanes[vl].free = link.Window
			}
			for vl := range c.count {
				c.tell(vl, nil)
			}
			r.wait(ackWindow)
			list := w.left()[2]
			want := map[bool]int{true: 1}[leaves]
			r.check(id, early == 0 && len(list) == want, fmt.Sprintf("%d packets after credits", want), fmt.Sprintf("%d before, %d in all", early, len(list)), append([]*packet.Packet{sent}, list...)...)
			if !leaves {
				now := w.counterOf(2, "portXmitDiscards")
				r.check("ours#04", now == was+1, fmt.Sprintf("PortXmitDiscards %d", was+1), fmt.Sprintf("%d", now), sent)
			}
		}
		r.at(3)
		life("ours#01", true, noEnd, noEnd)
		r.at(4)
		life("ours#02", false, lifeCode, noEnd)
		r.at(5)
		life("ours#03", false, noEnd, lifeCode)
	},
}

// starve has the link of a port come up to Active without credits.
func (w *switched) starve(port uint8) {
	r, c := w.r, w.plugged.cables[port]
	c.link.Down()
	c.beats++
	w.node.Cut(r.now(), port)
	w.nodes[port].Cut(r.now(), 1)
	w.plugged.sync()
	r.wait(int64(time.Millisecond))
	for vl := range c.lanes {
		c.lanes[vl].free = 0
	}
	w.plugged.join(c, w.nodes[port])
	w.raise(port)
	r.wait(4 * c.every)
}
