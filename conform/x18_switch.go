package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

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
		r.settle()
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
