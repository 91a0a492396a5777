package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// headerTests are those of the validation of headers.
var headerTests = []*Test{transportVersion, destinationQP, otherService, otherPKey, cutPackets, reservedBits, otherSource}

// What is asserted of a packet that must be dropped.
var droppedAssertions = []Assertion{
	{"ours#01", "The packet is not answered."},
	{"ours#02", "It changes nothing in memory, and no request completes by it."},
	{"ours#03", "A right request at its PSN is acknowledged, with an MSN that does not count it."},
}

// sendsWrong sends a packet, in one way or another wrong.
type sendsWrong func(p packet.Packet) *packet.Packet

// dropped sends a WRITE Only of 64 bytes that must be dropped, and judges that: ours#01 to ours#03. msn is of what was taken before; the result is false where it is not dropped.
func (c *conn) dropped(msn uint32, send sendsWrong) bool {
	r := c.r
	r.again(2)
	untouched, had := pattern(2, 256), len(c.completions)
	c.fill(0, untouched)
	p := send(c.request(packet.WriteOnly, pattern(3, 64), nil))
	got := c.quiet()
	ok := r.check("ours#01", got == nil, "no answer", happened(got, nil), p, got)
	ok = c.holds("ours#02", 0, untouched, p, got) && ok
	ok = r.check("ours#02", len(c.completions) == had, "no completion", statuses(c.completions[had:]), p) && ok
	if !ok {
		r.why = "the device has taken the packet"
		return false
	}
	r.again(3)
	good := c.ask(packet.WriteOnly, pattern(3, 64), nil)
	return c.acked("ours#03", good, c.answer(), good.PSN, msn+1)
}

// droppedEach begins, and runs dropped for several packets.
func (c *conn) droppedEach(list ...sendsWrong) {
	c.r.again(1)
	c.begin()
	for i, send := range list {
		if !c.dropped(uint32(i+1), send) {
			return
		}
	}
}

// changed sends a packet with a change after which its lengths and checksums are right.
func (c *conn) changed(change func(p *packet.Packet)) sendsWrong {
	return func(p packet.Packet) *packet.Packet { return c.spoiled(p, sealed(change)) }
}

// droppedSteps are the steps of a test that does that.
func droppedSteps(what string) []string {
	return []string{"Send a WRITE, and receive its ACK.", "Send a WRITE " + what + ", and wait for 10 ms.", "Send a right WRITE with the same PSN, and receive its ACK."}
}

var transportVersion = &Test{
	ID: "X09_001", Title: "transport version",
	Abstract: "WRITEs with each transport version from 1 to 15 are dropped.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC."}, Procedure: droppedSteps("with the transport version, from 1 to 15"),
	Assertions: droppedAssertions, Decisions: ours, Breaks: []string{"BTH-002"},
	run: func(r *run) {
		c := r.connect(answering)
		var list []sendsWrong
		for v := uint8(1); v < 16; v++ {
			list = append(list, c.changed(func(p *packet.Packet) { p.TVer = v }))
		}
		c.droppedEach(list...)
	},
}

var destinationQP = &Test{
	ID: "X09_003", Title: "queue pairs that are not there, or do not receive",
	Abstract: "Requests to a queue pair that does not exist, and to ones in RESET, INIT and ERR, are dropped.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC. Make one that stays in RESET, one in INIT, and one that goes to ERR from RTS."},
	Procedure: []string{
		"Send a WRITE to the queue pair, and wait for 10 ms.", "Send a WRITE to the connected one, and receive its ACK.",
	},
	Assertions: []Assertion{{"ours#01", "The request is not answered."}, {"ours#02", "Memory is untouched."}, {"ours#03", "The queue pair that is connected goes on."}},
	Decisions:  ours,
	Breaks:     []string{"BTH-005", "BTH-011", "QPS-RST-001", "QPS-INI-001", "QPS-ERR-001"},
	run: func(r *run) {
		c := r.connect(answering)
		inError := r.connect(answering)
		r.must(r.dev.TransitionQP(ctx, inError.qp, qp.Err, qp.Attr{}))
		reset, inInit := r.unconnected(qp.Reset), r.unconnected(qp.Init)
		for i, qpn := range []uint32{c.qp.QPN ^ 0x8000, reset, inInit, inError.qp.QPN} {
			r.again(1)
			untouched := pattern(2, 256)
			c.fill(0, untouched)
			p := c.request(packet.WriteOnly, pattern(3, 64), nil)
			if qpn == inError.qp.QPN {
				p.PSN = inError.next
			}
			c.to(&p)
			p.DestQP = qpn
			sent := r.tester.send(&p, nil)
			got := c.quiet()
			for _, x := range inError.arrived {
				got = x
			}
			inError.arrived = nil
			r.check("ours#01", got == nil, "no answer", happened(got, nil), sent, got)
			c.holds("ours#02", 0, untouched, sent, got)
			r.again(2)
			good := c.ask(packet.WriteOnly, pattern(4, 64), nil)
			c.acked("ours#03", good, c.answer(), good.PSN, uint32(i+1))
		}
	},
}

