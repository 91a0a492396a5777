package conform

import (
	"bytes"
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// readTests are those of READs, limits and fences at the requester.
var readTests = []*Test{readTail, badResponses, ackOfRead, asksForACK, initiatorDepth, fence}

var readTail = &Test{
	ID: "X09_125", Title: "READ that is answered in part",
	Abstract: "Of a READ of 8 path MTUs three packets are answered: on timeout the requester asks for the rest, or for all of it, and completes when that has come.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads | Memory,
	Setup: []string{"Connect a queue pair of RC: retry count 7, ACK timeout code 14 (T_tr 67.1 ms)."},
	Procedure: []string{
		"Have the device post a READ of 8 path MTUs, and receive the request.", "Send the first three packets of the response, and then nothing.", "Receive the retransmitted request.",
		"Answer it in full, and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request comes T_tr to 4 T_tr after the last packet of the response."},
		{"ours#02", "It asks for the rest: the PSN, VA and length of what has not come, with the same R_Key; or for all, unchanged."},
		{"ours#03", "The READ completes once with success."},
		{"ours#04", "Memory holds what the responses brought."},
	},
	Decisions: ours,
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		const length = 8 * pmtu
		_, at := c.post(wqe.OpRead, length)
		req := c.only(wqe.OpRead)
		r.at(2)
		data := pattern(r.seed, length)
		part := c.readPart(req, data, 0, 3, 1)
		r.at(3)
		t := c.ttr()
		retry := c.receive(r.present() + 4*t + r.jitter)
		if retry == nil {
			r.check("ours#01", false, "a request within 4 T_tr", "none", part[2])
			r.why = "no retry came"
			return
		}
		gap := retry.Time - part[2].Time
		r.check("ours#01", r.expiry(gap, t), fmt.Sprintf("%s to %s after the response", exact(t), exact(4*t)), exact(gap)+" after it", part[2], retry)
		tail := *req
		tail.PSN, tail.VA, tail.DMALen = req.PSN.Add(3), req.VA+3*pmtu, length-3*pmtu
		d, from := differ(&tail, retry), 3
		if retry.PSN == req.PSN {
			d, from = differ(req, retry), 0
		}
		if !r.check("ours#02", d == "", "the request for the rest", actually(d, "the request for the rest, or for all"), req, retry) {
			r.why = "the retry asks for something else"
			return
		}
		r.at(4)
		rest := c.readPart(req, data, from, 8, 1)
		list := c.completed(1, r.soon())
		if c.once("ours#03", list, cq.Success, rest...) {
			holds := make([]byte, length)
			_, err := r.dev.MemoryData(ctx, r.memoryAt(at, length), holds)
			r.must(err)
			r.check("ours#04", bytes.Equal(holds, data), "the data of the responses", dataIs(bytes.Equal(holds, data)), rest...)
		}
	},
}

// readPart answers packets from to n of the response to a READ of n path MTUs; the first of a part that answers a new request is First, where it is not the last.
func (c *conn) readPart(req *packet.Packet, data []byte, from, to int, msn uint32) (list []*packet.Packet) {
	n := len(data) / pmtu
	for i := from; i < to; i++ {
		f := packet.ReadRespMiddle
		switch {
		case i == n-1 && i == from:
			f = packet.ReadRespOnly
		case i == from:
			f = packet.ReadRespFirst
		case i == n-1:
			f = packet.ReadRespLast
		}
		list = append(list, c.send(packet.Packet{
			Opcode: packet.Op(packet.RC, f), PSN: req.PSN.Add(i), Syndrome: positive, MSN: msn, Payload: data[i*pmtu : (i+1)*pmtu],
		}))
	}
	return list
}

