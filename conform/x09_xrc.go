package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// xrcTests are those of XRC (annex A14).
var xrcTests = []*Test{xrcQueues, xrcWrong, xrcRoles}

// xrcQueue makes a shared receive queue of a domain with so many requests of two path MTUs, and returns its number and the ids of these.
func (r *run) xrcQueue(domain wqe.XRCD, requests int) (wqe.SRQ, []uint64) {
	srq, err := r.dev.CreateXRCSRQ(ctx, r.memory.pd, domain, 32, 1)
	r.must(err)
	return srq, r.postShared(srq, requests, 2*pmtu)
}

// domain makes a domain of XRC.
func (r *run) domain() wqe.XRCD {
	d, err := r.dev.CreateXRCD(ctx)
	r.must(err)
	return d
}

// target connects a target of XRC in a domain.
func (r *run) target(domain wqe.XRCD) *conn {
	return r.connectAs(qp.TypeXRCTarget, answering, func(n *qp.InitAttr) { n.XRCD, n.SendCQ, n.MaxSend, n.MaxSendSegments = domain, 0, 0, 0 })
}

// sendTo sends a SEND of one packet to a shared receive queue.
func (c *conn) sendTo(srq wqe.SRQ, n int) *packet.Packet {
	return c.ask(packet.SendOnly, pattern(c.r.seed, n), func(p *packet.Packet) { p.XRCSRQ = uint32(srq) })
}

var xrcQueues = &Test{
	ID: "X09_331", Title: "shared receive queues that a message on XRC names",
	Abstract: "A SEND on XRC takes a receive request of the queue that it names; one that names a queue of another domain, or none, is refused, and one to an empty queue gets an RNR NAK.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a domain of XRC with two shared receive queues that have requests and one that is empty, and another domain with one that has requests. For each case connect a target of the first domain."},
	Procedure: []string{
		"Send SENDs to the two queues of the domain, in turn, and poll.", "Send a SEND to the empty queue, and receive the RNR NAK. Have the device post a receive request there, and retransmit the SEND after the time of the NAK.",
		"On a connection each send a SEND to a queue of the other domain, and to one that is none; receive the answer, and query the queue pair.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each SEND is acknowledged, with an MSN that counts it."},
		{"ours#02", "It completes the first receive request of the queue that it names, with success and its length."},
		{"ours#03", "The SEND to the empty queue is refused with an RNR NAK with its PSN, and acknowledged when it is retransmitted."},
		{"ours#04", "The SEND to a foreign queue, or none, is refused with a NAK that ends the connection, and completes nothing."},
		{"ours#05", "The queue pair is in ERR then."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours, after annex A14. The code of the NAK for a foreign queue is Invalid Request in the sources that were found; any that ends the connection passes."}},
	run: func(r *run) {
		domain := r.domain()
		one, first := r.xrcQueue(domain, 4)
		two, second := r.xrcQueue(domain, 4)
		empty, _ := r.xrcQueue(domain, 0)
		c := r.target(domain)
		r.at(1)
		for i := range 6 {
			srq, id := one, first[i/2]
			if i%2 == 1 {
				srq, id = two, second[i/2]
			}
			had, n := len(c.completions), 61+i
			p := c.sendTo(srq, n)
			got := c.answer()
			c.acked("ours#01", p, got, p.PSN, uint32(i+1))
			list := c.completed(had+1, r.soon())[had:]
			ok := len(list) == 1 && list[0].Status == cq.Success && list[0].ID == id && int(list[0].ByteLen) == n
			if !r.check("ours#02", ok, fmt.Sprintf("request %d SUCCESS, %d bytes", id, n), statuses(list), p, got) {
				r.why = "a SEND took another receive request than its own"
				return
			}
		}
		r.at(2)
		p := c.sendTo(empty, 64)
		got := c.answer()
		if r.check("ours#03", got != nil && got.PSN == p.PSN && got.Syndrome.Type() == packet.RNRNAK, fmt.Sprintf("RNR NAK, PSN %v", p.PSN), happened(got, nil), p, got) {
			r.postShared(empty, 1, 2*pmtu)
			r.wait(int64(packet.RNRTimer(got.Syndrome.Value())))
			again := c.again(p)
			c.acked("ours#03", again, c.answer(), p.PSN, 7)
		}
		other, _ := r.xrcQueue(r.domain(), 4)
		for _, srq := range []wqe.SRQ{other, other + 0x1000} {
			c := r.target(domain)
			r.again(3)
			p := c.sendTo(srq, 64)
			got := c.answer()
			ok := got != nil && got.Opcode == packet.Op(packet.XRC, packet.Acknowledge) && got.PSN == p.PSN && got.Syndrome.Fatal()
			r.settle()
			ok = ok && len(c.completions) == 0
			if r.check("ours#04", ok, fmt.Sprintf("a NAK that ends the connection, PSN %v, and no completion", p.PSN), happened(got, c.completions), p, got) {
				c.inError("ours#05", p, got)
			}
		}
	},
}

