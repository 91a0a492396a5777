package conform

import (
	"bytes"
	"fmt"

	"ibwitness/packet"
)

// duplicateTests are those of duplicate requests, and of the borders of the PSNs.
var duplicateTests = []*Test{duplicateInGap, duplicateReads, earlierDuplicate, psnBorders}

// begin sends a WRITE and receives its ACK, so that what is silent later is so on a connection that works.
func (c *conn) begin() {
	p := c.ask(packet.WriteOnly, pattern(c.r.seed, 64), nil)
	if got := c.answer(); got == nil || got.PSN != p.PSN || got.Syndrome.Type() != packet.ACK {
		c.r.halt("the WRITE before the test is not acknowledged")
	}
}

// readAgain judges that a READ is answered packet by packet, under order, with data, under content.
func (c *conn) readAgain(order, content string, req *packet.Packet, data []byte) bool {
	n := max(1, (len(data)+pmtu-1)/pmtu)
	for i := range n {
		got, op := c.answer(), readResponseOp(i, n)
		want := fmt.Sprintf("%v, PSN %v", op, req.PSN.Add(i))
		if got == nil {
			return c.r.check(order, false, want, "no answer", req)
		}
		if !c.r.check(order, got.Opcode == op && got.PSN == req.PSN.Add(i), want, told(got), req, got) {
			return false
		}
		part := data[i*pmtu : min(len(data), (i+1)*pmtu)]
		c.r.check(content, bytes.Equal(got.Payload, part), fmt.Sprintf("%d bytes of memory", len(part)), fmt.Sprintf("%d bytes, %s", got.PayloadLen, dataIs(bytes.Equal(got.Payload, part))), req, got)
	}
	more := c.quiet()
	return c.r.check(order, more == nil, "nothing more", happened(more, nil), req, more)
}

// tail sends the request for the rest of a READ, from packet i of its response on.
func (c *conn) tail(req *packet.Packet, i int) *packet.Packet {
	p := *req
	p.PSN, p.VA, p.DMALen = req.PSN.Add(i), req.VA+uint64(i*pmtu), req.DMALen-uint32(i*pmtu)
	return c.again(&p)
}

var duplicateInGap = &Test{
	ID: "X09_207", Title: "duplicate READ after a NAK of a sequence error",
	Abstract: "A responder that waits for a PSN which it has refused a gap for answers a duplicate READ meanwhile, and takes that PSN when it comes.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC. Send a READ of 2 path MTUs, and receive its response."},
	Procedure: []string{
		"Leave out a WRITE, send the one after it, and receive the NAK of a sequence error.", "Send the READ once more, and receive its response.", "Send both WRITEs, and receive their ACKs.",
	},
	Assertions: []Assertion{
		{"ours#01", "The gap is refused with a NAK of a sequence error for its PSN."},
		{"ours#02", "The duplicate READ is answered in full."},
		{"ours#03", "The response has the data of memory."},
		{"ours#04", "The request that was left out is taken, and the one after it."},
	},
	Decisions: ours,
	run: func(r *run) {
		c := r.connect(answering)
		data := pattern(r.seed, 2*pmtu)
		c.fill(0, data)
		req := c.reads(2)
		c.readAgain("ours#02", "ours#03", req, data)
		r.at(1)
		left := c.next
		c.next = left.Add(1)
		write := func() *packet.Packet {
			return c.ask(packet.WriteOnly, pattern(1, 64), func(p *packet.Packet) { p.VA += 4 * pmtu })
		}
		p := write()
		if !c.nakked("ours#01", p, c.answer(), left, 1, packet.NAKSequence) {
			r.why = "the gap was not refused"
			return
		}
		r.at(2)
		again := c.again(req)
		c.readAgain("ours#02", "ours#03", again, data)
		r.at(3)
		c.next = left
		for i := range uint32(2) {
			p = write()
			c.acked("ours#04", p, c.answer(), p.PSN, 2+i)
		}
	},
}

