package conform

import (
	"encoding/binary"
	"fmt"

	"ibwitness/packet"
)

// orderTests are those of the order and the MSNs of a responder's answers.
var orderTests = []*Test{
	afterReads(1, "SEND", packet.SendOnly), afterReads(2, "WRITE", packet.WriteOnly), afterReads(3, "READ", packet.ReadRequest), afterReads(4, "FetchAdd", packet.FetchAdd),
	afterReads(5, "CmpSwap", packet.CmpSwap), afterAtomics, messageNumbers,
}

// due is a packet of an answer that a responder owes.
type due struct {
	op   packet.Opcode
	psn  packet.PSN
	msn  uint32
	orig uint64
	data bool // it has payload
}

func (d *due) String() string {
	s := fmt.Sprintf("%v, PSN %v", d.op, d.psn)
	if d.op.Info().Headers&packet.HasAETH != 0 {
		s += fmt.Sprintf(", MSN %d", d.msn)
	}
	if d.op.Fn() == packet.AtomicAck {
		s += fmt.Sprintf(", original data %#x", d.orig)
	}
	return s
}

// met reports whether a packet is the one that is due.
func (d *due) met(p *packet.Packet) bool {
	return p.Opcode == d.op && p.PSN == d.psn && (d.data || p.PayloadLen == 0) && (p.Has&packet.HasAETH == 0 || p.MSN == d.msn && p.Syndrome.Type() == packet.ACK && !p.Syndrome.Reserved()) &&
		(d.op.Fn() != packet.AtomicAck || p.OrigData == d.orig)
}

// owed are the packets that answer a request of the tester with an MSN; orig is the value before an atomic.
func owed(p *packet.Packet, msn uint32, orig uint64) (list []due) {
	switch f := p.Opcode.Fn(); f {
	case packet.ReadRequest:
		n := max(1, (int(p.DMALen)+pmtu-1)/pmtu)
		for i := range n {
			list = append(list, due{op: readResponseOp(i, n), psn: p.PSN.Add(i), msn: msn, data: true})
		}
	case packet.CmpSwap, packet.FetchAdd:
		list = []due{{op: packet.Op(packet.RC, packet.AtomicAck), psn: p.PSN, msn: msn, orig: orig}}
	case packet.Flush, packet.AtomicWrite:
		list = []due{{op: readResponseOp(0, 1), psn: p.PSN, msn: msn}}
	default:
		list = []due{{op: packet.Op(packet.RC, packet.Acknowledge), psn: p.PSN, msn: msn}}
	}
	return list
}

// inOrder judges that the device sends just these packets, in order, and nothing after them for a while.
func (c *conn) inOrder(id string, sent []*packet.Packet, list []due) bool {
	for i := range list {
		got := c.answer()
		if got == nil {
			return c.r.check(id, false, list[i].String(), "no answer", sent...)
		}
		actual := told(got)
		if got.Opcode.Fn() == packet.AtomicAck {
			actual += fmt.Sprintf(", original data %#x", got.OrigData)
		}
		if !c.r.check(id, list[i].met(got), list[i].String(), actual, append(sent[:len(sent):len(sent)], got)...) {
			return false
		}
	}
	more := c.quiet()
	return c.r.check(id, more == nil, "nothing more", happened(more, nil), append(sent[:len(sent):len(sent)], more)...)
}

// word stores a number at the beginning of the tester's part of the region.
func (c *conn) word(x uint64) { c.fill(0, binary.LittleEndian.AppendUint64(nil, x)) }

// atomic sends an atomic for that number.
func (c *conn) atomic(f packet.Fn, compare, add uint64) *packet.Packet {
	return c.ask(f, nil, func(p *packet.Packet) { p.DMALen, p.Compare, p.SwapAdd = 0, compare, add })
}

// reads sends a READ of n path MTUs.
func (c *conn) reads(n int) *packet.Packet {
	return c.ask(packet.ReadRequest, nil, func(p *packet.Packet) { p.DMALen = uint32(n * pmtu) })
}

// some sends a request of one packet of an operation: of 64 bytes, or an atomic that finds the number 7 and makes it 12.
func (c *conn) some(f packet.Fn) *packet.Packet {
	switch f {
	case packet.CmpSwap:
		return c.atomic(f, 7, 12)
	case packet.FetchAdd:
		return c.atomic(f, 0, 5)
	case packet.ReadRequest:
		return c.reads(1)
	case packet.SendOnly:
		c.postReceive(64)
	}
	return c.ask(f, pattern(c.r.seed, 64), func(p *packet.Packet) {
		if p.Info().Headers&packet.HasRETH != 0 {
			p.VA += 64
		}
	})
}

