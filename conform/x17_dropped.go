package conform

import (
	"bytes"
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

var ipVersion = &Test{
	ID: "X17_008", Title: "IP version",
	Abstract: "Packets whose IP version is neither 4 nor 6 are dropped.",
	Covers:   []Statement{{"CA17-27", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC."}, Procedure: droppedSteps("with the IP version 5, 0, 7 and 15"),
	Assertions: droppedAssertions, Decisions: ours, Breaks: []string{"ROC-V2-022"},
	run: func(r *run) {
		c := r.connect(answering)
		var list []sendsWrong
		for _, v := range []uint8{5, 0, 7, 15} {
			list = append(list, c.changed(func(p *packet.Packet) { p.IPVer = v }))
		}
		c.droppedEach(list...)
	},
}

var toQP0 = &Test{
	ID: "X17_009", Title: "packets to QP 0",
	Abstract: "WRITEs of RC and datagrams to QP 0, which no port of RoCE has, are dropped without an answer.",
	Covers:   []Statement{{"CA17-33", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC, and make one of UD with a receive request."},
	Procedure:  append(droppedSteps("to QP 0"), "Send a datagram to QP 0, with the Q_Key of the queue pair and with 0, and wait for 10 ms."),
	Assertions: append(slices.Clone(droppedAssertions), Assertion{"ours#04", "The datagram is not answered, and completes nothing."}),
	Decisions:  ours,
	Breaks:     []string{"UD-QP1-002", "BTH-010", "BTH-011"},
	run: func(r *run) {
		c, d := r.connect(answering), r.datagram()
		d.postReceive(128)
		c.droppedEach(c.changed(func(p *packet.Packet) { p.DestQP = 0 }))
		r.at(4)
		for _, key := range []uint32{ownQKey, 0} {
			p := d.spoiled(d.request(packet.SendOnly, pattern(1, 64), nil), sealed(func(p *packet.Packet) { p.DestQP, p.QKey = 0, key }))
			d.unheard("ours#04", 0, p)
		}
	},
}

// by sends a packet of the connection on another network.
func (c *conn) by(n network) sendsWrong {
	return func(p packet.Packet) *packet.Packet {
		c.to(&p)
		p.Encap, p.Src = n.encap, n.tester
		return c.r.tester.forwardTo(&p, n.device, c.r.tester.deviceMAC, nil, 0)
	}
}

var otherGIDs = &Test{
	ID: "X17_010", Title: "other GIDs, and the other version of RoCE",
	Abstract: "A connection takes packets only of the version of RoCE of its GID, from the peer's address to its own, and all that it sends is of this version and from this address.",
	Covers:   []Statement{{"CA17-39", Stated}, {"CA17-40", Stated}, {"CA17-41", Stated}}, Topology: "tester and device under test, one link of Ethernet", Needs: Control | Memory,
	Setup:     []string{"Connect a queue pair of RC by a GID of RoCEv2, and one by a GID of RoCEv1, of the same address. The table of GIDs has this address for both versions, and others."},
	Procedure: append(droppedSteps("of the other version of RoCE, from another address, to another GID of the device, and on the other version of IP"), "Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ."),
	Assertions: append(slices.Clone(droppedAssertions),
		Assertion{"ours#04", "What the device sends is of the version of RoCE of its GID."}, Assertion{"ours#05", "It comes from the address of its GID."}),
	Decisions: ours,
	Breaks:    []string{"ROC-V2-027", "ROC-V2-029", "ROC-V2-012", "NET-GRH-007", "BTH-011", "BTH-019"},
	run: func(r *run) {
		elsewhere := r.ways.ipv4
		elsewhere.device = elsewhere.other
		for _, n := range []network{r.ways.ipv4, r.ways.rocev1} {
			if !n.there() {
				r.remark("the device has no GID of %v for its address", packet.RoCEv1)
				continue
			}
			r.use(n)
			version := r.ways.rocev1
			if n.encap == packet.RoCEv1 {
				version = r.ways.ipv4
			}
			elsewhere.encap = n.encap
			strange := n
			strange.tester = n.stranger
			c := r.connect(pathed(0, 64))
			var list []sendsWrong
			for _, wrong := range []network{version, strange, elsewhere, r.ways.ipv6} {
				if wrong.there() {
					list = append(list, c.by(wrong))
				}
			}
			c.droppedEach(list...)
			if r.why != "" {
				return
			}
			r.again(4)
			for _, p := range r.connect(pathed(0, 64)).own(64) {
				r.check("ours#04", p.Encap == n.encap, n.encap.String(), p.Encap.String(), p)
				r.check("ours#05", p.Src == n.device, n.device.String(), p.Src.String(), p)
			}
		}
	},
}

var bothVersions = &Test{
	ID: "X17_011", Title: "datagrams of both versions of RoCE",
	Abstract: "A queue pair of UD receives datagrams of RoCEv1 and of RoCEv2, and sends by the version of the GID of its address handle.",
	Covers:   []Statement{{"CA17-42", Stated}, {"CA17-43", Stated}}, Topology: "tester and device under test, one link of Ethernet", Needs: Control | Memory,
	Setup: []string{"For an address of IPv4 and one of IPv6, both with GIDs of both versions, make a queue pair of UD, and have the device post receive requests. Make an address handle for each GID."},
	Procedure: []string{
		"Send a datagram of RoCEv2 and one of RoCEv1, twice, and poll after each.", "Have the device send a datagram by each address handle.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each datagram completes one receive request with success."}, {"ours#02", "The datagram is of the version of the GID of its address handle."}, {"ours#03", "It comes from the address of this GID."},
	},
	Decisions: ours,
	run: func(r *run) {
		r.needs(r.ways.rocev1, r.ways.ipv6)
		first := r.ways.rocev1
		first.tester, first.device = r.ways.ipv6.tester, r.ways.ipv6.device
		for _, list := range [][]network{{r.ways.ipv4, r.ways.rocev1}, {r.ways.ipv6, first}} {
			r.use(list[0])
			c := r.datagram()
			r.again(1)
			for i := range 4 {
				c.postReceive(128)
				had := len(c.completions)
				p := c.by(list[i%2])(c.request(packet.SendOnly, pattern(1, 64), nil))
				c.next = c.next.Add(1)
				if c.delivered("ours#01", had, 64, p) == nil {
					return
				}
			}
			r.again(2)
			for _, n := range list {
				r.use(n)
				ah := r.handle(r.memory.pd, wqe.AddressVector{HopLimit: 64})
				c.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = ah })
				got := c.everything()
				if len(got) != 1 {
					r.check("ours#02", false, "one datagram", fmt.Sprintf("%d", len(got)), got...)
					return
				}
				r.check("ours#02", got[0].Encap == n.encap, n.encap.String(), got[0].Encap.String(), got[0])
				r.check("ours#03", got[0].Src == n.device, n.device.String(), got[0].Src.String(), got[0])
			}
		}
	},
}

var ipv4InMemory = &Test{
	ID: "X17_012", Title: "the IP header before a datagram",
	Abstract: "The 40 bytes before a datagram have its IPv4 header in the last 20 of them, as it arrived, or its IPv6 header.",
	Covers:   []Statement{{"CA17-30", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup:      []string{"On each version of IP make a queue pair of UD, and have the device post a receive request for each datagram."},
	Procedure:  []string{"Send datagrams with several traffic classes and hop limits, and poll after each."},
	Assertions: []Assertion{{"ours#01", "The datagram completes one receive request with success."}, {"ours#02", "Bytes 20 to 39 are its IPv4 header."}, {"ours#03", "Bytes 0 to 39 are its IPv6 header."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. Bytes 0 to 19 are undefined on IPv4. The place of the IPv6 header, as long as the GRH, is not in the statement."}},
	run: func(r *run) {
		r.at(1)
		if !r.ways.ipv6.there() {
			r.skip("ours#03", "the device is not reached on IPv6")
		}
		for _, n := range r.ways.v2() {
			r.use(n)
			c := r.datagram()
			for i, tclass := range []uint8{0, 46 << 2, 10<<2 | 1} {
				_, at := c.postReceive(grhSize + 64)
				had := len(c.completions)
				p := c.request(packet.SendOnly, pattern(1, 64), func(p *packet.Packet) { p.TClass, p.HopLmt = tclass, uint8(1+60*i) })
				c.next = c.next.Add(1)
				sent := c.send(p)
				if !c.once("ours#01", c.completed(had+1, r.soon())[had:], cq.Success, sent) {
					return
				}
				id, size := "ours#02", 20
				if n.encap == packet.RoCEv2IPv6 {
					id, size = "ours#03", 40
				}
				holds, header := r.memoryOf(at+uint64(grhSize-size), size), sent.Append(nil)[:size]
				r.check(id, bytes.Equal(holds, header), fmt.Sprintf("% x", header), fmt.Sprintf("% x", holds), sent)
			}
		}
	},
}