var badResponses = &Test{
	ID: "X09_134", Title: "READ responses that do not fit",
	Abstract: "A READ response with a wrong opcode, one that is too long and one that is too short complete the READ with BAD_RESP_ERR; the queue pair goes to ERR.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup:      []string{"For each case connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post a READ of 100 bytes, and receive the request.", "Send the response that does not fit, and poll.", "Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "The READ completes once with BAD_RESP_ERR."}, {"ours#02", "The queue pair is in ERR then."}},
	Decisions:  ours,
	Breaks:     []string{"RC-RSP-009", "RC-RES-001", "RC-RES-002", "RC-RES-004", "RC-RSP-012"},
	run: func(r *run) {
		for _, x := range []struct {
			f packet.Fn
			n int
		}{{packet.ReadRespMiddle, 100}, {packet.ReadRespOnly, 104}, {packet.ReadRespOnly, 96}} {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
			r.at(1)
			c.post(wqe.OpRead, 100)
			req := c.only(wqe.OpRead)
			r.at(2)
			bad := c.send(packet.Packet{Opcode: packet.Op(packet.RC, x.f), PSN: req.PSN, Syndrome: positive, MSN: 1, Payload: pattern(r.seed, x.n)})
			if !c.once("ours#01", c.completed(1, r.soon()), cq.BadRespErr, req, bad) {
				continue
			}
			r.at(3)
			c.inError("ours#02", bad)
		}
	},
}

var ackOfRead = &Test{
	ID: "X09_135", Title: "ACK where a READ is the oldest request",
	Abstract: "An ACK of a SEND does not complete the READ before it, whose response has not come, nor the SEND: both complete when the READ is answered.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup: []string{"Connect a queue pair of RC: retry count 7, ACK timeout code 14 (T_tr 67.1 ms)."},
	Procedure: []string{
		"Have the device post a READ and a SEND, and receive both.", "Acknowledge the SEND, and wait for 10 ms.", "Receive the READ and the SEND once more, answer both, and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "Nothing completes by an ACK that passes over a READ."}, {"ours#02", "The READ is retransmitted, unchanged."}, {"ours#03", "Both complete once with success, in order, when the READ is answered."},
	},
	Decisions: ours,
	Breaks:    []string{"RC-RSP-007"},
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		c.post(wqe.OpRead, 64)
		read := c.only(wqe.OpRead)
		c.post(wqe.OpSend, 64)
		send := c.only(wqe.OpSend)
		r.at(2)
		ack := c.ack(send.PSN, positive, 2)
		r.settle()
		if !r.check("ours#01", len(c.completions) == 0, "no completion", statuses(c.completions), read, send, ack) {
			r.why = "a READ has completed without its response"
			return
		}
		r.at(3)
		again := c.receive(r.present() + 4*c.ttr())
		if again == nil {
			r.check("ours#02", false, "the READ", "nothing", read, ack)
			r.why = "no retry came"
			return
		}
		d := differ(read, again)
		r.check("ours#02", d == "", "the READ as it was first sent", actually(d, "equal to the first try"), read, again)
		r.settle()
		c.arrived = nil
		frames := c.readResponse(read, pattern(r.seed, 64), 1)
		frames = append(frames, c.ack(send.PSN, positive, 2))
		c.successes("ours#03", c.completed(2, r.soon()), 2, frames...)
	},
}

var asksForACK = &Test{
	ID: "X09_142", Title: "AckReq",
	Abstract: "A requester asks for an acknowledgement in the last packet of each message at the latest, whatever the operation.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post a SEND of 1 and of 3 path MTUs, a WRITE of both, and receive them; acknowledge each.", "Poll."},
	Assertions: []Assertion{{"ours#01", "The last packet of a message has AckReq."}, {"ours#02", "All complete once with success, in order."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		r.at(1)
		var ack *packet.Packet
		for i, n := range []int{1, 3, 1, 3} {
			op := wqe.OpSend
			if i > 1 {
				op = wqe.OpWrite
			}
			c.post(op, n*pmtu)
			list := c.message(op, n)
			last := list[n-1]
			r.check("ours#01", last.AckReq, "AckReq", fmt.Sprintf("AckReq %v", last.AckReq), last)
			ack = c.ack(last.PSN, positive, uint32(i+1))
		}
		r.at(2)
		c.successes("ours#02", c.completed(4, r.soon()), 4, ack)
	},
}

