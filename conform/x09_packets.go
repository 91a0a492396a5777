package conform

import (
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// packetTests are those of the packets that a requester makes of its send requests.
var packetTests = []*Test{allLengths, startPSNs, allFields, gatherLists, givenUpKey}

// rebuilt is what is said of the pages of tests that compare packets with their requests.
var rebuilt = []Decision{{"No page of it was found.", "Ours. The packets are rebuilt from the send request and memory, and compared field by field."}}

var allLengths = &Test{
	ID: "X09_140", Title: "messages of all lengths",
	Abstract: "Requests of all operations and of lengths around the path MTU, with each path MTU, are sent in the packets that follow from them.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads | Memory,
	Setup: []string{"For each path MTU, from 256 to 4096, connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post a request of 0, 1, 3, PMTU-1, PMTU, PMTU+1 and 10 PMTU bytes: SEND, WRITE, both with immediate data, and READ.", "Receive its packets, answer them, and poll.",
		"Have the device post a CmpSwap and a FetchAdd, receive and answer them, and poll.",
	},
	Assertions: packetAssertions,
	Decisions:  rebuilt,
	run: func(r *run) {
		for _, m := range []uint32{256, 512, 1024, 2048, 4096} {
			if int(m) > r.mtu {
				r.remark("the path MTUs up to %d bytes were tested, as the network takes no longer packets", m/2)
				break
			}
			c := r.connect(func(a *qp.Attr) { patient(a); a.PMTU = m })
			for _, n := range []int{0, 1, 3, int(m) - 1, int(m), int(m) + 1, 10 * int(m)} {
				for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpWrite, wqe.OpSendImm, wqe.OpWriteImm, wqe.OpRead} {
					r.again(1)
					r.again(2)
					if !c.served(op, n, func(w *wqe.SendRequest) { w.Imm = uint32(n) }) {
						return
					}
				}
			}
			r.again(3)
			if !c.served(wqe.OpCmpSwap, 8, func(w *wqe.SendRequest) { w.Compare, w.SwapAdd = 1, 2 }) || !c.served(wqe.OpFetchAdd, 8, func(w *wqe.SendRequest) { w.SwapAdd = 3 }) {
				return
			}
		}
	},
}

var startPSNs = &Test{
	ID: "X09_141", Title: "PSNs of requests",
	Abstract: "Requests begin with the PSN that the queue pair was given, and each takes as many as it has packets, a READ as many as its response, also where the PSN goes back to 0.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads | Memory,
	Setup:      []string{"For the start PSNs 0, 1, 0xFFFFF0, 0xFFFFFF and one by chance connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post SENDs, WRITEs and READs of one to ten packets and atomics, receive their packets, answer them, and poll."},
	Assertions: packetAssertions,
	Decisions:  append(rebuilt[:1:1], Decision{"All 2^24 PSNs in one run.", "Only those around the end of the numbers, as a run over all would take minutes."}),
	run: func(r *run) {
		for _, psn := range []packet.PSN{0, 1, 0xFFFFF0, 0xFFFFFF, packet.PSN(r.seed).Add(0)} {
			c := r.connect(func(a *qp.Attr) { patient(a); a.SQPSN = psn })
			for i := range 12 {
				r.again(1)
				op := []wqe.SendOp{wqe.OpSend, wqe.OpRead, wqe.OpWrite, wqe.OpFetchAdd}[i%4]
				n := (i%10)*pmtu + 64
				if op == wqe.OpFetchAdd {
					n = 8
				}
				if !c.served(op, n, nil) {
					return
				}
			}
		}
	},
}

var allFields = &Test{
	ID: "X09_146", Title: "fields of send requests",
	Abstract: "What a send request names - address, R_Key, immediate data, the R_Key to invalidate, operands, placement, SE - is in its packets, and nothing else.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads | Memory | Extended,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post each operation, of one packet and of three where it has data, with and without SE, with other values each time; receive the packets, answer them, and poll.", "Have it post a SEND and a WRITE at once; receive and acknowledge both, and poll.", "Have it post a FLUSH, an ATOMIC WRITE and a SEND; refuse the first with a NAK of a sequence error, receive all again, answer them, and poll."},
	Assertions: append(packetAssertions[:6:6], Assertion{"ours#07", "What is retransmitted equals its first try, in order."}),
	Decisions:  rebuilt,
	run: func(r *run) {
		c := r.connect(patient)
		r.at(1)
		for i, op := range []wqe.SendOp{
			wqe.OpSend, wqe.OpSendImm, wqe.OpSendInv, wqe.OpWrite, wqe.OpWriteImm, wqe.OpRead, wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpFlush, wqe.OpAtomicWrite,
		} {
			for _, n := range fieldLengths(op) {
				for k, flags := range []wqe.SendFlags{0, wqe.Solicited} {
					if flags != 0 && !solicitable(op) {
						continue
					}
					x := uint64(i*16 + k*4 + 1)
					if !c.served(op, n, func(w *wqe.SendRequest) { named(w, x); w.Flags |= flags }) {
						return
					}
				}
			}
		}
		r.at(2)
		had := len(c.completions)
		both := []*wqe.SendRequest{c.posts(wqe.OpSend, 64, nil), c.posts(wqe.OpWrite, 64, nil)}
		var last []*packet.Packet
		for _, w := range both {
			if last = c.sends(w); last == nil {
				return
			}
		}
		c.taken += 2
		ack := c.ack(last[0].PSN, positive, c.taken)
		c.successes("ours#06", c.completed(had+2, r.soon())[had:], 2, ack)
		r.at(3)
		had = len(c.completions)
		list := c.retransmits("ours#07", "ours#07", wqe.OpFlush, wqe.OpAtomicWrite, wqe.OpSend)
		if list == nil {
			return
		}
		c.readResponse(list[0], nil, c.taken+1)
		c.readResponse(list[1], nil, c.taken+2)
		ack = c.ack(list[2].PSN, positive, c.taken+3)
		c.successes("ours#06", c.completed(had+3, r.soon())[had:], 3, ack)
	},
}

