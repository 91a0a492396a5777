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

// bareText is what is asserted of the BTH of an answer.
const bareText = "Its BTH has the P_Key of the connection and MigReq, neither AckReq nor SE, and reserved bits that are 0."

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
			bad := r.tester.send(&x, badICRC)
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
		{"ours#01", "Each message is acknowledged at its last PSN: Acknowledge without payload, and an MSN that counts it."},
		{"ours#02", "It is acknowledged once."},
		{"ours#03", "Memory holds the data of the message."},
		{"ours#04", bareText},
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
				if c.acked("ours#01", last, got, last.PSN, msn) {
					c.bareBTH("ours#04", last, got)
				}
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
		{"ours#01", "The response is Only, or First, Middle and Last packets, with consecutive PSNs."},
		{"ours#02", "An AETH is an ACK with an MSN that counts the READ."},
		{"ours#03", "The payload is full in all packets but the last, and is the data of memory."},
		{"ours#04", bareText},
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
				op := readResponseOp(i, n)
				got := c.answer()
				want := fmt.Sprintf("%v, PSN %v", op, req.PSN.Add(i))
				if got == nil {
					r.check("ours#01", false, want, "no answer", req)
					r.why = "a packet of a response is missing"
					return
				}
				if !r.check("ours#01", got.Opcode == op && got.PSN == req.PSN.Add(i), want, told(got), req, got) {
					continue
				}
				c.bareBTH("ours#04", req, got)
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
