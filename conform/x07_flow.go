package conform

import (
	"fmt"
	"time"

	"ibwitness/link"
	"ibwitness/mad"
	"ibwitness/packet"
)

// linkFlowTests are those of flow control packets.
var linkFlowTests = []*Test{flowInterval, flowBlocks, flowCredits, flowObeyed, flowOperands, flowBad, flowManagement}

// flowWindow is for how long a test watches flow control packets: some forty update intervals.
const flowWindow = int64(10 * time.Millisecond)

// interval is the update interval, 65536 symbol times, in nanoseconds.
const interval = int64(65536 * 4)

// slack is what a flow control packet may come later: the longest packet goes before it, and a clock may be off by some per mille.
const slack = 4222 + interval/100

var flowInterval = &Test{
	ID: "X07_003", Title: "how often flow control packets come",
	Abstract: "On each operational data lane a flow control packet leaves within 65,536 symbol times after the one before.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Watch the flow control packets for 10 ms.",
	},
	Assertions: []Assertion{{"ours#01", "The longest gap on each lane is not longer than 65,536 symbol times, and 1 % and the longest packet more."}},
	Decisions:  ours,
	run: func(r *run) {
		m := r.begins()
		c := m.cable
		m.activates()
		r.at(2)
		c.forget()
		from := r.now()
		r.wait(flowWindow)
		for vl := range c.count {
			longest, after := gap(c.flows, vl, from, r.now())
			r.check("ours#01", longest <= interval+slack, "at most "+exact(interval), fmt.Sprintf("%s on VL %d", exact(longest), vl), after.proof()...)
		}
	},
}

// gap is the longest time between two times without a flow control packet of a lane, and the flow control packet before it; nil: none was before it.
func gap(flows []flowAt, vl int, from, to int64) (longest int64, after *flowAt) {
	var last *flowAt
	for i := range flows {
		f := &flows[i]
		if int(f.VL) != vl {
			continue
		}
		if f.at-from > longest {
			longest, after = f.at-from, last
		}
		from, last = f.at, f
	}
	if to-from > longest {
		longest, after = to-from, last
	}
	return longest, after
}

var flowBlocks = &Test{
	ID: "X07_004", Title: "FCTBS",
	Abstract: "FCTBS of each flow control packet is how many blocks of its lane have gone before it, modulo 4096.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device send datagrams of 36 to 4068 bytes, 5000 blocks in all.",
	},
	Assertions: []Assertion{
		{"ours#01", "FCTBS is the count of blocks that have come."},
		{"ours#02", "Each packet is right: its VCRC, its length and link version, and reserved bits of its LRH that are 0."},
	},
	Decisions: []Decision{{"Whether the two bytes of the VCRC count where they begin a block no public source says.", "No packet ends just at the end of a block."}},
	run: func(r *run) {
		m, d := r.active()
		c := m.cable
		r.at(2)
		m.quiet = true
		c.forget()
		base := uint16(0)
		if f := lastFlow(c.flows, 0); f != nil {
			base = f.FCTBS
		}
		for i, blocks := 0, 0; blocks < 5000; i++ {
			size := 36 + (i*252)%4033
			d.sendsSome(1, size)
			r.wait(int64(20 * time.Microsecond))
			blocks += size/link.Block + 1
			c.counts(&base)
		}
		r.settle()
		c.counts(&base)
	},
}

// counts judges what has come of lane 0 since it was called last: flow control packets say how many blocks came before them.
func (c *cable) counts(base *uint16) {
	at := 0
	for _, p := range c.datas {
		for at < len(c.flows) && c.flows[at].frame < p.Frame {
			c.says(&c.flows[at], *base)
			at++
		}
		ok := p.VCRCState == packet.CRCGood && p.LVer == 0 && p.LRHRes == 0 && p.Flaws == 0
		c.r.check("ours#02", ok, "a packet that is right", fmt.Sprintf("VCRC %v, link version %d, reserved bits %#x, flaws %#x", p.VCRCState, p.LVer, p.LRHRes, p.Flaws), p)
		*base += uint16(link.Blocks(int(p.PktLen) * 4))
	}
	for ; at < len(c.flows); at++ {
		c.says(&c.flows[at], *base)
	}
	c.forget()
}

// says judges FCTBS of a flow control packet of lane 0.
func (c *cable) says(f *flowAt, blocks uint16) {
	if f.VL == 0 {
		c.r.check("ours#01", f.FCTBS == blocks%link.Modulus, fmt.Sprintf("FCTBS %d", blocks%link.Modulus), fmt.Sprintf("FCTBS %d", f.FCTBS), f.shown())
	}
}