// unconnected makes a queue pair of RC that is left in RESET or INIT, and returns its number.
func (r *run) unconnected(state qp.State) uint32 {
	c, err := r.dev.CreateCQ(ctx, 16)
	r.must(err)
	q, err := r.dev.CreateQP(ctx, qp.InitAttr{Type: qp.TypeRC, PD: r.memory.pd, SendCQ: c, RecvCQ: c, MaxSend: 1, MaxReceive: 1, MaxSendSegments: 1, MaxRecvSegments: 1})
	r.must(err)
	if state == qp.Init {
		a := qp.Attr{PKey: 0xFFFF, Port: 1, Access: wqe.RemoteWrite}
		a.Known, _ = qp.Takes(qp.TypeRC, qp.Reset, qp.Init)
		r.must(r.dev.TransitionQP(ctx, q, qp.Init, a))
	}
	return q.QPN
}

// services are those whose opcodes a queue pair may meet.
var services = []packet.Service{packet.RC, packet.UC, packet.RD, packet.UD, packet.XRC}

var otherService = &Test{
	ID: "X09_004", Title: "opcodes of other services",
	Abstract: "SENDs with the opcodes of all other services to queue pairs of RC, UC and UD are dropped; one of its own is taken.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each of the three services make a queue pair, connected where it has a peer, and have the device post receive requests."},
	Procedure: []string{
		"Send a SEND Only with the opcode of each other service, and wait for 10 ms.", "Send a right SEND with the same PSN.",
	},
	Assertions: []Assertion{{"ours#01", "The packet is not answered."}, {"ours#02", "No receive request completes by it."}, {"ours#03", "The right SEND is taken: one receive request completes with success, and on RC it is acknowledged."}},
	Decisions:  ours,
	Breaks:     []string{"BTH-004", "UC-OPC-001", "UC-OPC-002", "UD-OPC-001", "XRC-TGT-001"},
	run: func(r *run) {
		for _, t := range []qp.Type{qp.TypeRC, qp.TypeUC, qp.TypeUD} {
			c := r.connectAs(t, answering, nil)
			for range 6 {
				c.postReceive(128)
			}
			for _, s := range services {
				if s == c.service {
					continue
				}
				r.again(1)
				had := len(c.completions)
				p := c.send(packet.Packet{Opcode: packet.Op(s, packet.SendOnly), PSN: c.next, Payload: pattern(3, 64)})
				got := c.quiet()
				r.check("ours#01", got == nil, "no answer", happened(got, nil), p, got)
				r.check("ours#02", len(c.completions) == had, "no completion", statuses(c.completions[had:]), p)
				r.again(2)
				good := c.ask(packet.SendOnly, pattern(4, 64), nil)
				list := c.completed(len(c.completions)+1, r.soon())
				c.once("ours#03", list[min(len(list), had):], cq.Success, good)
				if c.service == packet.RC {
					got = c.quietly()
					r.check("ours#03", got != nil && got.PSN == good.PSN && got.Syndrome.Type() == packet.ACK, fmt.Sprintf("ACK, PSN %v", good.PSN), happened(got, nil), good, got)
				}
			}
		}
	},
}