var xrcWrong = &Test{
	ID: "X09_332", Title: "wrong messages on XRC",
	Abstract: "A message on XRC that names another shared receive queue in a later packet, and a reserved opcode, are refused with NAK Invalid Request; a reserved byte does not matter.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a domain of XRC with two shared receive queues that have requests. For each case connect a target of the domain."},
	Procedure: []string{
		"Send a SEND with the reserved byte of the XRCETH set, and receive its ACK.", "On a connection each send a SEND of two packets whose second one names the other queue, and opcode 0xB5; receive the answer.", "Query the queue pair.",
	},
	Assertions: []Assertion{{"ours#01", invalidText}, {"ours#02", "The SEND with the reserved byte is acknowledged."}, {"ours#03", errorText}},
	Decisions:  []Decision{{"No page of it was found.", "Ours, after annex A14."}},
	Breaks:     []string{"XRC-HDR-002", "XRC-SRQ-002", "XRC-OPC-001", "BTH-003"},
	run: func(r *run) {
		domain := r.domain()
		one, _ := r.xrcQueue(domain, 4)
		two, _ := r.xrcQueue(domain, 4)
		begin := func() *conn {
			c := r.target(domain)
			r.again(1)
			p := c.ask(packet.SendOnly, pattern(1, 64), func(p *packet.Packet) { p.XRCSRQ, p.XRCRes = uint32(one), 0xFF })
			c.acked("ours#02", p, c.answer(), p.PSN, 1)
			return c
		}
		c := begin()
		r.again(2)
		c.one(packet.SendFirst, pmtu, func(p *packet.Packet) { p.XRCSRQ = uint32(one) })
		p := c.one(packet.SendLast, 64, func(p *packet.Packet) { p.XRCSRQ = uint32(two) })
		c.refused(p, c.answer(), 1, nil)
		c = begin()
		r.again(2)
		p, _ = anyOpcode(0xB5)(c)
		c.refused(p, c.answer(), 1, nil)
	},
}

var xrcRoles = &Test{
	ID: "X09_333", Title: "initiator and target of XRC",
	Abstract: "An initiator of XRC sends requests in the packets that follow from them and is silent to requests; a target answers and takes no send request.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads | Memory,
	Setup: []string{"Connect an initiator of XRC: ACK timeout 0. Make a domain with a shared receive queue that has requests, and connect a target of it."},
	Procedure: []string{
		"Have the device post SENDs, WRITEs and READs of one and three packets to the initiator, each for another shared receive queue; receive the packets, answer them, and poll.",
		"Send a SEND, a WRITE and a READ to the initiator, and wait for 10 ms.", "Send SENDs to the target, and receive the answers.", "Have the device post a SEND to the target, and wait for 10 ms.",
	},
	Assertions: append(packetAssertions[:6:6],
		Assertion{"ours#07", "The initiator answers no request."}, Assertion{"ours#08", "The target answers each SEND with an ACK, and sends nothing else."}, Assertion{"ours#09", "The target refuses the send request, and sends nothing."}),
	Decisions: []Decision{{"No page of it was found.", "Ours, after annex A14. The packets are rebuilt from the send request and memory."}},
	Breaks:    []string{"XRC-INI-001", "XRC-TGT-001", "QPS-RTR-001"},
	run: func(r *run) {
		c := r.connectAs(qp.TypeXRCInitiator, patient, func(n *qp.InitAttr) { n.RecvCQ, n.MaxReceive, n.MaxRecvSegments = 0, 0, 0 })
		for i, op := range []wqe.SendOp{wqe.OpSend, wqe.OpSendImm, wqe.OpWrite, wqe.OpWriteImm, wqe.OpRead, wqe.OpFetchAdd} {
			for _, n := range fieldLengths(op) {
				r.again(1)
				if !c.served(op, n, func(w *wqe.SendRequest) { w.XRCSRQ, w.Imm = uint32(0x70+i), uint32(n) }) {
					return
				}
			}
		}
		r.at(2)
		for _, f := range []packet.Fn{packet.SendOnly, packet.WriteOnly, packet.ReadRequest} {
			p := c.one(f, 0, nil)
			got := c.quiet()
			r.check("ours#07", got == nil, "nothing", happened(got, nil), p, got)
		}
		domain := r.domain()
		srq, _ := r.xrcQueue(domain, 4)
		t := r.target(domain)
		for i := range uint32(3) {
			r.again(3)
			p := t.sendTo(srq, 64)
			t.acked("ours#08", p, t.answer(), p.PSN, i+1)
			more := t.quiet()
			r.check("ours#08", more == nil, "nothing more", happened(more, nil), p, more)
		}
		r.at(4)
		err := r.dev.Deliberately().PostSend(ctx, t.qp, wqe.SendRequest{ID: 99, Op: wqe.OpSend, Segments: []wqe.Segment{{VA: r.memory.va, Length: 64, LKey: r.memory.lkey}}})
		p := t.quiet()
		r.check("ours#09", err != nil && p == nil, "an error, and nothing sent", fmt.Sprintf("%v, %s", err, happened(p, nil)), p)
	},
}