var flowCredits = &Test{
	ID: "X07_005", Title: "FCCL",
	Abstract: "FCCL is the count of blocks that have come right, as the newest FCTBS of the other port corrects it, and the blocks that are free, at most 2048.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Stop the flow control packets of the tester but for one of lane 0 with the FCTBS that is right. Wait for two update intervals.",
		"Send 20 datagrams, and wait for two update intervals.",
		"Send five more whose VCRC is wrong, and wait for two update intervals.",
		"Tell FCTBS with these, and wait for two update intervals.",
		"Tell 5 blocks more than were sent, then the right count, each with a wait of two update intervals.",
		"Have the device send datagrams, and watch its FCCL.",
	},
	Assertions: []Assertion{
		{"ours#01", "FCCL is not more than 2048 ahead of the blocks that have come."},
		{"ours#02", "It counts the datagrams that are right."},
		{"ours#03", "It does not count those that are damaged."},
		{"ours#04", "It follows FCTBS of the other port."},
		{"ours#05", "While nothing comes it does not go back."},
	},
	Decisions: ours, Breaks: []string{"LNK-FCP-004", "LNK-FCP-008", "LNK-CRC-001"},
	run: func(r *run) {
		m, d := r.active()
		c := m.cable
		tells := func(more uint16) *flowAt {
			c.tell(0, func(f *link.FlowControl) { f.FCTBS = (f.FCTBS + more) % link.Modulus })
			return c.listens(0)
		}
		r.at(2)
		c.silent = true
		first := tells(0)
		l := &c.lanes[0]
		free := ahead(first, l.sent)
		r.check("ours#01", free <= link.Window, "at most 2048", fmt.Sprintf("%d", free), first.proof()...)
		judge := func(id string, f *flowAt, abr uint16) {
			want := (abr + free) % link.Modulus
			r.check(id, f != nil && f.FCCL == want, fmt.Sprintf("FCCL %d", want), flowText(f), f.proof()...)
			if f != nil {
				r.check("ours#01", ahead(f, abr) <= link.Window, "at most 2048 more than have come", fmt.Sprintf("%d", ahead(f, abr)), f.proof()...)
			}
		}
		r.at(3)
		for range 20 {
			d.datagramTo(nil)
		}
		judge("ours#02", c.listens(0), l.sent)
		r.at(4)
		right := l.sent
		for range 5 {
			d.datagramTo(func(p *packet.Packet) { p.VCRC ^= 0xFFFF })
		}
		judge("ours#03", c.listens(0), right)
		r.at(5)
		judge("ours#04", tells(0), l.sent)
		r.at(6)
		judge("ours#04", tells(5), l.sent+5)
		judge("ours#04", tells(0), l.sent)
		r.at(7)
		c.forget()
		d.sendsSome(10, 512)
		r.wait(4 * interval)
		for i := range c.flows {
			if f := &c.flows[i]; f.VL == 0 {
				judge("ours#05", f, l.sent)
			}
		}
	},
}

// ahead is how far FCCL of a flow control packet is ahead of a count.
func ahead(f *flowAt, count uint16) uint16 {
	if f == nil {
		return 0
	}
	return (f.FCCL - count) % link.Modulus
}

// listens waits for two update intervals, and returns the last flow control packet of a lane.
func (c *cable) listens(vl int) *flowAt {
	c.forget()
	c.r.wait(2 * interval)
	return lastFlow(c.flows, vl)
}

// bounced takes the link down and up to Active with so many blocks offered on each lane and no more, by a tester that tells of them only when it is asked.
func (m *manager) bounced(blocks uint16) {
	c := m.cable
	m.down(int64(10 * time.Millisecond))
	for vl := range c.lanes {
		c.lanes[vl].free = blocks
	}
	m.up()
	m.activates()
	m.r.wait(2 * interval)
	c.forget()
}

// creditBlocks are offered, and creditPackets of two blocks each are waiting.
const (
	creditBlocks  = 8
	creditPackets = 20
	creditSize    = 64 // bytes: with the headers, two blocks
)

var flowObeyed = &Test{
	ID: "X07_006", Title: "no more blocks than are offered",
	Abstract: "A port sends no more blocks than the other one offers, and goes on when it offers more.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " Take the link down, and up to Active with 8 blocks offered on each lane, which stays so.",
		"Have the device post 20 datagrams of two blocks each. Wait for ten update intervals.",
		"Offer 2048 blocks.",
	},
	Assertions: []Assertion{{"ours#01", "Not more than 8 blocks come."}, {"ours#02", "8 blocks come."}, {"ours#03", "When more are offered all come."}},
	Decisions:  ours,
	run: func(r *run) {
		m := r.begins()
		c := m.cable
		d := r.datagram()
		m.bounced(creditBlocks)
		c.lanes[0].abr, c.holds = 0, true
		r.at(2)
		d.sendsSome(creditPackets, creditSize)
		r.wait(10 * interval)
		got := blocksIn(c.dataOf())
		r.check("ours#01", got <= creditBlocks, "at most 8 blocks", fmt.Sprintf("%d", got), c.dataOf()...)
		r.check("ours#02", got >= creditBlocks, "8 blocks", fmt.Sprintf("%d", got), c.dataOf()...)
		r.at(3)
		c.holds = false
		for vl := range c.lanes {
			c.lanes[vl].free = link.Window
		}
		c.tell(0, nil)
		r.settle()
		all := len(c.dataOf())
		r.check("ours#03", all == creditPackets, fmt.Sprintf("%d packets", creditPackets), fmt.Sprintf("%d", all), c.dataOf()...)
	},
}