// fieldLengths are the lengths of an operation that a test of fields takes.
func fieldLengths(op wqe.SendOp) []int {
	switch op {
	case wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpAtomicWrite:
		return []int{8}
	case wqe.OpFlush:
		return []int{0}
	}
	return []int{61, 2*pmtu + 61}
}

// solicitable reports whether an operation can ask for SE.
func solicitable(op wqe.SendOp) bool { return op <= wqe.OpSendInv || op == wqe.OpWriteImm }

// named gives a request values that follow from a number.
func named(w *wqe.SendRequest, x uint64) {
	w.Imm, w.InvKey = uint32(0xA0B0_0000+x), uint32(0x5000_0000+x)
	if w.RKey != 0 {
		w.RemoteVA, w.RKey = 0x1234_5678_0000+8*x, uint32(0x7000+x)
	}
	w.Flush = wqe.FlushRequest{Length: uint32(64 * x), Placement: uint8(1 + x%3)}
	switch w.Op {
	case wqe.OpCmpSwap:
		w.Compare, w.SwapAdd = 0x1111_2222_3333_0000+x, 0x4444_5555_6666_0000+x
	case wqe.OpFetchAdd:
		w.SwapAdd = 0x7777_8888_9999_0000 + x
	case wqe.OpFlush:
		w.Segments = nil
	}
}

var gatherLists = &Test{
	ID: "X09_147", Title: "gather lists",
	Abstract: "The data of lists of one to four segments, some of them of 0 bytes, is sent in the order of the list.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC with four data segments for a send request: ACK timeout 0."},
	Procedure:  []string{"Have the device post SENDs and WRITEs with lists of one to four segments, within a packet and over several; receive the packets, answer them, and poll.", "Post a SEND with five segments."},
	Assertions: append(packetAssertions[:6:6], Assertion{"ours#07", "A request with more segments than the queue pair has is refused at once, and not sent."}),
	Decisions:  rebuilt,
	run: func(r *run) {
		c := r.connectAs(qp.TypeRC, patient, func(n *qp.InitAttr) { n.MaxSendSegments = 4 })
		r.at(1)
		for _, lengths := range [][]uint32{
			{100}, {60, 40}, {1, 2, 3}, {7, 300, 1, 64}, {0, 50}, {50, 0, 50}, {0, 0}, {pmtu, 1}, {pmtu - 1, 2, pmtu + 5}, {500, 600, 700, 800},
		} {
			for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpWrite} {
				ok := c.served(op, 0, func(w *wqe.SendRequest) {
					w.Segments = nil
					for i, n := range lengths {
						// later segments lie before earlier ones
						w.Segments = append(w.Segments, wqe.Segment{VA: r.memory.va + uint64(40000-5000*i), Length: n, LKey: r.memory.lkey})
					}
				})
				if !ok {
					return
				}
			}
		}
		r.at(2)
		five := make([]wqe.Segment, 5)
		for i := range five {
			five[i] = wqe.Segment{VA: r.memory.va, Length: 8, LKey: r.memory.lkey}
		}
		err := r.dev.Deliberately().PostSend(ctx, c.qp, wqe.SendRequest{ID: 999, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: five})
		p := c.quiet()
		r.check("ours#07", err != nil && p == nil, "an error, and nothing sent", taken(err)+", "+happened(p, nil), p)
	},
}

var givenUpKey = &Test{
	ID: "X09_148", Title: "R_Key that a SEND with Invalidate has given up",
	Abstract: "After a SEND with Invalidate is delivered its requester does not use the R_Key that it names: what is posted then has its own.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post a WRITE, and a SEND with Invalidate of its R_Key; receive and acknowledge both.", "Have the device post WRITEs with another R_Key; receive and acknowledge them."},
	Assertions: packetAssertions,
	Decisions:  rebuilt,
	run: func(r *run) {
		c := r.connect(patient)
		r.at(1)
		if !c.served(wqe.OpWrite, 61, func(w *wqe.SendRequest) { w.RKey = 0x7001 }) || !c.served(wqe.OpSendInv, 64, func(w *wqe.SendRequest) { w.InvKey = 0x7001 }) {
			return
		}
		r.at(2)
		for i := range uint32(3) {
			if !c.served(wqe.OpWrite, 61, func(w *wqe.SendRequest) { w.RKey = 0x8002 + i }) {
				return
			}
		}
	},
}
