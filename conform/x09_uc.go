package conform

import (
	"bytes"
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// ucTests are those of UC.
var ucTests = []*Test{ucLost, ucWrong, ucZeroLength, ucPackets}

// What is asserted of a message on UC that must be dropped.
var ucAssertions = []Assertion{
	{"ours#01", "Nothing is sent back."},
	{"ours#02", "The message completes no receive request."},
	{"ours#03", "The next SEND completes the receive request that waits, once with success, and its data is in memory."},
	{"ours#04", "The queue pair stays in RTS."},
}

// ucMessage sends some packets of a message of two path MTUs and 64 bytes, each as its opcode has it, at consecutive PSNs; one that is left out takes its PSN.
func (c *conn) ucMessage(list []packet.Fn, sent ...int) (frames []*packet.Packet) {
	data := pattern(c.r.seed, 2*pmtu+64)
	for i, f := range list {
		p := c.request(f, data[i*pmtu:min((i+1)*pmtu, len(data))], func(p *packet.Packet) {
			if p.DMALen = 0; i == 0 && p.Info().Headers&packet.HasRETH != 0 {
				p.DMALen = uint32(len(data))
			}
		})
		c.next = c.next.Add(1)
		for _, k := range sent {
			if k == i {
				frames = append(frames, c.send(p))
			}
		}
	}
	return frames
}

var (
	ucSend     = []packet.Fn{packet.SendFirst, packet.SendMiddle, packet.SendLast}
	ucWriteImm = []packet.Fn{packet.WriteFirst, packet.WriteMiddle, packet.WriteLastImm}
)

// ucDropped sends what must be dropped, with a receive request waiting or not, and a right SEND after it: ours#01 to ours#04.
func (c *conn) ucDropped(steps [2]int, waits bool, send func() []*packet.Packet) {
	r := c.r
	const room = 2*pmtu + 64
	had := len(c.completions)
	var id, at uint64
	if waits {
		id, at = c.postReceive(room)
	}
	r.again(steps[0])
	bad := send()
	got := c.quiet()
	r.check("ours#01", got == nil, "nothing", happened(got, nil), append(bad, got)...)
	if !waits {
		id, at = c.postReceive(room)
		r.settle()
	}
	if !r.check("ours#02", len(c.completions) == had, "no completion", statuses(c.completions[had:]), bad...) {
		r.why = "a receive request has completed"
		return
	}
	r.again(steps[1])
	data := pattern(r.seed+7, 200)
	good := c.ask(packet.SendOnly, data, nil)
	list := c.completed(had+1, r.soon())[had:]
	ok := len(list) == 1 && list[0].Status == cq.Success && list[0].ID == id && list[0].ByteLen == 200
	if r.check("ours#03", ok, fmt.Sprintf("request %d SUCCESS, 200 bytes", id), statuses(list), good) {
		holds := r.memoryOf(at, 200)
		r.check("ours#03", bytes.Equal(holds, data), "the data of the SEND", dataIs(bytes.Equal(holds, data)), good)
	}
	s := c.state()
	r.check("ours#04", s == qp.RTS, qp.RTS.String(), s.String(), append(bad, good)...)
}

// ucSteps are the steps of a test that does that.
func ucSteps(what string) []string {
	return []string{what, "Send a SEND of one packet, poll, and query the queue pair."}
}

var ucLost = &Test{
	ID: "X09_301", Title: "lost packets on UC",
	Abstract: "A message on UC of which a packet is lost is dropped without a word; the next message takes the receive request that it had.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of UC. Before each message have the device post a receive request."},
	Procedure:  ucSteps("Send a SEND, or WRITE with immediate data, of three packets without the first, the second or the last, and wait for 10 ms."),
	Assertions: ucAssertions,
	Decisions:  ours,
	Breaks:     []string{"UC-PSN-001", "UC-SEQ-001"},
	run: func(r *run) {
		c := r.connectAs(qp.TypeUC, answering, nil)
		for _, message := range [][]packet.Fn{ucSend, ucWriteImm} {
			for _, sent := range [][]int{{1, 2}, {0, 2}, {0, 1}} {
				c.ucDropped([2]int{1, 2}, true, func() []*packet.Packet { return c.ucMessage(message, sent...) })
			}
		}
	},
}

