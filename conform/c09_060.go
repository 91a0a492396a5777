package conform

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// completionTests are those of C9-60: a reliable request completes when it is acknowledged, and not before.
var completionTests = []*Test{
	receivedMessages,
	pending("C09_060_05", "READ", "v1c09-060#05", wqe.OpRead, 3*pmtu, []Decision{{"The timeout is not said.", "0, so that no timer sends what the test does not wait for."}}),
	pending("C09_060_07", "FetchAdd", "v1c09-060#07", wqe.OpFetchAdd, 8, nil),
	pending("C09_060_09", "CmpSwap", "v1c09-060#07", wqe.OpCmpSwap, 8, []Decision{
		{"A step names the opcodes of SEND.", "CmpSwap is meant."}, {"The assertion has the number of the FetchAdd test.", "Kept as it is."},
	}),
	pending("X09_101", "SEND", "ours#01", wqe.OpSend, 3*pmtu, []Decision{{"No page of it was found.", "Ours, after C09_060_05."}}),
	pending("X09_102", "WRITE", "ours#01", wqe.OpWrite, 3*pmtu, []Decision{{"No page of it was found.", "Ours, after C09_060_05."}}),
}

// pending makes the test of an operation: of two requests the first is answered, and the second must stay pending.
func pending(id, name, assertion string, op wqe.SendOp, length int, decisions []Decision) *Test {
	packets, responded := (length+pmtu-1)/pmtu, op == wqe.OpRead || op == wqe.OpFetchAdd || op == wqe.OpCmpSwap
	size := "3 path MTUs"
	if length == 8 {
		size = "8 bytes"
	}
	if op == wqe.OpRead {
		packets = 1
	}
	second, held := "ours#01", "ours#02"
	if assertion == second {
		second, held = "ours#02", "ours#03"
	}
	t := &Test{
		ID: id, Title: name + ": completes only when acknowledged",
		Abstract: fmt.Sprintf("Of two requests, %s, only the first is answered: it completes, and the second does not until it is answered too.", name),
		Covers:   []Statement{{"C9-60", Stated}}, Topology: pairTopology, Needs: Control,
		Setup: []string{"Connect a queue pair of RC: path MTU 1024, ACK timeout 0."},
		Procedure: []string{
			fmt.Sprintf("Have the device post two requests, %s, of %s each.", name, size), "Receive all their packets, and answer nothing for 10 ms.",
			"Answer the first request in full, and nothing of the second.", "Poll for 10 ms.", "Answer the second request, and poll.",
		},
		Assertions: []Assertion{
			{assertion, "Before any answer nothing completes, and after the answer to the first request just that, with success."},
			{second, "When the second request is answered it completes once with success."},
		},
		Decisions: decisions,
	}
	if responded {
		t.Needs |= Reads | Memory
		t.Assertions = append(t.Assertions, Assertion{held, "Memory holds what the responses brought, and the completion has its length."})
	}
	t.run = func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 0 })
		r.at(1)
		var at [2]uint64
		_, at[0] = c.post(op, length)
		_, at[1] = c.post(op, length)
		r.at(2)
		requests := [2][]*packet.Packet{c.message(op, packets), c.message(op, packets)}
		r.settle()
		if !r.check(assertion, len(c.completions) == 0, "no completion before an answer", statuses(c.completions), requests[0][0], requests[1][0]) {
			r.why = "the requests have completed before their answers"
			return
		}
		for i := range uint32(2) {
			had := len(c.completions)
			if i == 0 {
				r.at(3)
			} else {
				r.at(5)
			}
			last := requests[i][packets-1]
			frames := []*packet.Packet{last, requests[1][0]}
			var data []byte
			switch op {
			case wqe.OpRead:
				data = pattern(r.seed+uint64(i)*77, length)
				frames = append(frames, c.readResponse(last, data, i+1)...)
			case wqe.OpFetchAdd, wqe.OpCmpSwap:
				orig := 0xA1B2_C3D4_0000_0000 + uint64(i)
				data = binary.LittleEndian.AppendUint64(nil, orig)
				frames = append(frames, c.atomicAck(last, orig, i+1))
			default:
				frames = append(frames, c.ack(last.PSN, positive, i+1))
			}
			if i == 0 {
				r.at(4)
			}
			got, judged := c.completed(had+1, r.soon())[had:], assertion
			if i == 1 {
				judged = second
			}
			ok := len(got) == 1 && got[0].Status == cq.Success && got[0].ID == uint64(i+1)
			r.check(judged, ok, fmt.Sprintf("only request %d SUCCESS", i+1), statuses(got), frames...)
			if responded && ok {
				r.check(held, got[0].ByteLen == uint32(length), fmt.Sprintf("a completion of %d bytes", length), fmt.Sprintf("%d bytes", got[0].ByteLen), frames...)
				holds := make([]byte, length)
				_, err := r.dev.MemoryData(ctx, r.memoryAt(at[i], length), holds)
				r.must(err)
				r.check(held, bytes.Equal(holds, data), "the data of the response", dataIs(bytes.Equal(holds, data)), frames...)
			}
		}
	}
	return t
}