var flowOperands = &Test{
	ID: "X07_007", Title: "operands and form of flow control packets",
	Abstract: "Flow control packets have operand init in Initialize and only there, else normal; they have six bytes, and the LPCRC that fits them.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " Watch the flow control packets for 2 ms.",
		"Set PortState Armed, and watch for 2 ms.",
		"Set PortState Active, have the device send ten datagrams, and watch for 2 ms.",
	},
	Assertions: []Assertion{
		{"ours#01", "In Initialize the operand is init."},
		{"ours#02", "In Armed and Active it is normal."},
		{"ours#03", "Each has six bytes, and its LPCRC is right."},
	},
	Decisions: []Decision{{"The LPCRC is that of the VCRC over four bytes, by no public source.", "Ours; a wrong one is a failure here."}},
	run: func(r *run) {
		m := r.begins()
		c := m.cable
		d := r.datagram()
		watch := func(id string, op link.Op) {
			c.forget()
			r.wait(int64(2 * time.Millisecond))
			for i := range c.flows {
				f := &c.flows[i]
				if r.check("ours#03", f.size == link.Size && f.Good, "six bytes, LPCRC right", fmt.Sprintf("%d bytes, LPCRC right: %t", f.size, f.Good), f.shown()) {
					r.check(id, f.Op == op, op.String(), flowText(f), f.shown())
				}
			}
		}
		watch("ours#01", link.Init)
		r.at(2)
		m.advance(3)
		watch("ours#02", link.Normal)
		r.at(3)
		m.advance(4)
		m.cable.follow(m.from.Node)
		d.sendsSome(10, 512)
		watch("ours#02", link.Normal)
	},
}

var flowBad = &Test{
	ID: "X07_008", Title: "flow control packets that are not to be used",
	Abstract: "A port does not use credits of flow control packets with a reserved operand or a wrong LPCRC.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " Take the link down, and up to Active with no blocks offered on any lane.",
		"Have the device post a datagram. Offer 100 blocks with each operand from 2 to 15, and wait for an update interval after each.",
		"Offer them with operand normal and a wrong LPCRC, and wait for two update intervals.",
		"Offer them by a flow control packet that is right.",
	},
	Assertions: []Assertion{
		{"ours#01", "With a reserved operand nothing is sent."}, {"ours#02", "With a wrong LPCRC nothing is sent."}, {"ours#03", "Then the datagram is sent."},
	},
	Decisions: ours, Breaks: []string{"LNK-FCP-001", "LNK-FCP-002"},
	run: func(r *run) {
		m := r.begins()
		c := m.cable
		d := r.datagram()
		m.bounced(0)
		r.at(2)
		d.sendsSome(1, creditSize)
		for op := link.Op(2); op < 16; op++ {
			p := c.tell(0, func(f *link.FlowControl) { f.Op, f.FCCL = op, f.FCCL+100 })
			r.wait(interval)
			r.check("ours#01", len(c.dataOf()) == 0, "nothing", fmt.Sprintf("%d packets after operand %d", len(c.dataOf()), op), append(c.dataOf(), p)...)
		}
		r.at(3)
		f := link.FlowControl{FCTBS: c.lanes[0].sent, FCCL: 100}
		b := f.Append(nil)
		b[5] ^= 0xFF
		p := c.sends(link.Packet, link.Mark{}, b, new(packet.Packet))
		r.wait(2 * interval)
		r.check("ours#02", len(c.dataOf()) == 0, "nothing", fmt.Sprintf("%d packets", len(c.dataOf())), append(c.dataOf(), p)...)
		r.at(4)
		c.lanes[0].free = 100
		c.tell(0, nil)
		r.settle()
		r.check("ours#03", len(c.dataOf()) == 1, "one packet", fmt.Sprintf("%d", len(c.dataOf())), c.dataOf()...)
	},
}

var flowManagement = &Test{
	ID: "X07_009", Title: "VL 15 and credits",
	Abstract: "VL 15 has no flow control packets and needs no credits.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device send ten datagrams, and watch its flow control packets for 10 ms.",
		"Take the link down, and up to Active with no blocks offered on any lane. Get PortInfo.",
	},
	Assertions: []Assertion{{"ours#01", "No flow control packet is of VL 15."}, {"ours#02", "Without credits on any data lane Get(PortInfo) is answered."}},
	Decisions:  ours,
	run: func(r *run) {
		m, d := r.active()
		c := m.cable
		r.at(2)
		c.forget()
		d.sendsSome(10, 512)
		r.wait(flowWindow)
		for i := range c.flows {
			f := &c.flows[i]
			r.check("ours#01", f.VL < link.Lanes, "a data lane", flowText(f), f.shown())
		}
		r.at(3)
		m.down(int64(10 * time.Millisecond))
		for vl := range c.lanes {
			c.lanes[vl].free = 0
		}
		m.up()
		r.answered("ours#02", m.ask(mad.Get, mad.AttrPortInfo, 0, nil), granted, "without credits")
	},
}
