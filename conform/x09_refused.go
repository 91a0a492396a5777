package conform

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
)

var wrongKeys = &Test{
	ID: "X09_217", Title: "R_Keys and ranges that are not permitted",
	Abstract: "A WRITE with an unknown R_Key, one that goes a byte beyond its region, and one to a region that permits no peer to write are refused with Remote Access Error, and memory is untouched.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Register a region without remote access. For each case connect a queue pair of RC."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.", "Send the request that is not permitted, and receive the answer.", "Query the queue pair.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a NAK Remote Access Error with the PSN of the request, and an MSN that does not count it."}, {"ours#02", "Memory is untouched."}, {"ours#03", "The queue pair is in ERR then."},
	},
	Decisions: ours,
	run: func(r *run) {
		closed := r.registerClosed()
		for _, change := range []func(p *packet.Packet){
			func(p *packet.Packet) { p.RKey ^= 0x5500 },
			func(p *packet.Packet) { p.VA = r.memory.va + regionSize - 63 },
			func(p *packet.Packet) { p.RKey, p.VA = closed, closedVA },
		} {
			c := r.connect(answering)
			r.at(1)
			c.ask(packet.WriteOnly, pattern(1, 64), nil)
			if got := c.answer(); got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("the WRITE before the test is not acknowledged")
			}
			untouched := pattern(2, remoteRoom)
			c.fill(0, untouched)
			r.at(2)
			p := c.ask(packet.WriteOnly, pattern(3, 64), change)
			got := c.answer()
			if !c.nakked("ours#01", p, got, p.PSN, 1, packet.NAKRemoteAccess) && got != nil && got.Syndrome.Type() == packet.ACK {
				r.why = "the device has taken the request"
				continue
			}
			c.holds("ours#02", 0, untouched, p, got)
			r.at(3)
			r.settle()
			c.inError("ours#03", p, got)
		}
	},
}

var zeroLength = &Test{
	ID: "X09_218", Title: "requests of 0 bytes with a wrong R_Key",
	Abstract: "A WRITE and a READ of 0 bytes are taken whatever their R_Key.",
	Covers:   []Statement{{"C9-88", Stated}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC."},
	Procedure:  []string{"Send a WRITE of 0 bytes with a wrong R_Key.", "Send a READ of 0 bytes with a wrong R_Key."},
	Assertions: []Assertion{{"ours#01", "The WRITE is acknowledged."}, {"ours#02", "The READ is answered by a response without payload."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		wrong := func(p *packet.Packet) { p.RKey ^= 0x5500 }
		p := c.ask(packet.WriteOnly, nil, wrong)
		if !c.acked("ours#01", p, c.answer(), p.PSN, 1) {
			r.why = "the WRITE was refused"
			return
		}
		r.at(2)
		p = c.ask(packet.ReadRequest, nil, wrong)
		got := c.answer()
		r.check("ours#02", got != nil && got.Opcode == packet.Op(packet.RC, packet.ReadRespOnly) && got.PayloadLen == 0, "READ Response Only, empty", happened(got, nil), p, got)
	},
}

var responderRNR = &Test{
	ID: "X09_221", Title: "RNR NAK of a responder",
	Abstract: "A SEND that finds no receive request is refused with an RNR NAK whose time is not below that of the queue pair's minimum; when it is retransmitted and there is one, it is taken once.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each minimum RNR timer from 0 to 31 connect a queue pair of RC."},
	Procedure: []string{
		"Send a SEND, and receive the RNR NAK.", "Have the device post a receive request, wait for the time of the NAK, and retransmit the SEND.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is an RNR NAK with the PSN of the SEND, and MSN 0."},
		{"ours#02", "Its time is that of the minimum RNR timer, or longer."},
		{"ours#03", "The SEND is acknowledged when it is retransmitted."},
		{"ours#04", "One receive request completes."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours; the section is 9.7.5.2.8."}},
	run: func(r *run) {
		for code := range uint8(32) {
			c := r.connect(func(a *qp.Attr) { answering(a); a.MinRNRTimer = code })
			r.at(1)
			p := c.ask(packet.SendOnly, pattern(1, 64), nil)
			got := c.answer()
			if got == nil {
				r.check("ours#01", false, "an RNR NAK", "no answer", p)
				continue
			}
			ok := got.Opcode == packet.Op(packet.RC, packet.Acknowledge) && got.Syndrome.Type() == packet.RNRNAK && got.PSN == p.PSN && got.MSN == 0
			if !r.check("ours#01", ok, fmt.Sprintf("RNR NAK, PSN %v, MSN 0", p.PSN), told(got), p, got) {
				continue
			}
			wait, least := packet.RNRTimer(got.Syndrome.Value()), packet.RNRTimer(code)
			r.check("ours#02", wait >= least, fmt.Sprintf("at least %v (code %d)", least, code), wait.String(), p, got)
			r.at(2)
			c.postReceive(64)
			r.wait(int64(max(wait, least)))
			again := c.again(p)
			c.acked("ours#03", again, c.answer(), p.PSN, 1)
			c.r.settle()
			r.check("ours#04", len(c.completions) == 1, "one receive completion", statuses(c.completions), again)
		}
	},
}

var quietAfterRNR = &Test{
	ID: "X09_223", Title: "requests after an RNR NAK",
	Abstract: "After an RNR NAK the responder drops later requests in silence until the refused one is retransmitted.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC with the minimum RNR timer 20 (10.24 ms)."},
	Procedure:  []string{"Send three SENDs, one after the other, and receive the RNR NAK of the first.", "Wait for 10 ms: nothing more may come."},
	Assertions: []Assertion{{"ours#01", "The first SEND is refused with an RNR NAK."}, {"ours#02", "Nothing answers those after it."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { answering(a); a.MinRNRTimer = 20 })
		r.at(1)
		p := c.ask(packet.SendOnly, pattern(1, 64), nil)
		late := []*packet.Packet{c.ask(packet.SendOnly, pattern(2, 64), nil), c.ask(packet.SendOnly, pattern(3, 64), nil)}
		got := c.answer()
		if !r.check("ours#01", got != nil && got.PSN == p.PSN && got.Syndrome.Type() == packet.RNRNAK, fmt.Sprintf("RNR NAK, PSN %v", p.PSN), happened(got, nil), p, got) {
			r.why = "there was no RNR NAK"
			return
		}
		r.at(2)
		more := c.quiet()
		r.check("ours#02", more == nil, "nothing", happened(more, nil), late[0], late[1], got, more)
	},
}