var otherPKey = &Test{
	ID: "X09_005", Title: "P_Keys that do not match",
	Abstract: "WRITEs with the P_Key of another partition, with one whose low 15 bits are 0, and with a limited one to a queue pair whose own is limited, are dropped.",
	Covers:   []Statement{{"C9-43", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC with the P_Key 0xFFFF, and one with 0x7FFF."},
	Procedure:  droppedSteps("with the P_Key 0x8001, 0x0001, 0x8000 and 0, and to the other queue pair with 0x7FFF"),
	Assertions: droppedAssertions,
	Decisions:  []Decision{{"No page of it was found.", "Ours. The counter of P_Key violations cannot be read through the verbs."}},
	Breaks:     []string{"PKY-001", "PKY-002", "PKY-003", "PKY-004", "PKY-006", "RC-RTY-004"},
	run: func(r *run) {
		c := r.connect(answering)
		var list []sendsWrong
		for _, key := range []uint16{0x8001, 0x0001, 0x8000, 0} {
			list = append(list, c.changed(func(p *packet.Packet) { p.PKey = key }))
		}
		c.droppedEach(list...)
		limited := r.connect(func(a *qp.Attr) { answering(a); a.PKey = 0x7FFF })
		limited.droppedEach(limited.changed(func(p *packet.Packet) { p.PKey = 0x7FFF }))
	},
}

var cutPackets = &Test{
	ID: "X09_008", Title: "packets that are shorter than their headers",
	Abstract: "WRITEs that are cut in the BTH, in the RETH and in the payload, and one with a longer pad than it has payload, are dropped.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC."},
	Procedure:  droppedSteps("of which a part is missing"),
	Assertions: droppedAssertions,
	Decisions:  []Decision{{"No page of it was found.", "Ours. Without its RETH, and with too long a pad, a packet has the lengths and the ICRC of what it is; one that is cut elsewhere lacks the ICRC."}},
	Breaks:     []string{"BTH-006", "BTH-007", "BTH-018", "ROC-V2-006", "ROC-V2-016", "ROC-V2-019"},
	run: func(r *run) {
		c := r.connect(answering)
		const afterBTH = 16 + 64 + 4 // RETH, payload, ICRC
		c.droppedEach(
			c.changed(func(p *packet.Packet) { p.Has &^= packet.HasRETH; p.Payload, p.PayloadLen = nil, 0 }),
			c.changed(func(p *packet.Packet) { p.Payload, p.PayloadLen, p.PadCnt, p.DMALen = nil, 0, 3, 0 }),
			func(p packet.Packet) *packet.Packet { return c.cut(p, afterBTH+4) },
			func(p packet.Packet) *packet.Packet { return c.cut(p, afterBTH-8) },
			func(p packet.Packet) *packet.Packet { return c.cut(p, 4+40) },
		)
	},
}

// cut sends a packet without its last bytes.
func (c *conn) cut(p packet.Packet, n int) *packet.Packet {
	c.to(&p)
	p.Src = c.net.tester
	return c.r.tester.forward(&p, nil, n)
}

var reservedBits = &Test{
	ID: "X09_009", Title: "reserved bits",
	Abstract: "A WRITE and a datagram whose reserved bits are all set are taken as if these were 0.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC. Make one of UD, and have the device post a receive request."},
	Procedure: []string{
		"Send a WRITE with all reserved bits of the BTH set, and receive its ACK.", "Send a datagram with all reserved bits of the BTH and the DETH set, and poll.",
	},
	Assertions: []Assertion{{"ours#01", "The WRITE is acknowledged."}, {"ours#02", "The datagram is received: one completion with success."}},
	Decisions:  ours,
	Breaks:     []string{"BTH-009", "UD-HDR-002"},
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		set := sealed(func(p *packet.Packet) { p.Resv7, p.Resv8a, p.DETHRes = 0x7F, 0x3F, 0xFF })
		p := c.spoiled(c.request(packet.WriteOnly, pattern(1, 64), nil), set)
		c.acked("ours#01", p, c.answer(), p.PSN, 1)
		d := r.connectAs(qp.TypeUD, answering, nil)
		d.postReceive(128)
		r.at(2)
		p = d.spoiled(d.request(packet.SendOnly, pattern(1, 64), nil), set)
		d.once("ours#02", d.completed(1, r.soon()), cq.Success, p)
	},
}

var otherSource = &Test{
	ID: "X09_010", Title: "packets from another address",
	Abstract: "WRITEs with the right queue pair and PSN from an address that is not the peer's are dropped.",
	Covers:   []Statement{{"C17-21", Seen}, {"CA17-39", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC."},
	Procedure:  droppedSteps("from another address"),
	Assertions: droppedAssertions,
	Decisions:  ours,
	Breaks:     []string{"BTH-019", "ROC-V2-029"},
	run: func(r *run) {
		c := r.connect(answering)
		strange := func(p packet.Packet) *packet.Packet {
			c.to(&p)
			p.Src = c.net.stranger
			return r.tester.forward(&p, nil, 0)
		}
		c.droppedEach(strange, strange, strange)
	},
}
