package conform

import (
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// grhTests are those of the GRH.
var grhTests = []*Test{grhVersion, grhNextHeader, grhLength, grhGIDs, grhPresence, grhFields}

// linkTopology is of tests of connections on InfiniBand.
const linkTopology = "tester and device under test, one link of InfiniBand"

var grhVersion = &Test{
	ID: "X08_001", Title: "IP version of the GRH",
	Abstract: "WRITEs whose GRH has another IP version than 6 are dropped.",
	Covers:   []Statement{{"C9-45", Seen}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"Connect a queue pair of RC by a global path."}, Procedure: droppedSteps("whose GRH has the IP version, from 0 to 15 without 6"),
	Assertions: droppedAssertions,
	Decisions:  []Decision{{"The plan covers C9-43.1.1.", "That statement is of the presence of a GRH; the version is C9-45."}},
	Breaks:     []string{"NET-GRH-002"},
	run: func(r *run) {
		c := r.connect(answering)
		var list []sendsWrong
		for v := range uint8(16) {
			if v != 6 {
				list = append(list, c.changed(func(p *packet.Packet) { p.IPVer = v }))
			}
		}
		c.droppedEach(list...)
	},
}

var grhNextHeader = &Test{
	ID: "X08_002", Title: "next header of the GRH",
	Abstract: "WRITEs whose GRH has another next header than that of IBA transport are dropped.",
	Covers:   []Statement{{"C8-7", Stated}, {"C9-44", Seen}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"Connect a queue pair of RC by a global path."}, Procedure: droppedSteps("whose GRH has the next header 0, 17, 0x1A, 0x1C and 0xFF"),
	Assertions: droppedAssertions, Decisions: ours, Breaks: []string{"NET-GRH-003"},
	run: func(r *run) {
		c := r.connect(answering)
		var list []sendsWrong
		for _, next := range []uint8{0, 17, 0x1A, 0x1C, 0xFF} {
			list = append(list, c.changed(func(p *packet.Packet) { p.NxtHdr = next }))
		}
		c.droppedEach(list...)
	},
}

var grhLength = &Test{
	ID: "X08_003", Title: "payload length of the GRH",
	Abstract: "WRITEs whose GRH counts other bytes than those from BTH through ICRC are dropped.",
	Covers:   []Statement{{"", NoneID}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"Connect a queue pair of RC by a global path."}, Procedure: droppedSteps("whose GRH counts four bytes too few and too many, and none"),
	Assertions: droppedAssertions, Decisions: ours, Breaks: []string{"NET-GRH-004", "NET-GRH-005", "LNK-LRH-005"},
	run: func(r *run) {
		c := r.connect(answering)
		c.droppedEach(
			c.lying(func(p *packet.Packet) { p.PayLen -= 4 }), c.lying(func(p *packet.Packet) { p.PayLen += 4 }), c.lying(func(p *packet.Packet) { p.PayLen = 0 }),
		)
	},
}

var grhGIDs = &Test{
	ID: "X08_004", Title: "GIDs of the GRH",
	Abstract: "A connection takes packets to its own GID, with its subnet prefix or the default one, from the GID of its peer, and no others; a datagram is taken to any GID of the port.",
	Covers:   []Statement{{"", NoneID}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"Connect a queue pair of RC by a global path, and make one of UD. The port has a second GID."},
	Procedure: append(droppedSteps("to a GID of nobody and to the second one, and from another GID"),
		"Send a WRITE to the GID of the connection with the default prefix, and receive its ACK.", "Have the device post a receive request. Send a datagram to a GID of nobody, and wait for 10 ms.",
		"Send one to each GID of the port, and one with the default prefix, and poll."),
	Assertions: append(slices.Clone(droppedAssertions),
		Assertion{"ours#04", "The WRITE with the default prefix is acknowledged."}, Assertion{"ours#05", "The datagram to a GID of nobody completes nothing."},
		Assertion{"ours#06", "The others complete one receive request each, with success."}),
	Decisions: []Decision{{"No page of it was found.", "Ours; the section is 9.6.1.2.3."}},
	Breaks:    []string{"NET-GRH-007", "NET-GRH-008", "NET-GRH-013", "RC-RTY-004"},
	run: func(r *run) {
		c := r.connect(answering)
		to := func(gid packet.Addr) func(p *packet.Packet) { return func(p *packet.Packet) { p.DGID = gid } }
		nobody, own := packet.Addr{Hi: sitePrefix, Lo: 0x999}, r.net.gids[1]
		prefixed := packet.Addr{Hi: defaultPrefix, Lo: own.Lo}
		c.droppedEach(c.changed(to(nobody)), c.changed(to(r.net.other)), c.changed(func(p *packet.Packet) { p.SGID = nobody }))
		if r.why == "" {
			r.at(4)
			p := c.spoiled(c.request(packet.WriteOnly, pattern(3, 64), nil), sealed(to(prefixed)))
			c.acked("ours#04", p, c.answer(), p.PSN, 5)
		}
		r.at(5)
		d := r.datagram()
		d.attr.GRH = true
		datagram := func(gid packet.Addr) *packet.Packet {
			p := d.spoiled(d.request(packet.SendOnly, pattern(1, 64), nil), sealed(to(gid)))
			d.next = d.next.Add(1)
			return p
		}
		d.postReceive(128)
		if !d.unheard("ours#05", 0, datagram(nobody)) {
			r.why = "the device has taken a datagram to a GID of nobody"
			return
		}
		r.at(6)
		for _, gid := range []packet.Addr{own, r.net.other, prefixed} {
			d.postReceive(128)
			had := len(d.completions)
			p := datagram(gid)
			d.once("ours#06", d.completed(had+1, r.soon())[had:], cq.Success, p)
		}
	},
}

var grhPresence = &Test{
	ID: "X08_005", Title: "presence of a GRH",
	Abstract: "A connection by a global path drops packets without a GRH, and one by a local path those that have one.",
	Covers:   []Statement{{"C9-43.1.1", Seen}, {"C9-43.1.2", Seen}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"Connect a queue pair of RC by a global path, and one by a local path."}, Procedure: droppedSteps("without a GRH to the first, and with one to the second"),
	Assertions: append(slices.Clone(droppedAssertions), Assertion{"ours#04", "What the device sends has a GRH just where the path is global."}),
	Decisions:  ours, Breaks: []string{"NET-GRH-006", "NET-GRH-007", "RC-RTY-004"},
	run: func(r *run) {
		for _, is := range []bool{true, false} {
			c := r.connect(func(a *qp.Attr) { patient(a); a.GRH = is })
			c.droppedEach(func(p packet.Packet) *packet.Packet {
				c.to(&p)
				p.Has, p.SGID, p.DGID = packet.HasGRH, r.net.gids[0], r.net.gids[1]
				if is {
					p.Has = 0
				}
				return r.tester.send(&p, nil)
			})
			if r.why != "" {
				return
			}
			for _, p := range r.connect(func(a *qp.Attr) { patient(a); a.GRH = is }).own(64) {
				has := p.Has&packet.HasGRH != 0
				r.check("ours#04", has == is, fmt.Sprintf("GRH %t", is), fmt.Sprintf("GRH %t", has), p)
			}
		}
	},
}

var grhFields = &Test{
	ID: "X08_006", Title: "fields of the GRH",
	Abstract: "Traffic class, flow label, hop limit and GIDs of each packet of a connection, and of a datagram, are those of the address vector.",
	Covers:   []Statement{{"", NoneID}}, Topology: linkTopology, Needs: Control | Memory, native: true,
	Setup: []string{"For each of some traffic classes, flow labels and hop limits connect a queue pair of RC by a global path, and make an address handle."},
	Procedure: []string{
		"Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.", "Have the device send a datagram by the address handle.",
	},
	Assertions: []Assertion{
		{"ours#01", "Traffic class, flow label and hop limit are those of the address vector."},
		{"ours#02", "The source GID is that of the queue pair, and the destination GID that of the address vector."},
		{"ours#03", "IP version, next header and payload length are right."},
	},
	Decisions: ours,
	run: func(r *run) {
		d := r.datagram()
		for i, tclass := range []uint8{0, 1, 3, 0x55, 0xAA, 0xFF} {
			label, hops := []uint32{0, 1, 0x80000, 0x12345, 0xFFFFF, 0xABCDE}[i], []uint8{64, 1, 2, 128, 255, 17}[i]
			judge := func(list []*packet.Packet) {
				for _, p := range list {
					want := fmt.Sprintf("traffic class %#x, flow label %#x, hop limit %d", tclass, label, hops)
					got := fmt.Sprintf("traffic class %#x, flow label %#x, hop limit %d", p.TClass, p.FlowLabel, p.HopLmt)
					r.check("ours#01", got == want, want, got, p)
					r.check("ours#02", p.SGID == r.net.gids[1] && p.DGID == r.net.gids[0], fmt.Sprintf("%v to %v", r.net.gids[1], r.net.gids[0]), fmt.Sprintf("%v to %v", p.SGID, p.DGID), p)
					right := *p
					right.FitLengths()
					ok := p.IPVer == 6 && p.NxtHdr == 0x1B && p.PayLen == right.PayLen && p.Has&packet.HasGRH != 0
					r.check("ours#03", ok, fmt.Sprintf("a GRH with 6, 0x1b, %d", right.PayLen), fmt.Sprintf("%d, %#x, %d", p.IPVer, p.NxtHdr, p.PayLen), p)
				}
			}
			r.again(1)
			c := r.connect(func(a *qp.Attr) { pathed(tclass, hops)(a); a.FlowLabel = label })
			for _, n := range []int{64, pmtu + 64} {
				judge(c.own(n))
			}
			r.again(2)
			ah := r.handle(r.memory.pd, wqe.AddressVector{TClass: tclass, HopLimit: hops, FlowLabel: label})
			d.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = ah })
			judge(d.everything())
		}
	},
}