var duplicateReads = &Test{
	ID: "X09_209", Title: "duplicate READs, whole and tails",
	Abstract: "A duplicate READ, whole or of its tail, is answered again, with what memory holds then.",
	Covers:   []Statement{{"C9-105", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC, and have the device store data in its memory."},
	Procedure: []string{
		"Send a READ of 8 path MTUs, and receive its response.", "Have the device store other data, send the READ once more, and receive its response.",
		"Send the request for its tail, from each of its packets on, with other data each time, and receive the response.",
	},
	Assertions: []Assertion{{"ours#01", "Each is answered in full, with the PSNs of what it asks for; a tail begins with First or Only."}, {"ours#02", "The response has what memory holds when it is sent."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		const n = 8
		data := pattern(r.seed, n*pmtu)
		c.fill(0, data)
		r.at(1)
		req := c.reads(n)
		if !c.readAgain("ours#01", "ours#02", req, data) {
			r.why = "the READ was not answered"
			return
		}
		r.at(2)
		for i := range n {
			if i == 1 {
				r.at(3)
			}
			data = pattern(r.seed+uint64(i)+1, n*pmtu)
			c.fill(0, data)
			if !c.readAgain("ours#01", "ours#02", c.tail(req, i), data[i*pmtu:]) {
				r.why = "a duplicate was not answered"
				return
			}
		}
	},
}

var earlierDuplicate = &Test{
	ID: "X09_211", Title: "duplicate READ while a later one is answered",
	Abstract: "A duplicate READ that comes while a later duplicate is answered interrupts that answer: what follows begins with the earlier one.",
	Covers:   []Statement{{"C9-110", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC. Send a READ of 4 path MTUs and one of 32, and receive their responses."},
	Procedure: []string{
		"Send the second READ once more, and the first right after it.", "Receive what comes.", "Send the second READ once more, and receive its response.",
	},
	Assertions: []Assertion{
		{"ours#01", "The response to the first READ begins before that to the second is finished."},
		{"ours#02", "The response to the first READ is whole and in order."},
		{"ours#03", "The second READ is answered in full when it comes once more."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. What is left of the interrupted response may follow or not: its requester asks for it again. A response that ends before the request to interrupt it has arrived for certain shows nothing."}},
	run: func(r *run) {
		c := r.connect(answering)
		early, late := c.reads(4), c.reads(32)
		for _, x := range []*packet.Packet{early, late} {
			for i := range int(x.DMALen) / pmtu {
				if got := c.answer(); got == nil || got.PSN != x.PSN.Add(i) {
					r.halt("a READ before the test is not answered")
				}
			}
		}
		r.at(1)
		again := []*packet.Packet{c.again(late), c.again(early)}
		r.at(2)
		var first, last *packet.Packet // of the responses to the first and the second READ
		next := early.PSN
		for got := c.quiet(); got != nil; got = c.quietly() {
			switch {
			case got.PSN == late.PSN.Add(31):
				last = got
			case got.PSN.Before(late.PSN):
				if first == nil {
					first = got
					if last != nil && last.Time <= again[1].Time+r.jitter {
						r.open("ours#01", "the response to the second READ had ended before the first one reached the device for certain", again[1], last, got)
					} else {
						r.check("ours#01", last == nil, "the response to the first READ before the end of the other", "the other response first, to its end", again[0], again[1], got, last)
					}
				}
				r.check("ours#02", got.PSN == next, fmt.Sprintf("PSN %v", next), told(got), again[1], got)
				next = got.PSN.Add(1)
			}
		}
		if !r.check("ours#02", next == late.PSN, fmt.Sprintf("all up to PSN %v", late.PSN.Add(-1)), fmt.Sprintf("up to PSN %v", next.Add(-1)), again[1], first) {
			r.why = "the first READ was not answered"
			return
		}
		r.at(3)
		again[0] = c.again(late)
		c.readAgain("ours#03", "ours#03", again[0], r.memoryOf(remoteOffset, 32*pmtu))
	},
}

// psnBorders sends PSNs at the borders of what is new, duplicate and out of sequence.
var psnBorders = &Test{
	ID: "X09_212", Title: "borders of the PSNs",
	Abstract: "The PSN before the expected one is a duplicate, those from the one after it on for half the number space are a gap, and those before are old: none of them is executed.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.", "Send it once more: the PSN before the expected one.", "Send WRITEs one and 2^23-1 after the expected PSN, each followed by one at the expected PSN.",
		"Send WRITEs 2^23 before and after the expected PSN, each followed by one at the expected PSN.",
	},
	Assertions: []Assertion{
		{"ours#01", "A request at the expected PSN is taken, and acknowledged."},
		{"ours#02", "The PSN before is acknowledged again."},
		{"ours#03", "A PSN from one to 2^23-1 after the expected one is refused with one NAK of a sequence error."},
		{"ours#04", "Nothing is executed but at the expected PSN."},
		{"ours#05", "A PSN 2^23 away is dropped, or answered as a duplicate or a gap, but not with an error that ends the connection."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. 2^23 before and after are the same PSN: whether it is old or new is open, so that any answer passes that goes on."}},
	Breaks:    []string{"RC-PSN-004"},
	run: func(r *run) {
		c := r.connect(answering)
		msn := uint32(0)
		right := func() *packet.Packet {
			p := c.ask(packet.WriteOnly, pattern(r.seed+uint64(msn), 64), nil)
			msn++
			if !c.acked("ours#01", p, c.answer(), p.PSN, msn) {
				return nil
			}
			return p
		}
		r.at(1)
		p := right()
		if p == nil {
			r.why = "a right WRITE was not acknowledged"
			return
		}
		untouched := pattern(9, 64)
		far := func(n int) (p, got *packet.Packet) {
			expected := c.next
			c.fill(128, untouched)
			p = c.ask(packet.WriteOnly, pattern(3, 64), func(p *packet.Packet) { p.PSN, p.VA = expected.Add(n), p.VA+128 })
			c.next = expected
			got = c.answer()
			c.holds("ours#04", 128, untouched, p, got)
			return p, got
		}
		r.at(2)
		c.fill(0, untouched)
		p = c.again(p)
		got := c.answer()
		c.acked("ours#02", p, got, p.PSN, msn)
		c.holds("ours#04", 0, untouched, p, got)
		for _, n := range []int{1, 1<<23 - 1} {
			r.again(3)
			p, got = far(n)
			c.nakked("ours#03", p, got, c.next, msn, packet.NAKSequence)
			more := c.quiet()
			r.check("ours#03", more == nil, "one NAK", happened(more, nil), p, got, more)
			right()
		}
		for _, n := range []int{-1 << 23, 1 << 23} {
			r.again(4)
			p, got = far(n)
			r.check("ours#05", got == nil || !got.Syndrome.Fatal(), "silence, an ACK or a NAK of a sequence error", happened(got, nil), p, got)
			c.quiet()
			right()
		}
	},
}

// quietly takes what has come already.
func (c *conn) quietly() *packet.Packet {
	if len(c.arrived) == 0 {
		return nil
	}
	return c.receive(c.r.now())
}

// memoryOf is what the region of the device holds.
func (r *run) memoryOf(offset uint64, n int) []byte {
	b := make([]byte, n)
	_, err := r.dev.MemoryData(ctx, r.memoryAt(offset, n), b)
	r.must(err)
	return b
}
