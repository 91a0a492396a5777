package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// nakTests are those of NAKs and ACKs at the requester.
var nakTests = []*Test{countedNAK, sequenceNAK, fatalNAKs, coalescedACK, ghostACK}

var countedNAK = &Test{
	ID: "X09_126", Title: "retries that NAKs ask for",
	Abstract: "A NAK of a sequence error that brings no progress takes a retry: a request that is refused so each time is tried once and as often again as the retry count says.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:     []string{"For each retry count from 0 to 6 connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{"Have the device post a SEND.", "Answer each try with a NAK of a sequence error for its PSN.", "Poll: one RETRY_EXC_ERR."},
	Assertions: []Assertion{
		{"ours#01", "The request is tried once, and as often again as the retry count says."}, {"ours#02", "Each retry equals the first try."}, {"ours#03", "The request completes once with RETRY_EXC_ERR, after its last try."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. A READ response that is left out, an implied NAK, is to be tested likewise."}},
	Breaks:    []string{"RC-RSP-002"},
	run: func(r *run) {
		for n := range uint8(7) {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = n, 7, 0 })
			r.at(1)
			c.post(wqe.OpSend, 64)
			first := c.only(wqe.OpSend)
			r.at(2)
			nak, tries := c.ack(first.PSN, packet.NAKSequence, 0), uint8(0)
			for tries < n {
				p := c.receiveOr(r.soon(), 0)
				if p == nil {
					break
				}
				tries++
				d := differ(first, p)
				r.check("ours#02", d == "", "the request as it was first sent", actually(d, "equal to the first try"), first, p)
				nak = c.ack(p.PSN, packet.NAKSequence, 0)
			}
			if !r.check("ours#01", tries == n, fmt.Sprintf("%d retries", n), fmt.Sprintf("%d, then %s", tries, statuses(c.completions)), first, nak) {
				continue
			}
			r.at(3)
			c.exceeded(first, nak, cq.RetryExcErr, 1, "ours#01", "ours#03")
		}
	},
}

var sequenceNAK = &Test{
	ID: "X09_130", Title: "NAK of a sequence error",
	Abstract: "A NAK of a sequence error in the middle of 20 requests has the requester retransmit all from its PSN on, in order and unchanged.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: retry count 7, ACK timeout 0."},
	Procedure: []string{
		"Have the device post 20 SENDs, and receive them.", "Send a NAK of a sequence error for the ninth.", "Receive twelve requests again.", "Acknowledge all and poll.",
		"On another connection do the same with a SEND and a WRITE with and without immediate data, and a SEND with Invalidate; refuse the first.",
	},
	Assertions: []Assertion{
		{"ours#01", "The retransmission begins at the PSN of the NAK and is in order, without gaps."}, {"ours#02", "Each request equals its first try."}, {"ours#03", "All complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		r.at(1)
		for range 20 {
			c.post(wqe.OpSend, 64)
		}
		list := c.onlys(wqe.OpSend, 20)
		r.at(2)
		nak := c.ack(list[8].PSN, packet.NAKSequence, 8)
		r.at(3)
		for i := 8; i < 20; i++ {
			p := c.receive(r.soon())
			if p == nil {
				r.check("ours#01", false, fmt.Sprintf("PSN %v again", list[i].PSN), "nothing", nak, list[i])
				r.why = "not all requests were retransmitted"
				return
			}
			if !r.check("ours#01", p.PSN == list[i].PSN, fmt.Sprintf("PSN %v", list[i].PSN), fmt.Sprintf("PSN %v", p.PSN), nak, list[i], p) {
				r.why = "the requests came in another order"
				return
			}
			d := differ(list[i], p)
			r.check("ours#02", d == "", "the request as it was first sent", actually(d, "equal to the first try"), list[i], p)
		}
		r.at(4)
		ack := c.ack(list[19].PSN, positive, 20)
		c.successes("ours#03", c.completed(20, r.soon()), 20, ack)
		r.at(5)
		c = r.connect(patient)
		list = c.retransmits("ours#01", "ours#02", wqe.OpSend, wqe.OpSendImm, wqe.OpWrite, wqe.OpWriteImm, wqe.OpSendInv)
		if list == nil {
			return
		}
		ack = c.ack(list[4].PSN, positive, 5)
		c.successes("ours#03", c.completed(5, r.soon()), 5, ack)
	},
}

