package conform

import (
	"bytes"
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// udTests are those of UD.
var udTests = []*Test{wrongQKey, privilegedQKey, headerInMemory, udDrops, longerThanMTU, multicastCopies, connectedToMulticast}

const (
	// grhSize is how many bytes precede a datagram in memory.
	grhSize = 40
	ownQKey = 0x1234
)

// datagrams are the attributes of a queue pair of UD.
func datagrams(a *qp.Attr) { a.QKey = ownQKey }

// datagram makes a queue pair of UD.
func (r *run) datagram() *conn { return r.connectAs(qp.TypeUD, datagrams, nil) }

// delivered judges that one receive request completes with success and this many bytes of a datagram, and returns its completion.
func (c *conn) delivered(id string, had, n int, frames ...*packet.Packet) *completion {
	list := c.completed(had+1, c.r.soon())[had:]
	ok := len(list) == 1 && list[0].Status == cq.Success && int(list[0].ByteLen) == grhSize+n
	actual := statuses(list)
	if len(list) > 0 {
		actual += fmt.Sprintf(", %d bytes", list[0].ByteLen)
	}
	if !c.r.check(id, ok, fmt.Sprintf("one SUCCESS, %d bytes", grhSize+n), actual, frames...) {
		return nil
	}
	return &list[0]
}

// unheard judges that nothing answers a packet, and nothing completes by it.
func (c *conn) unheard(id string, had int, frames ...*packet.Packet) bool {
	got := c.quiet()
	return c.r.check(id, got == nil && len(c.completions) == had, "silence, and no completion", happened(got, c.completions[had:]), append(frames, got)...)
}

var wrongQKey = &Test{
	ID: "X09_311", Title: "Q_Key of a datagram",
	Abstract: "Datagrams with another Q_Key than the queue pair's are dropped; one with its own is delivered.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Make a queue pair of UD, and have the device post receive requests."},
	Procedure:  []string{"Send a datagram with another Q_Key: each bit of it changed, and 0. Wait for 10 ms.", "Send one with the right Q_Key, and poll."},
	Assertions: []Assertion{{"ours#01", "A datagram with another Q_Key is not answered, and completes nothing."}, {"ours#02", "The right one completes one receive request with success."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours; the section is 9.6.1.4.1. The counter of Q_Key violations cannot be read through the verbs."}},
	Breaks:     []string{"UD-QKEY-001"},
	run: func(r *run) {
		c := r.datagram()
		for bit := range 33 {
			r.again(1)
			key := uint32(ownQKey ^ 1<<bit)
			if bit == 32 {
				key = 0
			}
			c.postReceive(128)
			had := len(c.completions)
			p := c.request(packet.SendOnly, pattern(1, 64), nil)
			c.next = c.next.Add(1)
			bad := c.spoiled(p, sealed(func(p *packet.Packet) { p.QKey = key }))
			if !c.unheard("ours#01", had, bad) {
				r.why = "a datagram with a wrong Q_Key was delivered"
				return
			}
			r.again(2)
			c.delivered("ours#02", had, 64, c.ask(packet.SendOnly, pattern(1, 64), nil))
		}
	},
}

var privilegedQKey = &Test{
	ID: "X09_312", Title: "datagrams, and privileged Q_Keys",
	Abstract: "Datagrams are sent in the packet that follows from their request; where its Q_Key has the high bit set, with the Q_Key of the queue pair.",
	Covers:   []Statement{{"C10-15", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Make a queue pair of UD."},
	Procedure:  []string{"Have the device post datagrams of 0, 1, 3, 64 and 1024 bytes with and without immediate data, with a Q_Key and with one whose high bit is set; receive each, and poll.", "Have it post datagrams by address handles with other traffic classes and hop limits."},
	Assertions: packetAssertions,
	Decisions:  rebuilt,
	run: func(r *run) {
		c := r.datagram()
		r.at(1)
		for i, n := range []int{0, 1, 3, 64, 1024} {
			for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpSendImm} {
				for _, key := range []uint32{0x7001, 1<<31 | 0x7001, ownQKey} {
					if !c.served(op, n, func(w *wqe.SendRequest) { w.QKey, w.Imm = key+uint32(i), uint32(n) }) {
						return
					}
				}
			}
		}
		r.at(2)
		for _, v := range []wqe.AddressVector{{TClass: 0x20, HopLimit: 33}, {TClass: 0xB8, HopLimit: 1}, {HopLimit: 255}} {
			ah := r.handle(r.memory.pd, v)
			if !c.served(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = ah }) {
				return
			}
		}
	},
}

var headerInMemory = &Test{
	ID: "X09_313", Title: "the 40 bytes before a datagram",
	Abstract: "A datagram is in memory 40 bytes after the beginning, with the IPv4 header in the last 20 of these; its completion has the flag of a GRH, 40 bytes more, and the queue pair that sent it.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:     []string{"Make a queue pair of UD, and have the device post a receive request for each datagram."},
	Procedure: []string{"Send datagrams of 0, 1, 64 and 1024 bytes, with and without immediate data, and poll."},
	Assertions: []Assertion{
		{"ours#01", "One receive request completes with success, and 40 bytes more than the datagram."},
		{"ours#02", "The completion has the flag of a GRH, and the immediate data that came."},
		{"ours#03", "It has the queue pair that sent the datagram."},
		{"ours#04", "Memory holds the IPv4 header in bytes 20 to 39."},
		{"ours#05", "Memory holds the payload from byte 40 on."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours; the section is A17.4.5.1. The connection is on IPv4: a native link, with and without GRH, and IPv6 are not tested here."}},
	run: func(r *run) {
		c := r.datagram()
		r.at(1)
		for _, n := range []int{0, 1, 64, 1024} {
			for _, f := range []packet.Fn{packet.SendOnly, packet.SendOnlyImm} {
				_, at := c.postReceive(grhSize + 1024)
				had, data := len(c.completions), pattern(r.seed+uint64(n), n)
				p := c.ask(f, data, func(p *packet.Packet) { p.Imm = uint32(n) })
				e := c.delivered("ours#01", had, n, p)
				if e == nil {
					return
				}
				want := says{qpn: c.qp.QPN, op: cq.DoneRecv, n: uint32(grhSize + n)}
				if f == packet.SendOnlyImm {
					want.flags, want.imm = cq.WithImm, uint32(n)
				}
				got := saying(e)
				r.check("ours#02", got == want && e.Flags&cq.WithGRH != 0, want.String()+", with a GRH", fmt.Sprintf("%v, flags %#x", got, uint8(e.Flags)), p)
				r.check("ours#03", e.SrcQP == c.qpn, fmt.Sprintf("source QP %#x", c.qpn), fmt.Sprintf("%#x", e.SrcQP), p)
				holds, header := r.memoryOf(at, grhSize+n), r.result.Frames[p.Frame-1].Data[14:34]
				r.check("ours#04", bytes.Equal(holds[20:40], header), fmt.Sprintf("% x", header), fmt.Sprintf("% x", holds[20:40]), p)
				r.check("ours#05", bytes.Equal(holds[40:], data), "the payload", dataIs(bytes.Equal(holds[40:], data)), p)
			}
		}
	},
}

var udDrops = &Test{
	ID: "X09_314", Title: "datagrams that find no room, and PSNs of datagrams",
	Abstract: "A datagram for which no receive request waits, or one that is too short, is dropped without an error; gaps and repeats in the PSNs do not matter.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a queue pair of UD."},
	Procedure: []string{
		"Send a datagram while no receive request waits; have the device post one, and wait for 10 ms.", "Send a datagram that fits, and poll.", "Have the device post a receive request of 80 bytes, and send a datagram of 64 bytes.",
		"Send a datagram of 40 bytes, and poll.", "Send datagrams with PSNs 5 ahead, 1 back, the same and 0, and poll after each.",
	},
	Assertions: []Assertion{
		{"ours#01", "A datagram for which none waits is dropped, and does not come when one is posted."},
		{"ours#02", "A datagram that is too long for the receive request completes nothing."},
		{"ours#03", "A datagram that fits is delivered then: one completion with success."},
		{"ours#04", "Datagrams are delivered whatever their PSN."},
	},
	Decisions: ours,
	Breaks:    []string{"UD-PSN-001"},
	run: func(r *run) {
		c := r.datagram()
		r.at(1)
		p := c.ask(packet.SendOnly, pattern(1, 64), nil)
		r.settle()
		c.postReceive(256)
		if !c.unheard("ours#01", 0, p) {
			r.why = "a datagram has come late"
			return
		}
		r.at(2)
		had := len(c.completions)
		c.delivered("ours#03", had, 48, c.ask(packet.SendOnly, pattern(2, 48), nil))
		r.at(3)
		c.postReceive(80)
		p = c.ask(packet.SendOnly, pattern(3, 64), nil)
		if had = len(c.completions); !c.unheard("ours#02", had, p) {
			r.why = "a datagram that is too long has completed a receive request"
			return
		}
		r.at(4)
		c.delivered("ours#03", had, 40, c.ask(packet.SendOnly, pattern(4, 40), nil))
		r.at(5)
		for i, psn := range []packet.PSN{c.next.Add(5), c.next.Add(4), c.next.Add(4), 0} {
			c.postReceive(256)
			c.next = psn
			had = len(c.completions)
			c.delivered("ours#04", had, 40, c.ask(packet.SendOnly, pattern(uint64(5+i), 40), nil))
		}
	},
}

var longerThanMTU = &Test{
	ID: "X09_315", Title: "datagrams longer than the MTU of the port",
	Abstract: "A datagram that is longer than the MTU of the port is not sent, and its request completes without an error.",
	Covers:   []Statement{{"C10-93.1.1", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:     []string{"For each datagram make a queue pair of UD."},
	Procedure: []string{"Have the device post a datagram of 1 byte more than the MTU, of 904 more and of four times as many, poll, and wait for 10 ms.", "Have it post one as long as the MTU, receive it, and poll."},
	Assertions: append(packetAssertions[:6:6], Assertion{"ours#07", "What is too long is not sent."},
		Assertion{"ours#08", "Its request completes once, with success."}),
	Decisions: []Decision{{"No page of it was found.", "Ours. The MTU of a device in software is 4096 bytes, as all sizes of InfiniBand go up to it. The datagram that fits is compared with its request."}},
	run: func(r *run) {
		for _, n := range []int{r.mtu + 1, r.mtu + 904, 4 * r.mtu} {
			c := r.datagram()
			r.again(1)
			c.posts(wqe.OpSend, n, nil)
			p := c.quiet()
			r.check("ours#07", p == nil, "nothing", happened(p, nil), p)
			c.once("ours#08", c.completions, cq.Success)
		}
		c := r.datagram()
		r.at(2)
		c.attr.PMTU = uint32(r.mtu)
		c.served(wqe.OpSend, r.mtu, nil)
	},
}

// group is a multicast group.
var group = packet.IPv4Addr([]byte{239, 1, 2, 3})

// toGroup sends a packet to the group.
func (c *conn) toGroup(p packet.Packet) *packet.Packet {
	c.to(&p)
	p.Src, p.DestQP = c.net.tester, wqe.MulticastQPN
	return c.r.tester.forwardTo(&p, group, [6]byte{0x01, 0x00, 0x5E, 1, 2, 3}, nil, 0)
}

var multicastCopies = &Test{
	ID: "X09_316", Title: "datagrams to a multicast group",
	Abstract: "A datagram to a multicast group is delivered once to each queue pair that is attached to it, and to no other; one that is attached is not destroyed.",
	Covers:   []Statement{{"o10-2.2.3", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make four queue pairs of UD, and have the device post receive requests for each."},
	Procedure: []string{
		"Send a datagram to the group while no queue pair is attached, then with one and with three attached; poll all.", "Destroy one that is attached.", "Detach all, and send one more.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each queue pair that is attached completes one receive request for each datagram."}, {"ours#02", "Others complete nothing."}, {"ours#03", "Destroying a queue pair that is attached is refused."},
	},
	Decisions: ours,
	run: func(r *run) {
		var list []*conn
		for range 4 {
			c := r.datagram()
			for range 4 {
				c.postReceive(128)
			}
			list = append(list, c)
		}
		attached := 0
		send := func() {
			var had []int
			for _, c := range list {
				had = append(had, len(c.completions))
			}
			p := list[0].toGroup(list[0].request(packet.SendOnly, pattern(1, 64), nil))
			list[0].next = list[0].next.Add(1)
			for i, c := range list {
				if i < attached {
					c.delivered("ours#01", had[i], 64, p)
				} else {
					c.unheard("ours#02", had[i], p)
				}
			}
		}
		for _, n := range []int{0, 1, 3} {
			r.again(1)
			for ; attached < n; attached++ {
				r.must(r.dev.AttachMulticast(ctx, list[attached].qp, group))
			}
			send()
		}
		r.at(2)
		err := r.dev.DestroyQP(ctx, list[0].qp)
		if !r.check("ours#03", err != nil, "an error", fmt.Sprint(err)) {
			r.why = "the queue pair is gone"
			return
		}
		r.at(3)
		for i := range attached {
			r.must(r.dev.DetachMulticast(ctx, list[i].qp, group))
		}
		attached = 0
		send()
	},
}

var connectedToMulticast = &Test{
	ID: "X09_317", Title: "packets of RC and UC to the multicast QP",
	Abstract: "SENDs and WRITEs of RC and UC to QP 0xFFFFFF, at the device's own address and at that of a group to which a queue pair is attached, are dropped.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect queue pairs of RC and UC, and attach one of UD to the group. Have the device post receive requests."},
	Procedure: []string{
		"Send the packet, and wait for 10 ms.", "Send a WRITE to the queue pair of RC, and receive its ACK.",
	},
	Assertions: []Assertion{{"ours#01", "The packet is not answered, and completes nothing."}, {"ours#02", "Memory is untouched."}, {"ours#03", "The queue pair of RC goes on at the PSN of the packet."}},
	Decisions:  ours,
	Breaks:     []string{"UD-MC-001", "UD-MC-004", "BTH-004", "BTH-011"},
	run: func(r *run) {
		rc, uc, ud := r.connect(answering), r.connectAs(qp.TypeUC, answering, nil), r.datagram()
		r.must(r.dev.AttachMulticast(ctx, ud.qp, group))
		all := []*conn{rc, uc, ud}
		for _, c := range all {
			c.postReceive(128)
		}
		msn := uint32(0)
		for _, c := range all[:2] {
			for _, f := range []packet.Fn{packet.SendOnly, packet.WriteOnly} {
				for _, far := range []bool{false, true} {
					r.again(1)
					untouched := pattern(2, 256)
					rc.fill(0, untouched)
					p := c.request(f, pattern(3, 64), nil)
					var sent *packet.Packet
					if far {
						sent = c.toGroup(p)
					} else {
						sent = c.spoiled(p, sealed(func(p *packet.Packet) { p.DestQP = wqe.MulticastQPN }))
					}
					ok := true
					for _, x := range all {
						ok = x.unheard("ours#01", 0, sent) && ok
					}
					if !rc.holds("ours#02", 0, untouched, sent) || !ok {
						r.why = "the device has taken the packet"
						return
					}
					r.again(2)
					msn++
					good := rc.ask(packet.WriteOnly, pattern(3, 64), nil)
					rc.acked("ours#03", good, rc.answer(), good.PSN, msn)
				}
			}
		}
	},
}