// afterReads is a test of the class of C9-27: two READs, and a request after them.
func afterReads(n int, name string, f packet.Fn) *Test {
	first := Assertion{"ours#01", "All is answered in the order of the PSNs: READ responses first, then the answer to the " + name + "."}
	executed := Assertion{"ours#02", "The " + name + " is executed."}
	if n == 5 { // its page was found
		first.ID, executed.ID = "v1c09-027#05", "ours#01"
	}
	t := &Test{
		ID: fmt.Sprintf("C09_027_%02d", n), Title: "READs, then a " + name + ": answers in order",
		Abstract: "Two READs of 4 path MTUs and a " + name + " come back to back: their answers are in the order of their PSNs, and none is left out.",
		Covers:   []Statement{{"C9-27", Stated}}, Topology: pairTopology, Needs: Control | Memory,
		Setup:      []string{"Connect a queue pair of RC, and have the device store a number in its memory."},
		Procedure:  []string{"Send two READs of 4 path MTUs, and a " + name + " right after them.", "Receive the answers."},
		Assertions: []Assertion{first},
		Decisions:  []Decision{{"Pages 01 to 04 of the class were not found.", "They are done as page 05, each with another operation after the READs; their assertion is ours."}},
		run: func(r *run) {
			c := r.connect(answering)
			c.word(7)
			r.at(1)
			sent := []*packet.Packet{c.reads(4), c.reads(4), c.some(f)}
			r.at(2)
			var list []due
			for i, p := range sent {
				list = append(list, owed(p, uint32(i+1), 7)...)
			}
			if c.inOrder(first.ID, sent, list) && sent[2].Has&packet.HasAtomicETH != 0 {
				c.holds(executed.ID, 0, binary.LittleEndian.AppendUint64(nil, 12), sent[2])
			}
		},
	}
	if n >= 4 {
		t.Assertions = append(t.Assertions, executed)
	}
	return t
}

var afterAtomics = &Test{
	ID: "X09_201", Title: "atomics, then other requests: answers in order",
	Abstract: "Two atomics and a SEND, a WRITE or a READ come back to back: their answers are in the order of their PSNs.",
	Covers:   []Statement{{"C9-27", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"For each of the three connect a queue pair of RC, and have the device store a number in its memory."},
	Procedure:  []string{"Send a FetchAdd, a CmpSwap and the request right after them.", "Receive the answers."},
	Assertions: []Assertion{{"ours#01", "All is answered in the order of the PSNs."}, {"ours#02", "Both atomics are executed."}},
	Decisions:  []Decision{{"The later pages of the class were not found.", "Ours, after C09_027_05."}},
	run: func(r *run) {
		for _, f := range []packet.Fn{packet.SendOnly, packet.WriteOnly, packet.ReadRequest} {
			c := r.connect(answering)
			c.word(2)
			r.at(1)
			sent := []*packet.Packet{c.some(packet.FetchAdd), c.some(packet.CmpSwap), c.some(f)}
			r.at(2)
			list := append(owed(sent[0], 1, 2), owed(sent[1], 2, 7)...)
			c.inOrder("ours#01", sent, append(list, owed(sent[2], 3, 0)...))
			c.holds("ours#02", 0, binary.LittleEndian.AppendUint64(nil, 12), sent...)
		}
	},
}

var messageNumbers = &Test{
	ID: "X09_205", Title: "MSNs while READs are answered",
	Abstract: "SENDs and atomics that come while a READ is answered are counted once each, and the MSN never goes back.",
	Covers:   []Statement{{"C9-148", Seen}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC, and have the device post receive requests."},
	Procedure: []string{
		"Send a READ of 8 path MTUs, and a SEND, a FetchAdd and a WRITE while it is answered; do so five times.", "Receive the answers.",
	},
	Assertions: []Assertion{
		{"ours#01", "Every AETH has an MSN that counts its request and those before it; in a READ response it may count those that came meanwhile."}, {"ours#02", "The MSN never goes back."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. A READ may be counted when its request is taken or when it is answered: no MSN is below the number of requests before it and it, and none above what was sent."}},
	run: func(r *run) {
		c := r.connect(answering)
		for round := range uint32(5) {
			r.again(1)
			sent := []*packet.Packet{c.reads(8), c.some(packet.SendOnly), c.some(packet.FetchAdd), c.some(packet.WriteOnly)}
			r.again(2)
			if !c.counted(sent, 4*round) {
				return
			}
		}
	},
}

// counted takes the answers to requests, before which there were so many, and judges their MSNs.
func (c *conn) counted(sent []*packet.Packet, before uint32) bool {
	r, newest := c.r, before
	of := func(psn packet.PSN) (n uint32) {
		for _, p := range sent {
			if !psn.Before(p.PSN) {
				n++
			}
		}
		return before + n
	}
	end := before + uint32(len(sent))
	for {
		got := c.answer()
		if got == nil {
			r.why = "not all requests were answered"
			return false
		}
		if got.Has&packet.HasAETH == 0 {
			continue
		}
		least := of(got.PSN)
		most := least
		if got.Opcode.Fn() == packet.ReadRespLast {
			most = end
		}
		frames := append(sent[:len(sent):len(sent)], got)
		ok := r.check("ours#01", got.MSN >= least && got.MSN <= most, fmt.Sprintf("MSN %d to %d at PSN %v", least, most, got.PSN), fmt.Sprintf("MSN %d", got.MSN), frames...)
		if !r.check("ours#02", got.MSN >= newest, fmt.Sprintf("MSN %d or more", newest), fmt.Sprintf("MSN %d", got.MSN), frames...) || !ok {
			return false
		}
		if newest = got.MSN; got.PSN == sent[len(sent)-1].PSN {
			return true
		}
	}
}
