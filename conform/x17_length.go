package conform

import (
	"encoding/binary"
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
)

// lying sends a packet with a change after which only its checksums are right.
func (c *conn) lying(change func(p *packet.Packet)) sendsWrong {
	return func(p packet.Packet) *packet.Packet {
		return c.spoiled(p, func(p *packet.Packet) {
			change(p)
			p.SealIPv4()
			p.SealICRC()
		})
	}
}

var ownLengths = &Test{
	ID: "X17_005", Title: "lengths of IP and UDP",
	Abstract: "The lengths in the IP and UDP headers of what the device sends count through the ICRC; packets whose lengths are wrong are dropped.",
	Covers:   []Statement{{"CA17-6", Stated}, {"CA17-15", Stated}, {"CA17-21", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup:     []string{"On each version of IP connect a queue pair of RC, and make one of UD."},
	Procedure: append(droppedSteps("with a wrong IP length or UDP length"), "Have the device send messages of many lengths, and send it some."),
	Assertions: append(slices.Clone(droppedAssertions),
		Assertion{"ours#04", "The length in the IP header counts through the ICRC."}, Assertion{"ours#05", "The UDP length counts the UDP header, and what follows through the ICRC."}),
	Decisions: ours,
	Breaks:    []string{"ROC-V2-006", "ROC-V2-014", "ROC-V2-016", "ROC-V2-019", "BTH-018"},
	run: func(r *run) {
		for _, n := range r.ways.v2() {
			r.use(n)
			c := r.connect(pathed(0, 64))
			c.droppedEach(
				c.lying(func(p *packet.Packet) { p.PayLen -= 4 }), c.lying(func(p *packet.Packet) { p.PayLen += 4 }),
				c.lying(func(p *packet.Packet) { p.UDPLen -= 4 }), c.lying(func(p *packet.Packet) { p.UDPLen += 4 }),
				c.lying(func(p *packet.Packet) { p.UDPLen = 8 }),
			)
			if r.why != "" {
				return
			}
			r.again(4)
			for _, c := range []*conn{r.connect(pathed(0, 64)), r.connectAs(qp.TypeUD, pathed(0, 64), nil)} {
				for _, n := range []int{0, 1, 2, 3, 4, 61, 64, pmtu - 1, pmtu, pmtu + 1} {
					for _, p := range c.own(n) {
						right := *p
						right.FitLengths()
						r.check("ours#04", p.PayLen == right.PayLen, fmt.Sprintf("%d", right.PayLen), fmt.Sprintf("%d", p.PayLen), p)
						r.check("ours#05", p.UDPLen == right.UDPLen, fmt.Sprintf("%d", right.UDPLen), fmt.Sprintf("%d", p.UDPLen), p)
					}
				}
			}
		}
	},
}

// flipped sends a packet of which a bit is changed on its way, at an offset from the IP header; a checksum of IPv4 is made right again.
func (c *conn) flipped(p packet.Packet, at int) *packet.Packet {
	t := c.r.tester
	c.to(&p)
	p.Src = c.net.tester
	t.complete(&p, c.net.device)
	frame := p.AppendEthernet(nil, t.mac, t.deviceMAC)
	b := frame[len(frame)-len(p.Append(nil)):]
	if b[at] ^= 0x10; c.net.encap == packet.RoCEv2IPv4 {
		binary.BigEndian.PutUint16(b[10:], 0)
		sum := uint32(0)
		for i := 0; i < 20; i += 2 {
			sum += uint32(binary.BigEndian.Uint16(b[i:]))
		}
		sum = sum>>16 + sum&0xFFFF
		binary.BigEndian.PutUint16(b[10:], ^uint16(sum+sum>>16))
	}
	return t.leave(&p, frame)
}

// masked are the offsets of bytes that are left out of the ICRC, as the network may change them.
func (n *network) masked() []int {
	if n.encap == packet.RoCEv2IPv4 {
		return []int{1, 8, 10, 11, 26, 27, 32}
	}
	return []int{0, 1, 2, 3, 7, 46, 47, 52}
}

// destination reports whether a byte, at an offset from the IP header, is one of the destination address.
func (n *network) destination(at int) bool {
	if n.encap == packet.RoCEv2IPv4 {
		return at >= 16 && at < 20
	}
	return at >= 24 && at < 40
}

// onTheWay are changes that the network makes of what is left out of the ICRC.
var onTheWay = []func(p *packet.Packet){
	func(p *packet.Packet) { p.TClass = 34 << 2 }, func(p *packet.Packet) { p.HopLmt = 3 }, func(p *packet.Packet) { p.UDPSum = udpChecksum(p) },
	func(p *packet.Packet) { p.FECN = true }, func(p *packet.Packet) { p.BECN = true }, func(p *packet.Packet) { p.Resv8a = 0x3F }, func(p *packet.Packet) { p.FlowLabel = 0x54321 },
}

// udpChecksum is the right checksum of the UDP header of a packet, and not 0.
func udpChecksum(p *packet.Packet) uint16 {
	q := *p
	q.UDPSum = 0
	b := q.Append(nil)
	addresses := 2 * 4
	if p.Encap == packet.RoCEv2IPv6 {
		addresses = 2 * 16
	}
	const protocol, udpHeader = 17, 8
	sum := uint32(protocol) + uint32(p.UDPLen)
	for b = b[q.BTHOff-udpHeader-addresses:]; len(b) > 1; b = b[2:] { // all of it is a multiple of 4 bytes
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	for sum>>16 > 0 {
		sum = sum>>16 + sum&0xFFFF
	}
	return ^uint16(sum)
}

var maskedFields = &Test{
	ID: "X17_007", Title: "what the ICRC covers",
	Abstract: "A packet in which the network has changed a field that the ICRC leaves out is taken; one of which any other byte is changed is dropped without an answer. What the device sends has a right ICRC.",
	Covers:   []Statement{{"CA17-22", Stated}, {"CA17-24", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup: []string{"On each version of IP connect a queue pair of RC, and make one of UD with a receive request."},
	Procedure: []string{
		"Send WRITEs with another traffic class, hop limit, UDP checksum, FECN, BECN, reserved bits beside these and flow label than the ICRC was computed for; receive the ACK of each.",
		"Send a WRITE with one bit changed in each other byte from the IP header through the ICRC, one after the other, and wait for 10 ms after each.", "Send a right WRITE with the same PSN, and receive its ACK.",
		"Send datagrams with one bit changed in each byte from the DETH through the ICRC, then a right one, and poll.", "Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ. Have it send datagrams.",
	},
	Assertions: []Assertion{
		{"ours#01", "A WRITE with a change that the ICRC leaves out is acknowledged."},
		{"ours#02", "One with any other change is not answered."},
		{"ours#03", "The right WRITE at its PSN is acknowledged, with an MSN that does not count those."},
		{"ours#04", "A datagram with a change completes nothing, and the right one one receive request."},
		{"ours#05", "The ICRC of what the device sends is right."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. The checksum of the IPv4 header is right in all packets, and a UDP checksum that is not 0 too, as a network makes them."}},
	Breaks:    []string{"BTH-009", "ROC-V2-019", "ROC-V2-004", "ROC-V2-009", "NET-GRH-013"},
	run: func(r *run) {
		r.eachPath(pathed(0, 64), func(c *conn) bool {
			if c.service == packet.UD {
				return c.damagedDatagrams() && c.ownICRC()
			}
			r.again(1)
			msn := uint32(0)
			for _, change := range onTheWay {
				msn++
				p := c.spoiled(c.request(packet.WriteOnly, pattern(3, 64), nil), func(p *packet.Packet) { change(p); p.SealIPv4() })
				c.next = c.next.Add(1)
				if !c.acked("ours#01", p, c.answer(), p.PSN, msn) {
					return false
				}
			}
			r.again(2)
			end := len(r.result.Frames[len(r.result.Frames)-2].Data) - 14
			for at := range end {
				if slices.Contains(c.net.masked(), at) {
					continue
				}
				if c.r.live != nil && c.net.destination(at) { // it would go to another host
					continue
				}
				p := c.flipped(c.request(packet.WriteOnly, pattern(3, 64), nil), at)
				got := c.quiet()
				if !r.check("ours#02", got == nil, fmt.Sprintf("no answer where byte %d is changed", at), happened(got, nil), p, got) {
					r.why = "the device has answered a damaged packet"
					return false
				}
			}
			r.again(3)
			p := c.ask(packet.WriteOnly, pattern(3, 64), nil)
			return c.acked("ours#03", p, c.answer(), p.PSN, msn+1) && c.ownICRC()
		})
	},
}

// damagedDatagrams sends datagrams that are damaged, and a right one.
func (c *conn) damagedDatagrams() bool {
	r := c.r
	r.again(4)
	c.postReceive(128)
	from := 40
	if c.net.encap == packet.RoCEv2IPv6 {
		from = 60
	}
	for at := from; at < from+8+64+4; at++ {
		p := c.flipped(c.request(packet.SendOnly, pattern(3, 64), nil), at)
		if !c.unheard("ours#04", 0, p) {
			r.why = "the device has taken a damaged datagram"
			return false
		}
	}
	p := c.ask(packet.SendOnly, pattern(3, 64), nil)
	return c.once("ours#04", c.completed(1, r.soon()), cq.Success, p)
}

// ownICRC judges the ICRC of what the device sends.
func (c *conn) ownICRC() bool {
	c.r.again(5)
	return c.ownEach("ours#05", "a right ICRC", func(p *packet.Packet) string {
		if p.ICRCState != packet.CRCGood {
			return "a wrong ICRC"
		}
		return ""
	}, 64, 3*pmtu)
}
