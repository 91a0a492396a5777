package conform

import (
	"encoding/binary"
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// invalidTests are those of requests that a responder must refuse for what they are.
var invalidTests = []*Test{wrongLengths, longestDMALen, wrongSequence, notPermitted, misaligned, tooManyResources}

// invalid is a request that must be refused: send sends what comes before it and it, and returns it and how much of memory that has changed rightly.
type invalid struct {
	name string
	send func(c *conn) (p *packet.Packet, written int)
}

// What is asserted of a request that must be refused.
const (
	invalidText   = "The answer is a NAK Invalid Request with the PSN of the request, and an MSN that does not count it."
	untouchedText = "Memory is untouched."
	errorText     = "The queue pair is in ERR then."
)

var invalidAssertions = []Assertion{{"ours#01", invalidText}, {"ours#02", untouchedText}, {"ours#03", errorText}}

// refuses runs each case on a connection of its own, and judges ours#01 to ours#03.
func (r *run) refuses(cases []invalid, syndromes ...packet.Syndrome) {
	for _, x := range cases {
		c := r.connect(answering)
		c.postReceive(8 * pmtu)
		r.again(1)
		r.note("the case: %s", x.name)
		c.begin()
		untouched := pattern(2, remoteRoom)
		c.fill(0, untouched)
		r.again(2)
		p, written := x.send(c)
		c.refused(p, c.answer(), 1, func(got *packet.Packet) {
			c.holds("ours#02", written, untouched[written:], p, got)
		}, syndromes...)
	}
}

// refused judges that a request is refused with one of some syndromes, or NAK Invalid Request, and the queue pair goes to ERR: ours#01 and ours#03. Between them it calls also.
func (c *conn) refused(p, got *packet.Packet, msn uint32, also func(got *packet.Packet), syndromes ...packet.Syndrome) {
	r := c.r
	s := packet.NAKInvalidRequest
	for _, x := range syndromes {
		if got != nil && got.Syndrome == x {
			s = x
		}
	}
	if !c.nakked("ours#01", p, got, p.PSN, msn, s) && (got == nil || got.Syndrome.Type() == packet.ACK) {
		r.why = "the device has not refused the request"
		return
	}
	if also != nil {
		also(got)
	}
	r.again(3)
	r.settle()
	c.inError("ours#03", p, got)
}

// one sends a packet with a payload of n bytes at the tester's next PSN. Only the end of a message asks for an ACK.
func (c *conn) one(f packet.Fn, n int, change func(p *packet.Packet)) *packet.Packet {
	return c.ask(f, pattern(3, n), func(p *packet.Packet) {
		if info := p.Info(); info.First || info.Middle {
			p.AckReq = false
		}
		if change != nil {
			change(p)
		}
	})
}

// announces gives a request of several packets its length.
func announces(n int) func(p *packet.Packet) { return func(p *packet.Packet) { p.DMALen = uint32(n) } }

var wrongLengths = &Test{
	ID: "X09_213", Title: "requests with a wrong length",
	Abstract: "Packets whose payload their opcode must not have, and WRITEs that are longer or shorter than they announce, are refused with NAK Invalid Request.",
	Covers:   []Statement{{"C9-92", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"For each case connect a queue pair of RC with a receive request of 8 path MTUs."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.",
		"Send the request: First not full, Middle not full, Last empty, Last and Only longer than the path MTU, a WRITE that ends before or goes on after its announced length. Receive the answer.",
		"Query the queue pair.",
	},
	Assertions: invalidAssertions,
	Decisions:  ours,
	Breaks:     []string{"RC-LEN-001", "RC-LEN-002", "RC-LEN-003", "RC-LEN-005"},
	run: func(r *run) {
		r.refuses([]invalid{
			{"WRITE First that is not full", func(c *conn) (*packet.Packet, int) { return c.one(packet.WriteFirst, pmtu-4, announces(2*pmtu)), 0 }},
			{"SEND First that is not full", func(c *conn) (*packet.Packet, int) { return c.one(packet.SendFirst, pmtu-4, nil), 0 }},
			{"WRITE Middle that is not full", func(c *conn) (*packet.Packet, int) {
				c.one(packet.WriteFirst, pmtu, announces(3*pmtu))
				return c.one(packet.WriteMiddle, pmtu-4, nil), pmtu
			}},
			{"WRITE Last without payload", func(c *conn) (*packet.Packet, int) {
				c.one(packet.WriteFirst, pmtu, announces(2*pmtu))
				return c.one(packet.WriteLast, 0, nil), pmtu
			}},
			{"SEND Last longer than the path MTU", func(c *conn) (*packet.Packet, int) {
				c.one(packet.SendFirst, pmtu, nil)
				return c.one(packet.SendLast, pmtu+4, nil), 0
			}},
			{"WRITE Only longer than the path MTU", func(c *conn) (*packet.Packet, int) { return c.one(packet.WriteOnly, pmtu+4, nil), 0 }},
			{"SEND Only longer than the path MTU", func(c *conn) (*packet.Packet, int) { return c.one(packet.SendOnly, pmtu+4, nil), 0 }},
			{"WRITE Only that announces more than it brings", func(c *conn) (*packet.Packet, int) { return c.one(packet.WriteOnly, 64, announces(68)), 0 }},
			{"WRITE Only that announces less than it brings", func(c *conn) (*packet.Packet, int) { return c.one(packet.WriteOnly, 64, announces(60)), 0 }},
			{"WRITE Last before the announced length", func(c *conn) (*packet.Packet, int) {
				c.one(packet.WriteFirst, pmtu, announces(2*pmtu))
				return c.one(packet.WriteLast, pmtu-4, nil), pmtu
			}},
			{"WRITE Last after the announced length", func(c *conn) (*packet.Packet, int) {
				c.one(packet.WriteFirst, pmtu, announces(pmtu+64))
				return c.one(packet.WriteLast, 68, nil), pmtu
			}},
		})
	},
}

var longestDMALen = &Test{
	ID: "X09_214", Title: "requests for 2^31 bytes and more",
	Abstract: "A request for 2^31+1 bytes is refused with NAK Invalid Request; one for 2^31 bytes is judged by its R_Key, whose region has fewer.",
	Covers:   []Statement{{"C9-94", Seen}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"For each case connect a queue pair of RC."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.", "Send a READ, or the First packet of a WRITE, for 2^31+1 bytes, and receive the answer.", "Query the queue pair.",
		"Do the same with 2^31 bytes.",
	},
	Assertions: append(invalidAssertions[:3:3], Assertion{"ours#04", "A request for 2^31 bytes is refused with a NAK Remote Access Error, as its range goes beyond the region."}),
	Decisions:  ours,
	Breaks:     []string{"RC-LEN-004"},
	run: func(r *run) {
		long := func(f packet.Fn, n uint32) func(c *conn) (*packet.Packet, int) {
			return func(c *conn) (*packet.Packet, int) {
				size := 0
				if f == packet.WriteFirst {
					size = pmtu
				}
				return c.one(f, size, func(p *packet.Packet) { p.DMALen = n }), 0
			}
		}
		r.refuses([]invalid{{"READ of 2^31+1 bytes", long(packet.ReadRequest, 1<<31+1)}, {"WRITE of 2^31+1 bytes", long(packet.WriteFirst, 1<<31+1)}})
		for _, f := range []packet.Fn{packet.ReadRequest, packet.WriteFirst} {
			c := r.connect(answering)
			r.again(4)
			c.begin()
			p, _ := long(f, 1<<31)(c)
			c.nakked("ours#04", p, c.answer(), p.PSN, 1, packet.NAKRemoteAccess)
		}
	},
}

// anyOpcode sends a packet with an opcode that may be reserved, a while after what is before it.
func anyOpcode(o packet.Opcode) func(c *conn) (*packet.Packet, int) {
	return func(c *conn) (*packet.Packet, int) {
		p := packet.Packet{Opcode: o, PSN: c.next, AckReq: true}
		c.next = c.next.Add(1)
		return c.send(p), 0
	}
}

var wrongSequence = &Test{
	ID: "X09_215", Title: "opcodes that must not come next",
	Abstract: "Packets within no message, others within a message, and reserved opcodes are refused with NAK Invalid Request at the expected PSN; at another PSN they are a gap.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"For each case connect a queue pair of RC with a receive request of 8 path MTUs."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.",
		"Send the request: Middle and Last without First, Only and READ within a message, WRITE Last within a SEND, opcodes 0x15, 0x18 to 0x1B. Receive the answer.", "Query the queue pair.",
		"On another connection send a SEND Middle at the PSN after the expected one, and receive the answer.",
	},
	Assertions: append(invalidAssertions[:3:3], Assertion{"ours#04", "At another PSN it is refused with a NAK of a sequence error for the expected one."}),
	Decisions:  ours,
	Breaks:     []string{"RC-SEQ-001", "RC-SEQ-002", "RC-SEQ-003", "RC-SEQ-004", "BTH-003", "RC-PSN-004", "RC-LEN-005"},
	run: func(r *run) {
		within := func(first, f packet.Fn, n int) func(c *conn) (*packet.Packet, int) {
			return func(c *conn) (*packet.Packet, int) {
				c.one(first, pmtu, announces(2*pmtu))
				written := pmtu
				if first == packet.SendFirst {
					written = 0
				}
				return c.one(f, n, func(p *packet.Packet) {
					if f == packet.ReadRequest {
						p.DMALen = 64
					}
				}), written
			}
		}
		cases := []invalid{
			{"SEND Middle without First", func(c *conn) (*packet.Packet, int) { return c.one(packet.SendMiddle, pmtu, nil), 0 }},
			{"WRITE Last without First", func(c *conn) (*packet.Packet, int) { return c.one(packet.WriteLast, 64, nil), 0 }},
			{"SEND Only within a SEND", within(packet.SendFirst, packet.SendOnly, 64)},
			{"WRITE Last within a SEND", within(packet.SendFirst, packet.WriteLast, 64)},
			{"READ within a SEND", within(packet.SendFirst, packet.ReadRequest, 0)},
			{"SEND Middle within a WRITE", within(packet.WriteFirst, packet.SendMiddle, pmtu)},
		}
		for _, o := range []packet.Opcode{0x15, 0x18, 0x19, 0x1A, 0x1B} {
			cases = append(cases, invalid{fmt.Sprintf("opcode %#x", uint8(o)), anyOpcode(o)})
		}
		r.refuses(cases)
		c := r.connect(answering)
		r.at(4)
		c.begin()
		expected := c.next
		c.next = expected.Add(1)
		p := c.one(packet.SendMiddle, pmtu, nil)
		c.nakked("ours#04", p, c.answer(), expected, 1, packet.NAKSequence)
	},
}

var notPermitted = &Test{
	ID: "X09_216", Title: "operations that the queue pair does not permit",
	Abstract: "A READ, a WRITE and an atomic to a queue pair that does not permit that operation are refused, and memory is untouched.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"For each operation connect a queue pair of RC that permits all others."},
	Procedure:  []string{"Send a SEND, and receive its ACK.", "Send the request, and receive the answer.", "Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "The answer is a NAK Invalid Request, or Remote Access Error, with the PSN of the request, and an MSN that does not count it."}, {"ours#02", untouchedText}, {"ours#03", errorText}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. Where the queue pair lacks the right, and not the R_Key, the code is Invalid Request; devices are known that answer Remote Access Error, which passes with a remark."}},
	run: func(r *run) {
		for _, x := range []struct {
			f     packet.Fn
			right wqe.Access
		}{{packet.ReadRequest, wqe.RemoteRead}, {packet.WriteOnly, wqe.RemoteWrite}, {packet.CmpSwap, wqe.RemoteAtomic}, {packet.FetchAdd, wqe.RemoteAtomic}} {
			c := r.connect(func(a *qp.Attr) { answering(a); a.Access &^= x.right })
			r.again(1)
			p := c.some(packet.SendOnly)
			if got := c.answer(); got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("the SEND before the test is not acknowledged")
			}
			c.word(7)
			untouched := r.memoryOf(remoteOffset, remoteRoom)
			r.again(2)
			p = c.some(x.f)
			got := c.answer()
			if got != nil && got.Syndrome == packet.NAKRemoteAccess {
				r.remark("%v: the code is Remote Access Error", p.Opcode)
			}
			c.refused(p, got, 1, func(got *packet.Packet) { c.holds("ours#02", 0, untouched, p, got) }, packet.NAKRemoteAccess)
		}
	},
}

var misaligned = &Test{
	ID: "X09_219", Title: "atomics at an address that is no multiple of 8",
	Abstract: "A CmpSwap and a FetchAdd at an address that is no multiple of 8 are refused with NAK Invalid Request, and memory is untouched.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"For each case connect a queue pair of RC."},
	Procedure:  []string{"Send a WRITE, and receive its ACK.", "Send the atomic, 1 and 4 bytes after a multiple of 8, and receive the answer.", "Query the queue pair."},
	Assertions: invalidAssertions,
	Decisions:  ours,
	Breaks:     []string{"RC-ATM-001"},
	run: func(r *run) {
		var cases []invalid
		for _, f := range []packet.Fn{packet.CmpSwap, packet.FetchAdd} {
			for _, off := range []uint64{1, 4} {
				cases = append(cases, invalid{fmt.Sprintf("%v at %d", f, off), func(c *conn) (*packet.Packet, int) {
					here := r.memoryOf(remoteOffset+off, 8)
					return c.ask(f, nil, func(p *packet.Packet) {
						p.DMALen, p.VA, p.SwapAdd = 0, p.VA+off, 0x0101
						if f == packet.CmpSwap {
							p.Compare = binary.LittleEndian.Uint64(here)
						}
					}), 0
				}})
			}
		}
		r.refuses(cases)
	},
}

var tooManyResources = &Test{
	ID: "X09_220", Title: "more READs than responder resources",
	Abstract: "Of more READs at once than the queue pair has responder resources for, those that it has them for are answered, and the first one beyond is refused with NAK Invalid Request or answered too.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC with two responder resources."},
	Procedure:  []string{"Send a READ of 32 path MTUs, and two of one path MTU right after it.", "Receive the answers."},
	Assertions: []Assertion{{"ours#01", "The first two READs are answered."}, {"ours#02", "The third is refused with a NAK Invalid Request, or answered."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. Sources differ on what a responder does that is asked for more: either answer passes, silence does not."}},
	Breaks:     []string{"RC-RDA-002", "RC-RDA-001"},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { answering(a); a.MaxDestRdAtomic = 2 })
		r.at(1)
		sent := []*packet.Packet{c.reads(32), c.reads(1), c.reads(1)}
		r.at(2)
		for i := range 33 {
			psn := sent[0].PSN.Add(i)
			got := c.answer()
			if got == nil || got.PSN != psn || got.Opcode.Fn() == packet.Acknowledge {
				r.check("ours#01", false, fmt.Sprintf("READ response, PSN %v", psn), happened(got, nil), append(sent[:2:2], got)...)
				r.why = "the READs before were not answered"
				return
			}
		}
		r.check("ours#01", true, "", "33 packets", sent[:2]...)
		got := c.answer()
		ok := got != nil && got.PSN == sent[2].PSN && (got.Opcode.Fn() == packet.Acknowledge && got.Syndrome == packet.NAKInvalidRequest || got.Opcode == readResponseOp(0, 1))
		r.check("ours#02", ok, fmt.Sprintf("NAK Invalid Request or READ response, PSN %v", sent[2].PSN), happened(got, nil), sent[2], got)
	},
}