// retransmits has the device post requests of one packet, and refuses the first with a NAK of a sequence error. It judges that all are retransmitted in order, and unchanged, under these ids,
// and returns them; nil: they are not.
func (c *conn) retransmits(order, same string, ops ...wqe.SendOp) (list []*packet.Packet) {
	r := c.r
	for i, op := range ops {
		n := 64
		if op == wqe.OpAtomicWrite {
			n = 8
		}
		c.posts(op, n, func(w *wqe.SendRequest) { named(w, uint64(i+1)) })
		list = append(list, c.any())
	}
	nak := c.ack(list[0].PSN, packet.NAKSequence, c.taken)
	for _, p := range list {
		again := c.answer()
		if !r.check(order, again != nil && again.PSN == p.PSN, fmt.Sprintf("PSN %v again", p.PSN), happened(again, nil), nak, p, again) {
			r.why = "not all requests were retransmitted"
			return nil
		}
		d := differ(p, again)
		r.check(same, d == "", "the request as it was first sent", actually(d, "equal to the first try"), p, again)
	}
	return list
}

var fatalNAKs = &Test{
	ID: "X09_132", Title: "NAKs that end a connection",
	Abstract: "A NAK Invalid Request, Remote Access Error or Remote Operational Error completes the request with the status of that NAK; the queue pair goes to ERR, what was posted after it is flushed, and nothing is sent.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each of the three codes connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post two SENDs, and receive them.", "Refuse the first with the NAK, and poll.", "Query the queue pair, and watch for 10 ms.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request completes once with the status of the NAK."},
		{"ours#02", "The request after it is flushed once."},
		{"ours#03", "The queue pair is in ERR then."},
		{"ours#04", "Nothing is sent after the NAK."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		for _, x := range []struct {
			nak    packet.Syndrome
			status cq.Status
		}{{packet.NAKInvalidRequest, cq.RemInvReqErr}, {packet.NAKRemoteAccess, cq.RemAccessErr}, {packet.NAKRemoteOp, cq.RemOpErr}} {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
			r.at(1)
			c.post(wqe.OpSend, 64)
			c.post(wqe.OpSend, 64)
			list := c.onlys(wqe.OpSend, 2)
			r.at(2)
			nak := c.ack(list[0].PSN, x.nak, 0)
			var of [2][]completion
			for _, y := range c.completed(2, r.soon()) {
				of[min(y.ID-1, 1)] = append(of[min(y.ID-1, 1)], y)
			}
			c.once("ours#01", of[0], x.status, list[0], nak)
			c.once("ours#02", of[1], cq.WRFlushErr, list[1], nak)
			r.at(3)
			c.inError("ours#03", nak)
			p := c.receive(r.soon())
			r.check("ours#04", p == nil, "nothing", happened(p, nil), nak, p)
		}
	},
}

var coalescedACK = &Test{
	ID: "X09_136", Title: "one ACK for many messages",
	Abstract: "One ACK of the last of 30 messages completes all of them, in order.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure:  []string{"Have the device post 30 SENDs, and receive them.", "Acknowledge the last, and poll."},
	Assertions: []Assertion{{"ours#01", "Nothing completes before the ACK."}, {"ours#02", "All complete once with success, in order."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours; the section is 9.7.5.1.2."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		r.at(1)
		for range 30 {
			c.post(wqe.OpSend, 64)
		}
		list := c.onlys(wqe.OpSend, 30)
		r.check("ours#01", len(c.completions) == 0, "no completion", statuses(c.completions), list[0])
		r.at(2)
		ack := c.ack(list[29].PSN, positive, 30)
		had := len(c.completions)
		c.successes("ours#02", c.completed(had+30, r.soon())[had:], 30, ack)
	},
}

var ghostACK = &Test{
	ID: "X09_137", Title: "old ACK",
	Abstract: "An ACK of what was acknowledged before changes nothing: the next request stays pending.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: ACK timeout 0. Have the device post a SEND and acknowledge it."},
	Procedure:  []string{"Have the device post a SEND, and receive it.", "Send the ACK of the SEND before once more, and poll.", "Acknowledge the SEND, and poll."},
	Assertions: []Assertion{{"ours#01", "The ACK of an earlier request completes nothing."}, {"ours#02", "The request completes once with success when it is acknowledged."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		c.exchange()
		r.at(1)
		c.post(wqe.OpSend, 64)
		p := c.only(wqe.OpSend)
		r.at(2)
		ghost := c.ack(p.PSN.Add(-1), positive, 1)
		r.settle()
		if !r.check("ours#01", len(c.completions) == 0, "no completion", statuses(c.completions), p, ghost) {
			r.why = "the request has completed before its ACK"
			return
		}
		r.at(3)
		c.acknowledged(p, 2, "ours#02")
	},
}
