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

// receiveTests are those of receive requests: which messages take one, and which fail.
var receiveTests = []*Test{withoutReceive, tooLong, fatalErrors, writesTakeNone, writeThenSend}

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

// failed judges that completions are one, which is neither a success nor a flush.
func (c *conn) failed(id string, list []completion, frames ...*packet.Packet) bool {
	ok := len(list) == 1 && list[0].Status != cq.Success && list[0].Status != cq.WRFlushErr
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
	Decisions:  []Decision{{"No page of it was found.", "Ours. Devices differ in the status of the receive request: any error passes, but no flush."}},
	run: func(r *run) {
		for _, x := range []struct{ room, n int }{{64, 128}, {pmtu + 10, pmtu + 64}} {
			c := r.connect(answering)
			c.postReceive(x.room)
			r.again(1)
			c.begin()
			r.again(2)
			sent := c.tell(wqe.OpSend, pattern(r.seed, x.n))
			p := sent[len(sent)-1]
			c.refused(p, c.answer(), 1, func(got *packet.Packet) { c.failed("ours#02", c.completed(1, r.soon()), p, got) })
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
		"Send the request: a SEND Only within a SEND, a WRITE with an R_Key that is none, a Middle within no message, a READ that the queue pair does not permit, a SEND whose receive request has an L_Key that is none. Receive the answer, and poll.",
		"Query the queue pair.", "Send two WRITEs, and wait for 10 ms.",
	},
	Assertions: []Assertion{
		{"ours#01", "The answer is a NAK Invalid Request, Remote Access Error where an R_Key is missing, Remote Operational Error where an L_Key is, with the PSN of the request, and an MSN that does not count it."},
		{"ours#02", "The receive request that the message has taken completes once, with an error; there is no event."},
		{"ours#03", "Where the message has taken none there is one event of the queue pair: invalid request, access violation or fatal."},
		{"ours#04", "The receive requests that wait are flushed once, in order."},
		{"ours#05", errorText},
		{"ours#06", "Nothing answers what comes then."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. Any error passes as the status of the receive request that was taken, but no flush."}},
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
			{true, packet.NAKRemoteOp, func(c *conn) *packet.Packet { return c.one(packet.SendOnly, 64, nil) }},
		} {
			c := r.connect(func(a *qp.Attr) {
				if answering(a); i == 3 {
					a.Access &^= wqe.RemoteRead
				}
			})
			var ids []uint64
			if i == 4 {
				ids = []uint64{c.badReceive()}
			}
			for len(ids) < 2 {
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

// badReceive has the device post a receive request whose L_Key is none.
func (c *conn) badReceive() uint64 {
	m := c.r.memory
	c.posted++
	err := c.r.dev.Deliberately().PostReceive(ctx, c.qp, wqe.ReceiveRequest{ID: c.posted, Segments: []wqe.Segment{{VA: m.va, Length: 64, LKey: m.lkey ^ 0x5500}}})
	if err != nil {
		c.r.halt("the device refuses the receive request at once, so that it does not fail in the queue: %v", err)
	}
	return c.posted
}

// toldOnce judges what comes after a request that is refused for good.
func (c *conn) toldOnce(p, got *packet.Packet, taken bool, nak packet.Syndrome, ids []uint64) {
	r := c.r
	if !c.nakked("ours#01", p, got, p.PSN, 1, nak) && (got == nil || got.Syndrome.Type() == packet.ACK) {
		r.why = "the device has not refused the request"
		return
	}
	list := c.completed(2, r.soon())
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
		r.settle()
		r.check("ours#01", len(a.completions) == 0, "no completion", statuses(a.completions))
		r.at(2)
		had := len(a.completions)
		p := a.ask(packet.WriteOnlyImm, pattern(2, 64), func(p *packet.Packet) { p.RKey, p.Imm = p.RKey^0x5500, 5 })
		got := a.answer()
		a.nakked("ours#02", p, got, p.PSN, 1, packet.NAKRemoteAccess)
		r.settle()
		r.check("ours#02", len(a.completions) == had, "no completion", statuses(a.completions[had:]), p, got)
		r.at(3)
		p = b.ask(packet.SendOnly, pattern(3, 64), nil)
		list := b.completed(1, r.soon())
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
			r.until(r.soon(), func() bool { return len(c.completions) > had })
			holds := r.memoryOf(remoteOffset, n)
			if !c.once("ours#01", c.completions[had:], cq.Success, sent...) {
				return
			}
			r.check("ours#02", bytes.Equal(holds, data), "the data of the WRITE", dataIs(bytes.Equal(holds, data)), sent...)
		}
	},
}
