package conform

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// networkTests are those of the headers below the BTH on RoCEv2.
var networkTests = []*Test{encapsulations, optionsAndFragments, trafficClasses, ownECN, ownLengths, ports, maskedFields, ipVersion, toQP0, otherGIDs, bothVersions, ipv4InMemory}

var optionsAndFragments = &Test{
	ID: "X17_002", Title: "IPv4 options and fragments",
	Abstract: "What the device sends on IPv4 has neither options nor fragments, and says that it must not be fragmented, whatever its peer sends.",
	Covers:   []Statement{{"CA17-3", Stated}, {"CA17-7", Stated}, {"CA17-8", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC, and make one of UD."},
	Procedure: []string{
		"Send a WRITE with a word of IPv4 options, and a first fragment of one; wait for 10 ms.", "Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.", "Have the device send datagrams.",
	},
	Assertions: []Assertion{{"ours#01", "The IPv4 header has no options: IHL is 5."}, {"ours#02", "Its flags are 010b, and the fragment offset is 0."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. Whether the device takes options, or puts fragments together, is the matter of its IP layer: it is not judged."}},
	Breaks:     []string{"ROC-V2-003", "ROC-V2-007", "ROC-V2-008"},
	run: func(r *run) {
		c := r.connect(pathed(0, 64))
		r.at(1)
		odd := []func(p *packet.Packet){
			func(p *packet.Packet) {
				p.IHL = 6
				p.Data = append(p.Append(nil)[:20:20], 1, 1, 1, 0)
			},
			func(p *packet.Packet) { p.IPFrag = 0x2000 },
		}
		for _, change := range odd {
			c.spoiled(c.request(packet.WriteOnly, pattern(3, 64), nil), sealed(change))
			if got := c.quiet(); got != nil {
				r.note("the device takes it: %s", told(got))
				c.next = got.PSN.Add(1)
			}
		}
		for i, t := range []*conn{c, r.connectAs(qp.TypeUD, pathed(0, 64), nil)} {
			r.at(2 + i)
			for _, n := range []int{0, 64, 2*pmtu + 64} {
				for _, p := range t.own(n) {
					r.check("ours#01", p.IHL == 5, "IHL 5", fmt.Sprintf("IHL %d", p.IHL), p)
					r.check("ours#02", p.IPFrag == 0x4000, "flags 010b, offset 0", fmt.Sprintf("flags %03bb, offset %d", p.IPFrag>>13, p.IPFrag&0x1FFF), p)
				}
			}
		}
	},
}

var trafficClasses = &Test{
	ID: "X17_003", Title: "traffic class and hop limit of the address vector",
	Abstract: "The DSCP and the hop limit, or TTL, of each packet are those of the address vector, on IPv4 and on IPv6, of connections and of datagrams.",
	Covers:   []Statement{{"CA17-4", Stated}, {"CA17-9", Stated}, {"CA17-13", Stated}, {"CA17-17", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup: []string{"For each of some traffic classes and hop limits connect a queue pair of RC, and make an address handle, on IPv4 and on IPv6."},
	Procedure: []string{
		"Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.", "Have the device send a datagram by the address handle.",
	},
	Assertions: []Assertion{{"ours#01", "The DSCP is the upper six bits of the traffic class."}, {"ours#02", "The hop limit, or TTL, is that of the address vector."}},
	Decisions:  ours,
	run: func(r *run) {
		judge := func(list []*packet.Packet, tclass, hops uint8) {
			for _, p := range list {
				r.check("ours#01", p.TClass>>2 == tclass>>2, fmt.Sprintf("DSCP %d", tclass>>2), fmt.Sprintf("DSCP %d", p.TClass>>2), p)
				r.check("ours#02", p.HopLmt == hops, fmt.Sprintf("hop limit %d", hops), fmt.Sprintf("%d", p.HopLmt), p)
			}
		}
		for _, n := range r.ways.v2() {
			r.use(n)
			d := r.connectAs(qp.TypeUD, pathed(0, 64), nil)
			for i, tclass := range []uint8{0, 1 << 2, 10 << 2, 46 << 2, 63 << 2} {
				hops := []uint8{64, 1, 2, 127, 255}[i]
				r.again(1)
				judge(r.connect(pathed(tclass, hops)).own(pmtu+64), tclass, hops)
				r.again(2)
				ah := r.handle(r.memory.pd, wqe.AddressVector{TClass: tclass, HopLimit: hops})
				d.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = ah })
				judge(d.everything(), tclass, hops)
			}
		}
	},
}

var ownECN = &Test{
	ID: "X17_004", Title: "ECN field of the device's packets",
	Abstract: "What the device sends is marked ECN-capable where congestion management is on, and not where it is off; it is never marked as having met congestion.",
	Covers:   []Statement{{"CA17-5", Stated}, {"CA17-14", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup: []string{"For each value of the two low bits of the traffic class, on IPv4 and on IPv6, connect a queue pair of RC, and make an address handle."},
	Procedure: []string{
		"Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.", "Have the device send a datagram by the address handle.",
	},
	Assertions: []Assertion{
		{"ours#01", "With 0 the ECN field is 00."}, {"ours#02", "With 1 and 2 the ECN field of requests is 01 or 10."}, {"ours#03", "It is never 11, also where the traffic class has 3."},
	},
	Decisions: []Decision{{"The plan: congestion management on, off.", "Ours. No verb turns it on: the two low bits of the traffic class do, as stacks have it. Whether answers are ECN-capable is a policy of their sender."}},
	run: func(r *run) {
		judge := func(list []*packet.Packet, bits uint8) {
			for _, p := range list {
				ecn, actual := p.TClass&3, fmt.Sprintf("ECN %02b", p.TClass&3)
				if bits == 0 {
					r.check("ours#01", ecn == 0, "ECN 00", actual, p)
				} else if bits < 3 && p.Info().Request {
					r.check("ours#02", ecn == 1 || ecn == 2, "ECN 01 or 10", actual, p)
				}
				r.check("ours#03", ecn != 3, "any but ECN 11", actual, p)
			}
		}
		for _, n := range r.ways.v2() {
			r.use(n)
			d := r.connectAs(qp.TypeUD, pathed(0, 64), nil)
			for bits := range uint8(4) {
				r.again(1)
				judge(r.connect(pathed(26<<2|bits, 64)).own(64), bits)
				r.again(2)
				ah := r.handle(r.memory.pd, wqe.AddressVector{TClass: 26<<2 | bits, HopLimit: 64})
				d.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = ah })
				judge(d.everything(), bits)
			}
		}
	},
}

var ports = &Test{
	ID: "X17_006", Title: "UDP ports",
	Abstract: "A packet to UDP port 4790 is dropped, one from another source port than before is taken, and the device sends to port 4791, from one port for each queue pair.",
	Covers:   []Statement{{"CA17-20", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:     []string{"Connect a queue pair of RC."},
	Procedure: append(droppedSteps("to UDP port 4790"), "Send WRITEs from other source ports, and receive their ACKs.", "Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ."),
	Assertions: append(slices.Clone(droppedAssertions), Assertion{"ours#04", "A WRITE from another source port is acknowledged."},
		Assertion{"ours#05", "The device sends to UDP port 4791."}, Assertion{"ours#06", "It sends from one source port, which is 0xC000 or above."}),
	Decisions: []Decision{{"No page of it was found.", "Ours. The source port is one of should: see rule ROC-V2-018."}},
	Breaks:    []string{"ROC-V2-015", "ROC-V2-018"},
	run: func(r *run) {
		c := r.connect(pathed(0, 64))
		c.droppedEach(c.changed(func(p *packet.Packet) { p.DstPort = 4790 }))
		if r.why != "" {
			return
		}
		r.at(4)
		from := uint16(0)
		for i := range uint16(4) {
			c.port = 0xC100 + 0x0F0F*i
			p := c.ask(packet.WriteOnly, pattern(3, 64), nil)
			got := c.answer()
			if !c.acked("ours#04", p, got, p.PSN, uint32(3+i)) {
				return
			}
			from = got.SrcPort
		}
		r.at(5)
		for _, p := range slices.Concat(c.own(64), c.own(pmtu+64)) {
			r.check("ours#05", p.DstPort == packet.UDPPort, "port 4791", fmt.Sprintf("%d", p.DstPort), p)
			r.check("ours#06", p.SrcPort == from && from >= 0xC000, fmt.Sprintf("port %#x, 0xC000 or above", from), fmt.Sprintf("%#x", p.SrcPort), p)
		}
	},
}
