package conform

import (
	"encoding/binary"
	"fmt"

	"ibwitness/packet"
)

var sequenceGap = &Test{
	ID: "X09_206", Title: "gap in the PSNs of requests",
	Abstract: "A PSN is left out and nine requests follow: one NAK of a sequence error names it, nothing is executed; when all come in order they are taken.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC. Send a WRITE, and receive its ACK."},
	Procedure: []string{
		"Leave out a WRITE of 64 bytes, and send the nine that follow it.", "Receive one NAK, and wait for 10 ms.", "Send all ten, and receive the ACK of the last.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a NAK of a sequence error with the PSN that is left out and the MSN before it."},
		{"ours#02", "It comes once."},
		{"ours#03", "Nothing after the gap is executed."},
		{"ours#04", "When all come in order they are executed and acknowledged."},
	},
	Decisions: ours,
	run: func(r *run) {
		c := r.connect(answering)
		write := func(i int) *packet.Packet {
			return c.ask(packet.WriteOnly, pattern(r.seed+uint64(i), 64), func(p *packet.Packet) { p.VA += uint64(64 * i) })
		}
		p := write(0)
		if got := c.answer(); got == nil || got.PSN != p.PSN || got.Syndrome.Type() != packet.ACK {
			r.halt("the WRITE before the test is not acknowledged")
		}
		untouched := pattern(r.seed+99, 64*9)
		c.fill(128, untouched)
		r.at(1)
		left := c.next
		c.next = c.next.Add(1)
		for i := range 9 {
			p = write(i + 2)
		}
		r.at(2)
		nak := c.answer()
		c.nakked("ours#01", p, nak, left, 1, packet.NAKSequence)
		if more := c.quiet(); !r.check("ours#02", more == nil, "silence after the NAK", happened(more, nil), p, nak, more) {
			c.arrived = nil
		}
		if !c.holds("ours#03", 128, untouched, p, nak) {
			r.why = "what came after the gap was executed"
			return
		}
		r.at(3)
		c.next = left
		for i := range 10 {
			p = write(i + 1)
		}
		var got *packet.Packet
		for range 10 { // each asks for an ACK
			if x := c.answer(); x != nil {
				got = x
			}
			if got != nil && got.PSN == p.PSN {
				break
			}
		}
		if c.acked("ours#04", p, got, p.PSN, 11) {
			c.holds("ours#04", 64*10, pattern(r.seed+10, 64), p, got)
		}
	},
}

var duplicates = &Test{
	ID: "X09_208", Title: "duplicate SENDs and WRITEs",
	Abstract: "A SEND and a WRITE that come twice are acknowledged twice, with the newest PSN, and executed once.",
	Covers:   []Statement{{"C9-105", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC, and have the device post two receive requests."},
	Procedure: []string{
		"Send a SEND, and receive its ACK. Send it once more.", "Send a WRITE, and receive its ACK. Have the device store other data there, and send the WRITE once more.",
	},
	Assertions: []Assertion{{"ours#01", "A duplicate is acknowledged with the newest PSN and MSN."}, {"ours#02", "A duplicate SEND takes no receive request."}, {"ours#03", "A duplicate WRITE does not write."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		c.postReceive(64)
		c.postReceive(64)
		r.at(1)
		p := c.ask(packet.SendOnly, pattern(1, 64), nil)
		c.answer()
		again := c.again(p)
		c.acked("ours#01", again, c.answer(), p.PSN, 1)
		r.settle()
		r.check("ours#02", len(c.completions) == 1, "one receive completion", statuses(c.completions), p, again)
		r.at(2)
		p = c.ask(packet.WriteOnly, pattern(2, 64), nil)
		c.answer()
		other := pattern(3, 64)
		c.fill(0, other)
		again = c.again(p)
		got := c.answer()
		c.acked("ours#01", again, got, p.PSN, 2)
		c.holds("ours#03", 0, other, p, again)
	},
}

var duplicateAtomics = &Test{
	ID: "X09_210", Title: "duplicate atomics",
	Abstract: "A FetchAdd that comes twice is answered twice with the same value, and executed once.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC with four responder resources, and have the device store a number in its memory."},
	Procedure:  []string{"Send four FetchAdds, and receive their responses.", "Send the newest once more, then the oldest."},
	Assertions: []Assertion{{"ours#01", "A duplicate is answered with the saved value."}, {"ours#02", "Memory does not change."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		c.fill(0, binary.LittleEndian.AppendUint64(nil, 1000))
		r.at(1)
		var reqs, answers []*packet.Packet
		for i := range 4 {
			reqs = append(reqs, c.ask(packet.FetchAdd, nil, func(p *packet.Packet) { p.DMALen, p.SwapAdd = 0, uint64(i+1) }))
			got := c.answer()
			if got == nil {
				r.halt("an atomic has no answer")
			}
			answers = append(answers, got)
		}
		r.at(2)
		for _, i := range []int{3, 0} {
			again := c.again(reqs[i])
			got := c.answer()
			want := fmt.Sprintf("ATOMIC Acknowledge, PSN %v, original data %d", reqs[i].PSN, answers[i].OrigData)
			if got == nil {
				r.check("ours#01", false, want, "no answer", reqs[i], again)
			} else {
				ok := got.Opcode == packet.Op(packet.RC, packet.AtomicAck) && got.PSN == reqs[i].PSN && got.OrigData == answers[i].OrigData
				r.check("ours#01", ok, want, fmt.Sprintf("%s, original data %d", told(got), got.OrigData), reqs[i], again, got)
			}
			c.holds("ours#02", 0, binary.LittleEndian.AppendUint64(nil, 1010), reqs[i], again)
		}
	},
}
