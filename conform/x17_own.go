package conform

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// everything lets time pass, and takes what the device has sent to the queue pair, also what the tester has dropped, in order.
func (c *conn) everything() []*packet.Packet {
	c.r.settle()
	list := slices.Concat(c.arrived, c.r.tester.astray)
	c.arrived, c.r.tester.astray = nil, nil
	slices.SortFunc(list, func(a, b *packet.Packet) int { return int(a.Frame) - int(b.Frame) })
	return list
}

// own has the device send each kind of packet that its service has, requests and answers, with messages of n bytes, and returns them.
func (c *conn) own(n int) (list []*packet.Packet) {
	if c.service == packet.UD {
		c.posts(wqe.OpSend, min(n, pmtu), nil)
		return c.everything()
	}
	packets := max(1, (n+pmtu-1)/pmtu)
	for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpWrite, wqe.OpRead} {
		c.posts(op, n, nil)
		sent := c.everything()
		list = append(list, sent...)
		if !slices.ContainsFunc(sent, func(p *packet.Packet) bool { return p.Info().Request }) {
			c.r.note("the device has sent nothing of the request")
			return list
		}
		c.taken++
		if op == wqe.OpRead {
			c.readResponse(&packet.Packet{PSN: c.expects}, pattern(1, n), c.taken)
		} else {
			c.ack(c.expects.Add(packets-1), positive, c.taken)
		}
		c.expects = c.expects.Add(packets)
	}
	c.tell(wqe.OpWrite, pattern(2, n))
	c.ask(packet.ReadRequest, nil, func(p *packet.Packet) { p.DMALen = uint32(n) })
	return append(list, c.everything()...)
}

// ownEach judges each packet that the device sends with messages of some lengths: wrong says what is wrong with one, or nothing.
func (c *conn) ownEach(id, expected string, wrong func(p *packet.Packet) string, lengths ...int) bool {
	for _, n := range lengths {
		list := c.own(n)
		if len(list) == 0 {
			c.r.open(id, "the device has sent nothing")
			return false
		}
		for _, p := range list {
			if w := wrong(p); !c.r.check(id, w == "", expected, actually(w, expected), p) {
				c.r.why = "the device sends what it must not"
				return false
			}
		}
	}
	return true
}

// pathed are the attributes of a queue pair that waits, with a traffic class and a hop limit.
func pathed(tclass, hops uint8) func(a *qp.Attr) {
	return func(a *qp.Attr) {
		patient(a)
		a.TClass, a.HopLimit, a.QKey = tclass, hops, ownQKey
		a.Known |= qp.KnowsTClass
	}
}

// eachPath runs for a queue pair of RC, and for one of UD, on each network of RoCEv2.
func (r *run) eachPath(change func(a *qp.Attr), do func(c *conn) bool) {
	for _, n := range r.ways.v2() {
		r.use(n)
		for _, t := range []qp.Type{qp.TypeRC, qp.TypeUD} {
			if !do(r.connectAs(t, change, nil)) {
				return
			}
		}
	}
}

// bothTopology is of tests on both versions of IP.
const bothTopology = "tester and device under test, one link, RoCEv2 on IPv4 and on IPv6"

var encapsulations = &Test{
	ID: "X17_001", Title: "RoCEv2 over IPv4 and IPv6",
	Abstract: "Connections and datagrams work over IPv4 and over IPv6, one after the other at one port, and a packet is Ethernet, IP, UDP, BTH and what its opcode needs, and ICRC.",
	Covers:   []Statement{{"CA17-1", Stated}, {"CA17-2", Stated}}, Topology: bothTopology, Needs: Control | Memory,
	Setup: []string{"On each version of IP connect a queue pair of RC, and make one of UD with a receive request."},
	Procedure: []string{
		"Send a WRITE to the queue pair of RC, and receive its ACK.", "Have the device send SENDs, WRITEs and READs, and answer them; send a WRITE and a READ.", "Send a datagram, and poll.", "Have the device send a datagram.",
	},
	Assertions: []Assertion{
		{"ours#01", "The WRITE is acknowledged."},
		{"ours#02", "The datagram is received: one completion with success."},
		{"ours#03", "What the device sends has the headers of RoCEv2 on that version of IP, and nothing before or after them."},
	},
	Decisions: ours,
	run: func(r *run) {
		r.eachPath(pathed(0, 64), func(c *conn) bool {
			step := 1
			if c.service == packet.UD {
				step = 3
			}
			r.again(step)
			if c.service == packet.UD {
				c.postReceive(128)
				c.delivered("ours#02", 0, 64, c.ask(packet.SendOnly, pattern(1, 64), nil))
			} else {
				p := c.ask(packet.WriteOnly, pattern(1, 64), nil)
				if !c.acked("ours#01", p, c.answer(), p.PSN, 1) {
					r.why = "the device does not answer on " + c.net.encap.String()
					return false
				}
			}
			r.again(step + 1)
			return c.ownEach("ours#03", c.net.encap.String(), func(p *packet.Packet) string {
				ip := packet.HasIPv4
				if c.net.encap == packet.RoCEv2IPv6 {
					ip = packet.HasIPv6
				}
				const network = packet.HasLRH | packet.HasGRH | packet.HasIPv4 | packet.HasIPv6 | packet.HasUDP | packet.HasBTH | packet.HasICRC | packet.HasVCRC
				if want := ip | packet.HasUDP | packet.HasBTH | packet.HasICRC | p.Info().Headers; p.Has&network != want&network || p.Has&packet.HasExtensions != want&packet.HasExtensions || p.Encap != c.net.encap {
					return fmt.Sprintf("%v, headers %#x", p.Encap, uint32(p.Has))
				}
				return ""
			}, 64, 2*pmtu)
		})
	},
}