var ucWrong = &Test{
	ID: "X09_302", Title: "wrong messages on UC",
	Abstract: "Messages on UC in a wrong order, with wrong lengths or a wrong R_Key, longer than the receive request, and those for which none waits are dropped without a word, and the queue pair goes on.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of UC. Before each message, but where none is to wait, have the device post a receive request."},
	Procedure: ucSteps("Send the message: Middle and Last within none, Only within a message, First and Middle that are not full, a WRITE with immediate data and an R_Key that is none, " +
		"a SEND that is longer than the receive request, one for which none waits. Wait for 10 ms."),
	Assertions: ucAssertions,
	Decisions:  ours,
	Breaks:     []string{"UC-SEQ-001", "UC-LEN-001", "UC-LEN-002", "UC-RWQE-002"},
	run: func(r *run) {
		c := r.connectAs(qp.TypeUC, answering, nil)
		one := func(f packet.Fn, n int, change func(p *packet.Packet)) func() []*packet.Packet {
			return func() []*packet.Packet { return []*packet.Packet{c.one(f, n, change)} }
		}
		for _, send := range []func() []*packet.Packet{
			one(packet.SendMiddle, pmtu, nil), one(packet.SendLast, 64, nil),
			one(packet.SendFirst, pmtu-4, nil),
			func() []*packet.Packet {
				return []*packet.Packet{c.one(packet.SendFirst, pmtu-4, nil), c.one(packet.SendLast, 64, nil)}
			},
			func() []*packet.Packet {
				return []*packet.Packet{c.one(packet.SendFirst, pmtu, nil), c.one(packet.SendMiddle, pmtu-4, nil), c.one(packet.SendLast, 64, nil)}
			},
			func() []*packet.Packet {
				return []*packet.Packet{c.one(packet.SendFirst, pmtu, nil), c.one(packet.WriteLastImm, 64, nil)}
			},
			one(packet.WriteOnlyImm, 64, func(p *packet.Packet) { p.RKey ^= 0x5500 }),
			func() []*packet.Packet { return c.tell(wqe.OpSend, pattern(5, 3*pmtu)) },
		} {
			c.ucDropped([2]int{1, 2}, true, send)
		}
		c.ucDropped([2]int{1, 2}, false, one(packet.SendOnly, 64, nil))
		c.ucDropped([2]int{1, 2}, false, one(packet.WriteOnlyImm, 64, nil))
	},
}

var ucZeroLength = &Test{
	ID: "X09_303", Title: "WRITEs of 0 bytes on UC",
	Abstract: "A WRITE with immediate data of 0 bytes on UC is taken whatever its R_Key.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of UC, and have the device post a receive request."},
	Procedure:  []string{"Send a WRITE with immediate data of 0 bytes and an R_Key that is none, and poll."},
	Assertions: []Assertion{{"ours#01", "The receive request completes once with success, 0 bytes and the immediate data."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connectAs(qp.TypeUC, answering, nil)
		c.postReceive(64)
		r.at(1)
		p := c.ask(packet.WriteOnlyImm, nil, func(p *packet.Packet) { p.RKey, p.Imm = 0x5500, 9 })
		list := c.completed(1, r.soon())
		if c.once("ours#01", list, cq.Success, p) {
			got, want := saying(&list[0]), says{qpn: c.qp.QPN, op: cq.DoneRecvWriteImm, flags: cq.WithImm, imm: 9}
			r.check("ours#01", got == want, want.String(), got.String(), p)
		}
	},
}

var ucPackets = &Test{
	ID: "X09_304", Title: "messages on UC",
	Abstract: "Requests on UC are sent in the packets that follow from them, each packet once, and complete with success though nothing answers.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of UC."},
	Procedure:  []string{"Have the device post SENDs and WRITEs, with and without immediate data, of 0, 1, 3, PMTU-1, PMTU, PMTU+1 and 10 PMTU bytes; receive the packets, answer nothing, and poll.", "Wait for 1 s."},
	Assertions: append(packetAssertions[:6:6], Assertion{"ours#07", "Nothing is retransmitted."}),
	Decisions:  rebuilt,
	run: func(r *run) {
		c := r.connectAs(qp.TypeUC, patient, nil)
		for _, n := range []int{0, 1, 3, pmtu - 1, pmtu, pmtu + 1, 10 * pmtu} {
			for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpSendImm, wqe.OpWrite, wqe.OpWriteImm} {
				r.again(1)
				if !c.served(op, n, func(w *wqe.SendRequest) { w.Imm = uint32(n) }) {
					return
				}
			}
		}
		r.at(2)
		p := c.receive(r.present() + endWindow)
		r.check("ours#07", p == nil, "nothing", happened(p, nil), p)
	},
}
