package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// ackTests are those of ACKs that a requester must not take.
var ackTests = []*Test{unsentACK, reservedSyndromes, credits}

// patient are the attributes of a queue pair that retransmits nothing of itself.
func patient(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 }

var unsentACK = &Test{
	ID: "X09_131", Title: "ACKs of PSNs that were not sent",
	Abstract: "ACKs and NAKs of a sequence error for PSNs that the requester has not sent complete nothing; what was sent completes when it is acknowledged.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each case connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post two SENDs, and receive them.", "Send an ACK, or a NAK of a sequence error, for a PSN 1, 2 and 1000 after the newest, and wait for 10 ms.",
		"Acknowledge both, and poll.",
	},
	Assertions: []Assertion{{"ours#01", "Nothing completes by an answer to a PSN that was not sent."}, {"ours#02", "Both complete once with success, in order, when they are acknowledged."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. The requester may retransmit what is outstanding. A NAK for the PSN right after the newest is taken by some as an ACK of all before it: here it is not sent."}},
	Breaks:     []string{"RC-RSP-006", "RC-RSP-002", "RC-RSP-013"},
	run: func(r *run) {
		for _, x := range []struct {
			off int
			s   packet.Syndrome
		}{{1, positive}, {2, positive}, {1000, positive}, {2, packet.NAKSequence}, {1000, packet.NAKSequence}} {
			c := r.connect(patient)
			r.again(1)
			c.post(wqe.OpSend, 64)
			c.post(wqe.OpSend, 64)
			list := c.onlys(wqe.OpSend, 2)
			r.again(2)
			ack := c.ack(list[1].PSN.Add(x.off), x.s, 0)
			r.settle()
			if !r.check("ours#01", len(c.completions) == 0, "no completion", statuses(c.completions), list[1], ack) {
				r.why = "the requests have completed before their ACK"
				continue
			}
			r.again(3)
			good := c.ack(list[1].PSN, positive, 2)
			c.successes("ours#02", c.completed(2, r.soon()), 2, good)
		}
	},
}

var reservedSyndromes = &Test{
	ID: "X09_133", Title: "reserved syndromes",
	Abstract: "Acknowledges with a reserved syndrome (bit 7 set, type 2, NAK codes 5 to 31) never complete a request with success.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each syndrome connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post a SEND, and receive it.", "Send an Acknowledge with the syndrome, and wait for 10 ms.", "Acknowledge the SEND, and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request does not complete with success by a reserved syndrome."}, {"ours#02", "It completes once: with success when it is acknowledged, or with an error at the reserved syndrome."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. The requester may ignore the packet, or end the connection with BAD_RESP_ERR."}},
	Breaks:    []string{"RC-RSP-021", "RC-RSP-022"},
	run: func(r *run) {
		list := []packet.Syndrome{0x80, 0x9F, 0xA1, 0xE0, 0x40, 0x5F}
		for code := packet.Syndrome(5); code < 32; code += 2 {
			list = append(list, 0x60|code)
		}
		for _, s := range list {
			c := r.connect(patient)
			r.again(1)
			c.post(wqe.OpSend, 64)
			p := c.only(wqe.OpSend)
			r.again(2)
			bad := c.ack(p.PSN, s, 0)
			r.settle()
			ok := len(c.completions) == 0 || c.completions[0].Status != cq.Success
			if !r.check("ours#01", ok, "no success", statuses(c.completions), p, bad) {
				continue
			}
			r.again(3)
			if len(c.completions) > 0 {
				c.once("ours#02", c.completions, cq.BadRespErr, p, bad)
				continue
			}
			c.acknowledged(p, 1, "ours#02")
		}
	},
}

var credits = &Test{
	ID: "X09_145", Title: "end-to-end credits",
	Abstract: "A requester sends no message that needs a receive request beyond the credits that it has, but the first packet of one; with the credit code 31 it has no limit.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each credit code from 0 to 9, and messages of one and of two packets, connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post a SEND, receive it, and acknowledge it with the credit code.",
		"Have the device post SENDs, more than it has credits for, and receive what it sends: all that it has credits for, and of the next one the first packet at most, with AckReq.",
		"Acknowledge with the credit code 31, receive the rest, and acknowledge it; poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "All messages are sent that there is a credit for."}, {"ours#02", "Of those after them no more than one packet is sent, with AckReq."}, {"ours#03", "All are sent when there is no limit, and complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours; the section is 9.7.7.2. Codes of more than 128 credits would need more requests than the send queue has."}},
	run: func(r *run) {
		for k := range uint8(20) {
			code, packets := k/2, int(k%2)+1
			c := r.connect(patient)
			r.again(1)
			c.post(wqe.OpSend, 64)
			p := c.only(wqe.OpSend)
			ack := c.ack(p.PSN, packet.Syndrome(code), 1)
			r.settle()
			r.again(2)
			n, _ := packet.Syndrome(code).Credits()
			const beyond = 3
			for range int(n) + beyond {
				c.post(wqe.OpSend, (packets-1)*pmtu+64)
			}
			if !c.credited(int(n)*packets, ack) {
				continue
			}
			r.again(3)
			c.unlimited(int(n)+beyond, packets)
		}
	},
}

// credited judges that the device sends the n packets that it has credits for, and at most one of the next message.
func (c *conn) credited(n int, ack *packet.Packet) bool {
	r := c.r
	var list []*packet.Packet
	for p := c.quiet(); p != nil; p = c.quietly() {
		list = append(list, p)
	}
	want := fmt.Sprintf("%d or %d packets", n, n+1)
	frames := append([]*packet.Packet{ack}, list...)
	ok := r.check("ours#01", len(list) >= n, want, fmt.Sprintf("%d packets", len(list)), frames...)
	ok = r.check("ours#02", len(list) <= n+1, want, fmt.Sprintf("%d packets", len(list)), frames...) && ok
	if len(list) == n+1 {
		p := list[n]
		ok = r.check("ours#02", p.AckReq, "AckReq", "no AckReq", p) && ok
	}
	if !ok {
		r.why = "the device has not kept to its credits"
		return false
	}
	c.expects = c.attr.SQPSN.Add(1 + len(list))
	return true
}

// unlimited acknowledges what has come of n messages of so many packets without a limit, and judges that the rest comes and all complete.
func (c *conn) unlimited(n, packets int) {
	r := c.r
	had := c.expects.Diff(c.attr.SQPSN.Add(1))
	last := c.ack(c.expects.Add(-1), positive, uint32(1+had/packets))
	for range n*packets - had {
		p := c.answer()
		if p == nil || p.PSN != c.expects {
			r.check("ours#03", false, fmt.Sprintf("PSN %v", c.expects), happened(p, nil), last, p)
			return
		}
		c.expects = c.expects.Add(1)
	}
	last = c.ack(c.expects.Add(-1), positive, uint32(1+n))
	c.successes("ours#03", c.completed(1+n, r.soon()), 1+n, last)
}