var initiatorDepth = &Test{
	ID: "X09_143", Title: "READs outstanding",
	Abstract: "A requester never has more READs outstanding than its initiator depth, from 1 to 4, though 12 are posted.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup:      []string{"For each initiator depth from 1 to 4 connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post 12 READs of 64 bytes, and receive what comes in 10 ms.", "Answer the oldest, and receive what comes in 10 ms, until all are answered.", "Poll."},
	Assertions: []Assertion{{"ours#01", "No more READs are outstanding than the initiator depth."}, {"ours#02", "All complete once with success, in order."}},
	Decisions:  ours,
	run: func(r *run) {
		for depth := uint8(1); depth <= 4; depth++ {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout, a.MaxRdAtomic = 7, 7, 0, depth })
			r.at(1)
			for range 12 {
				c.post(wqe.OpRead, 64)
			}
			var out, last []*packet.Packet
			answered := uint32(0)
			for answered < 12 {
				for p := c.quiet(); p != nil; p = c.quiet() {
					out = append(out, p)
				}
				if !r.check("ours#01", len(out) <= int(depth), fmt.Sprintf("at most %d", depth), fmt.Sprintf("%d READs outstanding", len(out)), out...) || len(out) == 0 {
					break
				}
				if answered == 0 {
					r.at(2)
				}
				answered++
				last = c.readResponse(out[0], pattern(r.seed, 64), answered)
				out = out[1:]
			}
			if answered < 12 {
				continue
			}
			r.at(3)
			c.successes("ours#02", c.completed(12, r.soon()), 12, last...)
		}
	},
}

var fence = &Test{
	ID: "X09_144", Title: "fence",
	Abstract: "A SEND with a fence after a READ is not sent before the READ is answered in full.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post a READ and a SEND with a fence; receive the READ.", "Wait for 10 ms: the SEND must not come.", "Answer the READ, receive the SEND, acknowledge it, and poll.", "Have the device post a SEND and a local invalidate, receive the SEND, and wait for 10 ms. Acknowledge it, and poll."},
	Assertions: []Assertion{{"ours#01", "The SEND does not come before the READ is answered."}, {"ours#02", "It comes then."}, {"ours#03", "Both complete once with success, in order."}, {"ours#04", "A local invalidate completes after the request before it, not sooner."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		r.at(1)
		c.post(wqe.OpRead, 64)
		c.postWith(wqe.OpSend, 64, wqe.Fence)
		read := c.only(wqe.OpRead)
		r.at(2)
		early := c.quiet()
		if !r.check("ours#01", early == nil, "nothing", happened(early, nil), read, early) {
			r.why = "the SEND has passed the fence"
			return
		}
		r.at(3)
		c.readResponse(read, pattern(r.seed, 64), 1)
		send := c.answer()
		if !r.check("ours#02", send != nil && send.Opcode == packet.Op(packet.RC, packet.SendOnly), "SEND Only", happened(send, nil), read, send) {
			r.why = "the SEND has not come"
			return
		}
		ack := c.ack(send.PSN, positive, 2)
		c.successes("ours#03", c.completed(2, r.soon()), 2, ack)
		r.at(4)
		key := c.window(0x5000_0000)
		had := len(c.completions)
		c.posts(wqe.OpSend, 64, nil)
		c.posts(wqe.OpLocalInv, 0, func(w *wqe.SendRequest) { w.Segments, w.RKey, w.RemoteVA, w.InvKey = nil, 0, 0, key })
		send = c.any()
		before := c.completed(had+1, r.soon())[had:]
		if r.check("ours#04", len(before) == 0, "no completion before the ACK", statuses(before), send) {
			ack = c.ack(send.PSN, positive, 3)
			c.successes("ours#04", c.completed(had+2, r.soon())[had:], 2, send, ack)
		}
	},
}
