package conform

import (
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/subnet/sma"
	"ibwitness/wqe"
)

// linkDataTests are those of data packets in the states of a link.
var linkDataTests = []*Test{dataInInitialize, dataInArmed, blocksFromZero}

// adapterCable is the initialisation of the tests of adapters on native links.
var adapterCable = []string{"Link the tester with the port of the adapter, and have the link train up to Initialize. The tester offers credits on each data lane."}

const activeStep = "Take the link to Active."

// sendsSome has the device send n datagrams of so many bytes each by the queue pair.
func (c *conn) sendsSome(n, size int) {
	for range n {
		c.posts(wqe.OpSend, size, nil)
	}
}

// dataOf are the packets on data lanes that have come since a test forgot them.
func (c *cable) dataOf() (list []*packet.Packet) {
	for _, p := range c.datas {
		if p.VL < link.Lanes || p.DestQP > gsiQP {
			list = append(list, p)
		}
	}
	return list
}

// forget forgets what has come.
func (c *cable) forget() { c.flows, c.datas = nil, nil }

// tells sends a datagram to a queue pair of UD, and returns it.
func (c *conn) datagramTo(change func(p *packet.Packet)) *packet.Packet {
	p := c.request(packet.SendOnly, pattern(1, 64), nil)
	c.next = c.next.Add(1)
	return c.spoiled(p, change)
}

var dataInInitialize = &Test{
	ID: "X07_001", Title: "data packets in Initialize",
	Abstract: "In Initialize a port sends no data packet and drops those that come; in Active both pass.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart,
		"In Initialize have the device post a datagram and a receive request, send it a datagram, and wait for 10 ms.",
		activeStep + " Wait for 10 ms, and send a datagram.",
	},
	Assertions: []Assertion{
		{"ours#01", "In Initialize the device sends no data packet."},
		{"ours#02", "The datagram that comes in Initialize completes no receive request."},
		{"ours#03", "In Active what was posted is sent."},
		{"ours#04", "The datagram that comes in Active completes the receive request."},
	},
	Decisions: ours, Breaks: []string{"LNK-ST-002"},
	run: func(r *run) {
		m := r.begins()
		d := r.datagram()
		r.at(2)
		m.cable.forget()
		d.postReceive(256)
		d.posts(wqe.OpSend, 64, nil)
		p := d.datagramTo(nil)
		r.settle()
		sent := m.cable.dataOf()
		r.check("ours#01", len(sent) == 0, "no data packet", fmt.Sprintf("%d", len(sent)), sent...)
		had := d.receives()
		r.check("ours#02", had == 0, "no completion of the receive request", fmt.Sprintf("%d", had), p)
		r.at(3)
		m.activates()
		r.settle()
		r.check("ours#03", len(m.cable.dataOf()) == 1, "one data packet", fmt.Sprintf("%d", len(m.cable.dataOf())), m.cable.dataOf()...)
		if had == 0 {
			p = d.datagramTo(nil)
			r.settle()
			r.check("ours#04", d.receives() == 1, "one completion of the receive request", fmt.Sprintf("%d", d.receives()), p)
		}
	},
}

// receives is how many receive requests have completed.
func (c *conn) receives() (n int) {
	for _, x := range c.completions {
		if x.Op == cq.DoneRecv {
			n++
		}
	}
	return n
}

var dataInArmed = &Test{
	ID: "X07_002", Title: "the first data packet in Armed",
	Abstract: "A port that is Armed goes to Active when a data packet comes.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart,
		"Set PortState Armed, and get PortInfo.",
		"Send a datagram, and get PortInfo.",
	},
	Assertions: []Assertion{{"ours#01", "Before the datagram the port is Armed."}, {"ours#02", "After it the port is Active."}},
	Decisions:  ours,
	run: func(r *run) {
		m := r.begins()
		d := r.datagram()
		r.at(2)
		m.advance(sma.Armed)
		r.linkState("ours#01", sma.Armed)
		r.at(3)
		m.own(m.from, map[string]uint64{"LID": testerLID, "masterSMLID": testerLID, "portState": sma.Active})
		m.cable.follow(m.from.Node)
		d.postReceive(256)
		d.datagramTo(nil)
		r.settle()
		r.linkState("ours#02", sma.Active)
	},
}

var blocksFromZero = &Test{
	ID: "X07_015", Title: "counts of blocks when a link comes up",
	Abstract: "When a link has trained, its ports count blocks from 0.",
	Covers:   []Statement{{"", NoneID}}, Topology: cableTopology, Needs: Control | Memory, cabled: true,
	Setup: adapterCable,
	Procedure: []string{
		cableStart + " " + activeStep,
		"Have the device send ten datagrams. Take the link down for 10 ms, and have it train.",
	},
	Assertions: []Assertion{
		{"ours#01", "The datagrams come, and a flow control packet after them says so."},
		{"ours#02", "The first flow control packet of each lane has operand init and FCTBS 0."},
	},
	Decisions: ours,
	run: func(r *run) {
		m, d := r.active()
		c := m.cable
		r.at(2)
		c.forget()
		d.sendsSome(10, 512)
		r.settle()
		blocks := blocksIn(c.dataOf())
		last := lastFlow(c.flows, 0)
		r.check("ours#01", blocks > 0 && last != nil && last.FCTBS == blocks, fmt.Sprintf("FCTBS %d", blocks), flowText(last), last.proof()...)
		m.down(int64(10 * time.Millisecond))
		c.forget()
		m.up()
		r.settle()
		for vl := range c.count {
			first := firstFlow(c.flows, vl)
			r.check("ours#02", first != nil && first.Op == link.Init && first.FCTBS == 0, "operand init, FCTBS 0", flowText(first), first.proof()...)
		}
	},
}

// blocksIn is how many blocks packets have, modulo 4096.
func blocksIn(list []*packet.Packet) (n uint16) {
	for _, p := range list {
		n += uint16(link.Blocks(int(p.PktLen) * 4))
	}
	return n % link.Modulus
}

// firstFlow and lastFlow are the first and the last flow control packet of a lane.

func firstFlow(flows []flowAt, vl int) *flowAt {
	for i := range flows {
		if int(flows[i].VL) == vl {
			return &flows[i]
		}
	}
	return nil
}

func lastFlow(flows []flowAt, vl int) *flowAt {
	for i := len(flows) - 1; i >= 0; i-- {
		if int(flows[i].VL) == vl {
			return &flows[i]
		}
	}
	return nil
}

// proof is what shows a flow control packet; nothing where there is none.
func (f *flowAt) proof() []*packet.Packet {
	if f == nil {
		return nil
	}
	return []*packet.Packet{f.shown()}
}

func flowText(f *flowAt) string {
	if f == nil {
		return "no flow control packet"
	}
	return fmt.Sprintf("VL %d: operand %d (%v), FCTBS %d, FCCL %d", f.VL, f.Op, f.Op, f.FCTBS, f.FCCL)
}
