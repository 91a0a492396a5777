package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// responderTests are those of the responder.
var responderTests = []*Test{damagedRequest, acknowledges, readResponses, atomics, sequenceGap, duplicates, duplicateAtomics, wrongKeys, zeroLength, responderRNR, quietAfterRNR}

// answering are the attributes of a queue pair that answers.
func answering(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 14 }

// ours is what is said of the page of a test that has none.
var ours = []Decision{{"No page of it was found.", "Ours."}}

var damagedRequest = &Test{
	ID: "X09_002", Title: "request with a wrong ICRC",
	Abstract: "A SEND, a WRITE and a READ request with a wrong ICRC are dropped without an answer; the next good request with the same PSN is taken.",
	Covers:   []Statement{{"CA17-24", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC, and have the device post four receive requests."},
	Procedure: []string{
		"Send a SEND, and receive its ACK.", "Send a request whose ICRC is wrong, and wait for 10 ms.", "Send a SEND with the same PSN, and receive its ACK. Do both with SEND, WRITE and READ.",
	},
	Assertions: []Assertion{{"ours#01", "A request with a wrong ICRC is not answered."}, {"ours#02", "The good request with its PSN is acknowledged, with an MSN that does not count the bad one."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		for range 4 {
			c.postReceive(64)
		}
		r.at(1)
		p := c.ask(packet.SendOnly, pattern(1, 64), nil)
		c.acked("ours#02", p, c.answer(), p.PSN, 1)
		for i, f := range []packet.Fn{packet.SendOnly, packet.WriteOnly, packet.ReadRequest} {
			r.at(2)
			x := packet.Packet{Opcode: packet.Op(packet.RC, f), PSN: c.next, AckReq: true, DestQP: c.qp.QPN, SrcPort: c.port, PKey: 0xFFFF, MigReq: true}
			if f != packet.ReadRequest {
				x.Payload = pattern(2, 64)
			}
			if f != packet.SendOnly {
				x.VA, x.RKey, x.DMALen = r.memory.va+remoteOffset, r.memory.rkey, 64
			}
			bad := r.tester.send(&x, true)
			got := c.quiet()
			if !r.check("ours#01", got == nil, "no answer", happened(got, nil), bad, got) {
				r.why = "the device has answered a damaged request"
				return
			}
			r.at(3)
			p := c.ask(packet.SendOnly, pattern(3, 64), nil)
			c.acked("ours#02", p, c.answer(), p.PSN, uint32(i+2))
		}
	},
}

var acknowledges = &Test{
	ID: "X09_202", Title: "ACKs of SENDs and WRITEs",
	Abstract: "SENDs and WRITEs of all lengths, with AckReq in their last packet only, are each acknowledged once, with the right PSN and MSN, and their data arrives.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC."},
	Procedure: []string{
		"Have the device post a receive request, and send a SEND of 0, 1, 3, PMTU-1, PMTU, PMTU+1 and 10 PMTU bytes.", "Send a WRITE of the same length.",
	},
	Assertions: []Assertion{
		{"ours#01", "Each message is acknowledged at its last PSN: Acknowledge without payload, and an MSN that counts it."}, {"ours#02", "It is acknowledged once."},
		{"ours#03", "Memory holds the data of the message."},
	},
	Decisions: ours,
	run: func(r *run) {
		c := r.connect(answering)
		msn := uint32(0)
		for i, n := range []int{0, 1, 3, pmtu - 1, pmtu, pmtu + 1, 10 * pmtu} {
			for k, op := range []wqe.SendOp{wqe.OpSend, wqe.OpWrite} {
				r.at(k + 1)
				at := uint64(remoteOffset)
				if op == wqe.OpSend {
					_, at = c.postReceive(max(n, 1))
				}
				data := pattern(r.seed+uint64(2*i+k), n)
				sent := c.tell(op, data)
				last := sent[len(sent)-1]
				msn++
				got := c.answer()
				c.acked("ours#01", last, got, last.PSN, msn)
				more := c.quiet()
				r.check("ours#02", more == nil, "silence after the ACK", happened(more, nil), last, got, more)
				holds := make([]byte, n)
				_, err := r.dev.MemoryData(ctx, r.memoryAt(at, n), holds)
				r.must(err)
				r.check("ours#03", bytes.Equal(holds, data), "the data of the message", dataIs(bytes.Equal(holds, data)), sent...)
			}
		}
	},
}

var readResponses = &Test{
	ID: "X09_203", Title: "responses to READs",
	Abstract: "READs of all lengths are answered packet by packet: opcodes, PSNs, AETH in all but Middle packets, and the data of memory.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:     []string{"Connect a queue pair of RC, and have the device store data in its memory."},
	Procedure: []string{"Send a READ of 0, 1, PMTU, PMTU+1 and 10 PMTU bytes, and receive as many packets as its response has."},
	Assertions: []Assertion{
		{"ours#01", "The response is Only, or First, Middle and Last packets, with consecutive PSNs."}, {"ours#02", "An AETH is an ACK with an MSN that counts the READ."},
		{"ours#03", "The payload is full in all packets but the last, and is the data of memory."},
	},
	Decisions: ours,
	run: func(r *run) {
		c := r.connect(answering)
		data := pattern(r.seed, 10*pmtu)
		c.fill(0, data)
		for k, length := range []int{0, 1, pmtu, pmtu + 1, 10 * pmtu} {
			r.at(1)
			req := c.ask(packet.ReadRequest, nil, func(p *packet.Packet) { p.DMALen = uint32(length) })
			n := max(1, (length+pmtu-1)/pmtu)
			for i := range n {
				f := packet.ReadRespMiddle
				switch {
				case n == 1:
					f = packet.ReadRespOnly
				case i == 0:
					f = packet.ReadRespFirst
				case i == n-1:
					f = packet.ReadRespLast
				}
				got := c.answer()
				want := fmt.Sprintf("%v, PSN %v", packet.Op(packet.RC, f), req.PSN.Add(i))
				if got == nil {
					r.check("ours#01", false, want, "no answer", req)
					r.why = "a packet of a response is missing"
					return
				}
				if !r.check("ours#01", got.Opcode == packet.Op(packet.RC, f) && got.PSN == req.PSN.Add(i), want, told(got), req, got) {
					continue
				}
				if got.Has&packet.HasAETH != 0 {
					r.check("ours#02", got.Syndrome.Type() == packet.ACK && got.MSN == uint32(k+1), fmt.Sprintf("ACK, MSN %d", k+1), told(got), req, got)
				}
				part := data[i*pmtu : min(length, (i+1)*pmtu)]
				r.check("ours#03", bytes.Equal(got.Payload, part), fmt.Sprintf("%d bytes of memory", len(part)), fmt.Sprintf("%d bytes, %s", got.PayloadLen, dataIs(bytes.Equal(got.Payload, part))), req, got)
			}
		}
	},
}

var atomics = &Test{
	ID: "X09_204", Title: "atomics",
	Abstract: "CmpSwap with equal and unequal operand, FetchAdd with overflow, and 200 of both by chance: each is answered with the value before, and memory is what they make of it.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC, and have the device store a number in its memory."},
	Procedure:  []string{"Send a CmpSwap or FetchAdd, and receive its response; do so 203 times."},
	Assertions: []Assertion{{"ours#01", "The response is an ATOMIC Acknowledge with its PSN, an MSN that counts it, and the value before."}, {"ours#02", "Memory holds what each atomic makes of it."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		chance := rand.New(rand.NewPCG(r.seed, 1))
		word := uint64(0xFFFF_FFFF_FFFF_FFF0)
		c.fill(0, binary.LittleEndian.AppendUint64(nil, word))
		for i := range 203 {
			r.at(1)
			f, compare, add := packet.CmpSwap, word, chance.Uint64()
			switch {
			case i == 1 || i > 2 && chance.IntN(3) == 0:
				compare++
			case i == 2 || i > 2 && chance.IntN(2) == 0:
				f, compare = packet.FetchAdd, 0
			}
			req := c.ask(f, nil, func(p *packet.Packet) { p.DMALen, p.Compare, p.SwapAdd = 0, compare, add })
			got, was := c.answer(), word
			switch {
			case f == packet.FetchAdd:
				word += add
			case compare == word:
				word = add
			}
			want := fmt.Sprintf("ATOMIC Acknowledge, PSN %v, MSN %d, original data %#x", req.PSN, i+1, was)
			if got == nil {
				r.check("ours#01", false, want, "no answer", req)
				r.why = "an atomic has no answer"
				return
			}
			ok := got.Opcode == packet.Op(packet.RC, packet.AtomicAck) && got.PSN == req.PSN && got.MSN == uint32(i+1) && got.OrigData == was
			r.check("ours#01", ok, want, fmt.Sprintf("%s, original data %#x", told(got), got.OrigData), req, got)
			if !c.holds("ours#02", 0, binary.LittleEndian.AppendUint64(nil, word), req, got) {
				r.why = "memory is not what the model says"
				return
			}
		}
	},
}

var sequenceGap = &Test{
	ID: "X09_206", Title: "gap in the PSNs of requests",
	Abstract: "A PSN is left out and nine requests follow: one NAK of a sequence error names it, nothing is executed; when all come in order they are taken.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC. Send a WRITE, and receive its ACK."},
	Procedure: []string{
		"Leave out a WRITE of 64 bytes, and send the nine that follow it.", "Receive one NAK, and wait for 10 ms.", "Send all ten, and receive the ACK of the last.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a NAK of a sequence error with the PSN that is left out and the MSN before it."}, {"ours#02", "It comes once."}, {"ours#03", "Nothing after the gap is executed."},
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
		r.wait(ackWindow)
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
			r.wait(ackWindow)
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
		{"ours#01", "The answer is an RNR NAK with the PSN of the SEND, and MSN 0."}, {"ours#02", "Its time is that of the minimum RNR timer, or longer."},
		{"ours#03", "The SEND is acknowledged when it is retransmitted."}, {"ours#04", "One receive request completes."},
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
			c.r.wait(ackWindow)
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