var receivedMessages = &Test{
	ID: "C09_060_01_01", Title: "SEND received: acknowledged by AETH and MSN",
	Abstract: "The tester sends two SENDs of three path MTUs. The device acknowledges each with an AETH whose MSN counts it, and completes a receive request for each.",
	Covers:   []Statement{{"C9-60", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC: path MTU 1024.", "Have the device post two receive requests of three path MTUs."},
	Procedure: []string{
		"Send the First and Middle packet of a SEND, and poll: nothing completes.", "Send its Last packet with AckReq, and receive the ACK.", "Poll: one receive request completes, with the data.",
		"Do the same with a second SEND.",
	},
	Assertions: []Assertion{
		{"v1c09-060#01", "Each message is acknowledged at the PSN of its last packet, with an MSN that counts it."},
		{"ours#01", "A receive request does not complete before the last packet of its message."},
		{"ours#02", "One receive request completes with success for each message, with its length."},
		{"ours#03", "Memory holds the data of the message."},
	},
	Decisions: []Decision{{"The roles are turned without saying so.", "The tester is the requester; the acknowledgement is what its own requests complete by."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.RNRRetry, a.Timeout = 7, 7, 14 })
		var at, ids [2]uint64
		for i := range 2 {
			ids[i], at[i] = c.postReceive(3 * pmtu)
		}
		for i := range 2 {
			had := len(c.completions)
			data := pattern(r.seed+uint64(i)*101, 3*pmtu)
			var sent []*packet.Packet
			for k, f := range []packet.Fn{packet.SendFirst, packet.SendMiddle, packet.SendLast} {
				if i == 0 && k == 0 {
					r.at(1)
				} else if k == 0 {
					r.at(4)
				}
				if k == 2 {
					r.settle()
					if !r.check("ours#01", len(c.completions) == had, "no completion", statuses(c.completions[had:]), sent...) {
						r.why = "a receive request has completed before its message"
						return
					}
					if i == 0 {
						r.at(2)
					}
				}
				sent = append(sent, c.send(packet.Packet{
					Opcode: packet.Op(packet.RC, f), PSN: c.next, AckReq: k == 2, Payload: data[k*pmtu : (k+1)*pmtu],
				}))
				c.next = c.next.Add(1)
			}
			last := sent[2]
			ack := c.receive(r.soon())
			if ack == nil {
				r.check("v1c09-060#01", false, fmt.Sprintf("ACK of PSN %v", last.PSN), "none", sent...)
				r.why = "no acknowledgement came"
				return
			}
			ok := ack.Opcode == packet.Op(packet.RC, packet.Acknowledge) && ack.Syndrome.Type() == packet.ACK && ack.PSN == last.PSN && ack.MSN == uint32(i+1)
			r.check("v1c09-060#01", ok, fmt.Sprintf("ACK, PSN %v, MSN %d", last.PSN, i+1), told(ack), last, ack)
			if i == 0 {
				r.at(3)
			}
			got := c.completed(had+1, r.soon())[had:]
			ok = len(got) == 1 && got[0].Status == cq.Success && got[0].ID == ids[i] && got[0].ByteLen == 3*pmtu
			r.check("ours#02", ok, fmt.Sprintf("receive request %d SUCCESS, %d bytes", ids[i], 3*pmtu), statuses(got), append(sent, ack)...)
			holds := make([]byte, 3*pmtu)
			_, err := r.dev.MemoryData(ctx, r.memoryAt(at[i], 3*pmtu), holds)
			r.must(err)
			r.check("ours#03", bytes.Equal(holds, data), "the data of the message", dataIs(bytes.Equal(holds, data)), append(sent, ack)...)
		}
	},
}

// dataIs says whether memory holds what it should.
func dataIs(ok bool) string {
	if ok {
		return "that data"
	}
	return "other data"
}
