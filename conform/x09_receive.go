package conform

import (
	"bytes"
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// receiveTests are those of receive requests: which messages take one, and what its completion says.
var receiveTests = []*Test{withoutReceive, tooLong, fatalErrors, writesTakeNone, writeThenSend, completionSays, invalidatesUnknown, givesCredits}

var withoutReceive = &Test{
	ID: "X09_222", Title: "requests that need no receive request",
	Abstract: "A WRITE, a READ and an atomic are carried out where no receive request waits.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC, and have the device store a number in its memory."},
	Procedure:  []string{"Send a WRITE, a READ, a CmpSwap and a FetchAdd, and receive the answer to each."},
	Assertions: []Assertion{{"ours#01", "Each is answered as it is where receive requests wait."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		for i, f := range []packet.Fn{packet.WriteOnly, packet.ReadRequest, packet.CmpSwap, packet.FetchAdd} {
			c.word(7)
			p := c.some(f)
			if !c.inOrder("ours#01", []*packet.Packet{p}, owed(p, uint32(i+1), 7)) {
				return
			}
		}
	},
}

// failed judges that completions are one, which is not a success.
func (c *conn) failed(id string, list []completion, frames ...*packet.Packet) bool {
	ok := len(list) == 1 && list[0].Status != cq.Success
	return c.r.check(id, ok, "one completion, an error", statuses(list), frames...)
}

var tooLong = &Test{
	ID: "X09_224", Title: "SENDs that are longer than the receive request",
	Abstract: "A SEND for which the receive request has no room is refused with NAK Invalid Request, and that receive request completes with an error.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each case connect a queue pair of RC, and have the device post a receive request."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.", "Send a SEND of one packet to a request of 64 bytes, and one of two packets to a request of a path MTU and 10 bytes. Receive the answer.",
		"Poll, and query the queue pair.",
	},
	Assertions: []Assertion{{"ours#01", invalidText}, {"ours#02", "The receive request completes once, with an error."}, {"ours#03", errorText}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. Devices differ in the status of the receive request: any error passes."}},
	run: func(r *run) {
		for _, x := range []struct{ room, n int }{{64, 128}, {pmtu + 10, pmtu + 64}} {
			c := r.connect(answering)
			c.postReceive(x.room)
			r.again(1)
			c.begin()
			r.again(2)
			sent := c.tell(wqe.OpSend, pattern(r.seed, x.n))
			p := sent[len(sent)-1]
			c.refused(p, c.answer(), 1, func(got *packet.Packet) { c.failed("ours#02", c.completed(1, r.now()+ackWindow), p, got) })
		}
	},
}

// affiliated are the events that tell of a request that was refused.
func (c *conn) affiliated() (list []cq.Event) {
	for _, e := range c.r.asyncs {
		if e.Kind == cq.EvAsync && e.QP.QPN == c.qp.QPN && slices.Contains([]cq.Async{cq.AsyncQPRequest, cq.AsyncQPAccess, cq.AsyncQPFatal}, e.Async) {
			list = append(list, e)
		}
	}
	return list
}

var fatalErrors = &Test{
	ID: "X09_225", Title: "what a responder tells of a fatal error",
	Abstract: "A request that is refused for good is told of once: by the completion of the receive request that its message has taken, else by an event. Then the queue pair is in ERR and silent.",
	Covers:   []Statement{{"C9-222.1.1", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each case connect a queue pair of RC, and have the device post two receive requests."},
	Procedure: []string{
		"Send a WRITE, and receive its ACK.",
		"Send the request: a SEND Only within a SEND, a WRITE with an R_Key that is none, a Middle within no message, a READ that the queue pair does not permit. Receive the answer, and poll.",
		"Query the queue pair.", "Send two WRITEs, and wait for 10 ms.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a NAK Invalid Request, or Remote Access Error where a key or a right is missing, with the PSN of the request, and an MSN that does not count it."},
		{"ours#02", "The receive request that the message has taken completes once, with an error; there is no event."},
		{"ours#03", "Where the message has taken none there is one event of the queue pair: invalid request, access violation or fatal."},
		{"ours#04", "The receive requests that wait are flushed once, in order."},
		{"ours#05", errorText},
		{"ours#06", "Nothing answers what comes then."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. Any error passes as the status of the receive request that was taken."}},
	Breaks:    []string{"RC-SEQ-001", "RC-SEQ-003", "RC-RTY-011", "RC-PSN-004", "QPS-ACT-001"},
	run: func(r *run) {
		for i, x := range []struct {
			taken bool
			nak   packet.Syndrome
			send  func(c *conn) *packet.Packet
		}{
			{true, packet.NAKInvalidRequest, func(c *conn) *packet.Packet {
				c.one(packet.SendFirst, pmtu, nil)
				return c.one(packet.SendOnly, 64, nil)
			}},
			{false, packet.NAKRemoteAccess, func(c *conn) *packet.Packet {
				return c.one(packet.WriteOnly, 64, func(p *packet.Packet) { p.RKey ^= 0x5500 })
			}},
			{false, packet.NAKInvalidRequest, func(c *conn) *packet.Packet { return c.one(packet.SendMiddle, pmtu, nil) }},
			{false, packet.NAKInvalidRequest, func(c *conn) *packet.Packet { return c.reads(1) }},
		} {
			c := r.connect(func(a *qp.Attr) {
				if answering(a); i == 3 {
					a.Access &^= wqe.RemoteRead
				}
			})
			var ids []uint64
			for range 2 {
				id, _ := c.postReceive(2 * pmtu)
				ids = append(ids, id)
			}
			r.again(1)
			c.begin()
			r.again(2)
			p := x.send(c)
			c.toldOnce(p, c.answer(), x.taken, x.nak, ids)
		}
	},
}

// toldOnce judges what comes after a request that is refused for good.
func (c *conn) toldOnce(p, got *packet.Packet, taken bool, nak packet.Syndrome, ids []uint64) {
	r := c.r
	if !c.nakked("ours#01", p, got, p.PSN, 1, nak) && (got == nil || got.Syndrome.Type() == packet.ACK) {
		r.why = "the device has not refused the request"
		return
	}
	list := c.completed(2, r.now()+ackWindow)
	events := c.affiliated()
	if taken {
		n := 0
		for n < len(list) && list[n].ID == ids[0] {
			n++
		}
		c.failed("ours#02", list[:n], p, got)
		r.check("ours#02", len(events) == 0, "no event", fmt.Sprintf("%d events", len(events)), p, got)
		list, ids = list[n:], ids[1:]
	} else {
		r.check("ours#03", len(events) == 1, "one event", fmt.Sprintf("%d events", len(events)), p, got)
	}
	c.allFlushed("ours#04", list, ids)
	r.again(3)
	c.inError("ours#05", p, got)
	r.again(4)
	late := []*packet.Packet{c.one(packet.WriteOnly, 64, nil), c.one(packet.WriteOnly, 64, nil)}
	more := c.quiet()
	r.check("ours#06", more == nil, "nothing", happened(more, nil), late[0], late[1], got, more)
}

// shared makes a shared receive queue with requests of n bytes, and returns its number and their ids.
func (r *run) shared(requests, n int) (wqe.SRQ, []uint64) {
	srq, err := r.dev.CreateSRQ(ctx, r.memory.pd, 32, 1)
	r.must(err)
	return srq, r.postShared(srq, requests, n)
}

// postShared posts receive requests of n bytes to a shared receive queue, and returns their ids.
func (r *run) postShared(srq wqe.SRQ, requests, n int) (ids []uint64) {
	for range requests {
		r.sharedID++
		id := 1000 + r.sharedID
		at := r.memory.va + r.memory.room(n)
		r.must(r.dev.PostSharedReceive(ctx, srq, wqe.ReceiveRequest{ID: id, Segments: []wqe.Segment{{VA: at, Length: uint32(n), LKey: r.memory.lkey}}}))
		ids = append(ids, id)
	}
	return ids
}

// sharing has a queue pair receive from a shared receive queue.
func sharing(srq wqe.SRQ) func(n *qp.InitAttr) {
	return func(n *qp.InitAttr) { n.SRQ, n.MaxReceive, n.MaxRecvSegments = srq, 0, 0 }
}

var writesTakeNone = &Test{
	ID: "X09_226", Title: "WRITEs that take no receive request",
	Abstract: "A WRITE without immediate data takes no receive request, nor does one with immediate data that is refused: the next SEND takes the first.",
	Covers:   []Statement{{"C10-87", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a shared receive queue with three receive requests, and connect two queue pairs of RC that receive from it."},
	Procedure: []string{
		"Send a WRITE to the first, and receive its ACK.", "Send a WRITE with immediate data and an R_Key that is none to the first, and receive the NAK.", "Send a SEND to the second, and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "The WRITE completes no receive request."},
		{"ours#02", "The WRITE with immediate data is refused with a NAK Remote Access Error, and completes no receive request."},
		{"ours#03", "The SEND completes the first receive request with success."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. The queue is shared, so that a queue pair is left to take the request when the other is in ERR."}},
	run: func(r *run) {
		srq, ids := r.shared(3, 64)
		a, b := r.connectAs(qp.TypeRC, answering, sharing(srq)), r.connectAs(qp.TypeRC, answering, sharing(srq))
		r.at(1)
		a.begin()
		r.wait(ackWindow)
		r.check("ours#01", len(a.completions) == 0, "no completion", statuses(a.completions))
		r.at(2)
		p := a.ask(packet.WriteOnlyImm, pattern(2, 64), func(p *packet.Packet) { p.RKey, p.Imm = p.RKey^0x5500, 5 })
		got := a.answer()
		a.nakked("ours#02", p, got, p.PSN, 1, packet.NAKRemoteAccess)
		r.wait(ackWindow)
		r.check("ours#02", len(a.completions) == 0, "no completion", statuses(a.completions), p, got)
		r.at(3)
		p = b.ask(packet.SendOnly, pattern(3, 64), nil)
		list := b.completed(1, r.now()+ackWindow)
		ok := len(list) == 1 && list[0].Status == cq.Success && list[0].ID == ids[0]
		r.check("ours#03", ok, fmt.Sprintf("request %d SUCCESS", ids[0]), statuses(list), p)
	},
}

var writeThenSend = &Test{
	ID: "X09_227", Title: "WRITE, and the SEND that tells of it",
	Abstract: "When the receive request of a SEND completes, the data of the WRITE before it is in memory.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup:      []string{"Connect a queue pair of RC."},
	Procedure:  []string{"Send a WRITE of 2, 64, a path MTU and 8 path MTUs, and a SEND right after it; look at memory at the moment in which the receive request completes."},
	Assertions: []Assertion{{"ours#01", "The receive request completes."}, {"ours#02", "Memory holds all of the WRITE then."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(answering)
		r.at(1)
		for round := range 8 {
			n := []int{2, 64, pmtu, 8 * pmtu}[round%4]
			c.postReceive(64)
			had, data := len(c.completions), pattern(r.seed+uint64(round), n)
			sent := append(c.tell(wqe.OpWrite, data), c.ask(packet.SendOnly, pattern(1, 8), nil))
			r.until(r.now()+ackWindow, func() bool { return len(c.completions) > had })
			holds := r.memoryOf(remoteOffset, n)
			if !c.once("ours#01", c.completions[had:], cq.Success, sent...) {
				return
			}
			r.check("ours#02", bytes.Equal(holds, data), "the data of the WRITE", dataIs(bytes.Equal(holds, data)), sent...)
		}
	},
}

// says is what the completion of a receive request must say.
type says struct {
	op    cq.CompletionOp
	flags cq.CompletionFlags
	imm   uint32
	key   uint32
	n     uint32
}

func (s says) String() string {
	return fmt.Sprintf("%v, flags %#x, immediate data %#x, R_Key %#x, %d bytes", s.op, uint8(s.flags), s.imm, s.key, s.n)
}

// saying is what a completion says.
func saying(e *completion) says {
	s := says{op: e.Op, flags: e.Flags & (cq.WithImm | cq.WithInv), n: e.ByteLen}
	if e.Flags&cq.WithImm != 0 {
		s.imm = e.Imm
	}
	if e.Flags&cq.WithInv != 0 {
		s.key = e.InvKey
	}
	return s
}

// telling are the messages whose end says more than that it has come, and some that do not.
var telling = []struct {
	before packet.Fn // First packet; of a message of one packet the same as end
	end    packet.Fn
	flags  cq.CompletionFlags
	op     cq.CompletionOp
}{
	{packet.SendOnly, packet.SendOnly, 0, cq.DoneRecv},
	{packet.SendOnlyImm, packet.SendOnlyImm, cq.WithImm, cq.DoneRecv},
	{packet.SendFirst, packet.SendLastImm, cq.WithImm, cq.DoneRecv},
	{packet.WriteOnlyImm, packet.WriteOnlyImm, cq.WithImm, cq.DoneRecvWriteImm},
	{packet.WriteFirst, packet.WriteLastImm, cq.WithImm, cq.DoneRecvWriteImm},
	{packet.SendOnlyInv, packet.SendOnlyInv, cq.WithInv, cq.DoneRecv},
	{packet.SendFirst, packet.SendLastInv, cq.WithInv, cq.DoneRecv},
}

var completionSays = &Test{
	ID: "X09_228", Title: "what the completion of a receive request says",
	Abstract: "Immediate data, the R_Key that was invalidated and the length come with the completion as they were sent; with SE the completion is a solicited event, and the R_Key opens nothing any more.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC. For each SEND with Invalidate register a region."},
	Procedure: []string{
		"Arm the completion queue for solicited events. Send each SEND and WRITE whose opcode has immediate data or an R_Key, and a SEND without, with and without SE; poll.",
		"Send a READ with an R_Key that was invalidated.",
	},
	Assertions: []Assertion{
		{"ours#01", "The completion says what was sent: operation, flags, immediate data, R_Key and length."},
		{"ours#02", "There is one event for a message with SE, and none for one without."},
		{"ours#03", "The READ is refused with a NAK Remote Access Error."},
	},
	Decisions: ours,
	Breaks:    []string{"RC-INV-001"},
	run: func(r *run) {
		c := r.connect(answering)
		key := uint32(0)
		for i, x := range telling {
			for k := range 2 {
				r.again(1)
				if x.flags == cq.WithInv {
					key = r.registerAt(0x5000_0000+uint64(i*8192+k*4096), wqe.RemoteRead)
				}
				c.tells(i, k == 1, key)
			}
		}
		r.at(2)
		p := c.ask(packet.ReadRequest, nil, func(p *packet.Packet) {
			p.DMALen, p.RKey, p.VA = 64, key, 0x5000_0000+uint64((len(telling)-1)*8192+4096)
		})
		c.nakked("ours#03", p, c.answer(), p.PSN, uint32(2*len(telling)), packet.NAKRemoteAccess)
	},
}

// tells sends a message of telling, and judges its completion, and the event where it is solicited.
func (c *conn) tells(i int, solicited bool, key uint32) {
	r, x := c.r, telling[i]
	c.postReceive(2 * pmtu)
	r.must(r.dev.RequestNotification(ctx, c.cq, cq.ArmSolicited))
	had, events := len(c.completions), c.notices()
	want := says{op: x.op, flags: x.flags, n: 61}
	if x.before != x.end {
		want.n += pmtu
		c.one(x.before, pmtu, announces(pmtu+61))
	}
	if x.flags == cq.WithImm {
		want.imm = 0x0102_0304 + uint32(i)
	}
	if x.flags == cq.WithInv {
		want.key = key
	}
	p := c.one(x.end, 61, func(p *packet.Packet) {
		if x.before != x.end {
			p.DMALen = 0
		}
		p.SE, p.Imm, p.InvRKey = solicited, want.imm, want.key
	})
	c.answer()
	list := c.completed(had+1, r.now()+ackWindow)[had:]
	if c.once("ours#01", list, cq.Success, p) {
		got := saying(&list[0])
		r.check("ours#01", got == want, want.String(), got.String(), p)
	}
	n := 0
	if solicited {
		n = 1
	}
	events = c.notices() - events
	r.check("ours#02", events == n, fmt.Sprintf("%d events", n), fmt.Sprintf("%d events", events), p)
}

// notices is how often the completion queue has told of itself.
func (c *conn) notices() (n int) {
	for _, e := range c.r.asyncs {
		if e.Kind == cq.EvNotify && e.CQ == c.cq {
			n++
		}
	}
	return n
}

var invalidatesUnknown = &Test{
	ID: "X09_229", Title: "SEND with Invalidate of an R_Key that is none",
	Abstract: "A SEND with Invalidate that names an R_Key which is none, or one that was invalidated, does not complete with success, and the queue pair goes to ERR.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each case connect a queue pair of RC, and have the device post two receive requests."},
	Procedure:  []string{"Where the R_Key is to be an invalidated one, invalidate it by a SEND.", "Send a SEND with Invalidate that names the R_Key, and poll.", "Query the queue pair."},
	Assertions: []Assertion{{"ours#01", "It is not acknowledged."}, {"ours#02", "Its receive request completes once, with an error."}, {"ours#03", errorText}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. No code of a NAK is laid down for it: any passes, or silence."}},
	run: func(r *run) {
		for i := range 2 {
			c := r.connect(answering)
			c.postReceive(64)
			c.postReceive(64)
			key := r.registerAt(0x5000_0000+uint64(i*4096), wqe.RemoteRead)
			r.again(1)
			send := func() (p, got *packet.Packet) {
				p = c.ask(packet.SendOnlyInv, pattern(1, 64), func(p *packet.Packet) { p.InvRKey = key })
				return p, c.answer()
			}
			if i == 0 {
				key ^= 0x5500_0000
			} else if _, got := send(); got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("the SEND with Invalidate before the test is not acknowledged")
			}
			r.again(2)
			had := len(c.completed(i, r.now()+ackWindow))
			p, got := send()
			r.check("ours#01", got == nil || got.Syndrome.Type() == packet.NAK, "a NAK or silence", happened(got, nil), p, got)
			list := c.completed(had+1, r.now()+ackWindow)[had:]
			c.failed("ours#02", list[:min(1, len(list))], p, got)
			r.again(3)
			c.inError("ours#03", p, got)
		}
	},
}

var givesCredits = &Test{
	ID: "X09_230", Title: "credits that a responder gives",
	Abstract: "Each ACK gives no more credits than receive requests wait, or says that there is no limit, always so with a shared receive queue; what was given is not taken back.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC, and one that receives from a shared receive queue with requests."},
	Procedure: []string{
		"Have the device post receive requests one by one, up to 12, and send a WRITE after each.", "Send SENDs until no receive request is left.", "Send WRITEs to the queue pair with the shared receive queue.",
	},
	Assertions: []Assertion{
		{"ours#01", "An ACK has the credit code 31, or one of no more credits than receive requests wait."},
		{"ours#02", "The limit, MSN and credits, does not go back; a code other than 31 does not follow a 31."},
		{"ours#03", "With a shared receive queue each ACK has the credit code 31."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. Whether a device gives credits is agreed on by communication management, which has no part here: both are taken."}},
	run: func(r *run) {
		c := r.connect(answering)
		waiting, limit := uint32(0), uint32(0)
		unlimited := false
		judge := func(p *packet.Packet) bool {
			got := c.answer()
			if got == nil || got.Syndrome.Type() != packet.ACK {
				r.halt("a request is not acknowledged")
			}
			n, limited := got.Syndrome.Credits()
			ok := r.check("ours#01", !limited || n <= waiting, fmt.Sprintf("at most %d credits, or no limit", waiting), got.Syndrome.String(), p, got)
			if limited {
				ok = r.check("ours#02", !unlimited && got.MSN+n >= limit, fmt.Sprintf("a limit of %d or more", limit), got.Syndrome.String(), p, got) && ok
				limit = got.MSN + n
			} else {
				r.check("ours#02", true, "", "no limit", p, got)
				unlimited = true
			}
			return ok
		}
		r.at(1)
		for range 12 {
			c.postReceive(64)
			waiting++
			if !judge(c.ask(packet.WriteOnly, pattern(1, 64), nil)) {
				return
			}
		}
		r.at(2)
		for range 12 {
			waiting--
			if !judge(c.ask(packet.SendOnly, pattern(1, 64), nil)) {
				return
			}
		}
		r.at(3)
		srq, _ := r.shared(3, 64)
		s := r.connectAs(qp.TypeRC, answering, sharing(srq))
		for range 3 {
			p := s.ask(packet.WriteOnly, pattern(1, 64), nil)
			got := s.answer()
			r.check("ours#03", got != nil && got.Syndrome == positive, "ACK without a limit", happened(got, nil), p, got)
		}
	},
}
