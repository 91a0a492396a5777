package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// errorTests are those of SQD, SQE and ERR.
var errorTests = []*Test{flushedInError, silentInError, drains, sendQueueError, lastRequest}

var flushedInError = &Test{
	ID: "X10_005", Title: "work requests in ERR",
	Abstract: "What a queue pair has when it goes to ERR is flushed, each request once and in order, and so is what is posted then.",
	Covers:   []Statement{{"C10-96", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post four receive requests and four SENDs, and receive these.", "Bring the queue pair to ERR, and poll.", "Have the device post four more of each, and poll.",
	},
	Assertions: []Assertion{{"ours#01", "What was posted before is flushed: each request once, in order of its queue."}, {"ours#02", "So is what is posted in ERR."}, {"ours#03", "Nothing is sent in ERR."}},
	Decisions:  ours,
	run: func(r *run) {
		c := r.connect(patient)
		batch := func() (sends, receives []uint64) {
			for range 4 {
				id, _ := c.postReceive(64)
				receives = append(receives, id)
				id, _ = c.post(wqe.OpSend, 64)
				sends = append(sends, id)
			}
			return sends, receives
		}
		r.at(1)
		sends, receives := batch()
		c.onlys(wqe.OpSend, 4)
		r.at(2)
		r.must(r.dev.TransitionQP(ctx, c.qp, qp.Err, qp.Attr{}))
		c.bothFlushed("ours#01", 0, sends, receives)
		r.at(3)
		had := len(c.completions)
		sends, receives = batch()
		c.bothFlushed("ours#02", had, sends, receives)
		got := c.quiet()
		r.check("ours#03", got == nil, "nothing", happened(got, nil), got)
	},
}

// bothFlushed judges that the requests of both queues are flushed, those of each in order.
func (c *conn) bothFlushed(id string, had int, sends, receives []uint64) {
	list := c.completed(had+len(sends)+len(receives), c.r.soon())[had:]
	var of [2][]uint64
	ok := true
	for i := range list {
		k := 0
		for _, x := range receives {
			if list[i].ID == x {
				k = 1
			}
		}
		of[k] = append(of[k], list[i].ID)
		ok = ok && list[i].Status == cq.WRFlushErr
	}
	ok = ok && fmt.Sprint(of) == fmt.Sprint([2][]uint64{sends, receives})
	c.r.check(id, ok, fmt.Sprintf("sends %v and receives %v flushed, in order", sends, receives), statuses(list))
}

var silentInError = &Test{
	ID: "X10_006", Title: "packets that come in ERR",
	Abstract: "Requests and responses that come to a queue pair in ERR are dropped: nothing answers them, memory stays as it is, and no request completes by them.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Connect a queue pair of RC, have the device post a receive request and a SEND, and receive this. Bring the queue pair to ERR, and poll: both are flushed."},
	Procedure: []string{
		"Send a WRITE, a READ, a FetchAdd and a SEND, and wait for 10 ms after each.", "Acknowledge the SEND of the device, and wait for 10 ms.",
	},
	Assertions: []Assertion{{"ours#01", "Nothing is sent."}, {"ours#02", "Memory is untouched."}, {"ours#03", "Nothing completes."}},
	Decisions:  ours,
	Breaks:     []string{"QPS-ERR-001"},
	run: func(r *run) {
		c := r.connect(patient)
		c.postReceive(64)
		c.post(wqe.OpSend, 64)
		p := c.only(wqe.OpSend)
		r.must(r.dev.TransitionQP(ctx, c.qp, qp.Err, qp.Attr{}))
		had := len(c.completed(2, r.soon()))
		untouched := pattern(2, 256)
		c.fill(0, untouched)
		judge := func(p *packet.Packet) bool {
			got := c.quiet()
			ok := r.check("ours#01", got == nil, "nothing", happened(got, nil), p, got)
			ok = c.holds("ours#02", 0, untouched, p, got) && ok
			return r.check("ours#03", len(c.completions) == had, "no completion", statuses(c.completions[had:]), p) && ok
		}
		r.at(1)
		for _, f := range []packet.Fn{packet.WriteOnly, packet.ReadRequest, packet.FetchAdd, packet.SendOnly} {
			q := c.one(f, 64, func(p *packet.Packet) {
				if f == packet.ReadRequest || f == packet.FetchAdd {
					p.Payload = nil
				}
				if f == packet.FetchAdd {
					p.DMALen = 0
				}
			})
			if !judge(q) {
				r.why = "the device has taken a request in ERR"
				return
			}
		}
		r.at(2)
		judge(c.ack(p.PSN, positive, 1))
	},
}

var drains = &Test{
	ID: "X10_007", Title: "send queue drained",
	Abstract: "A queue pair that goes to SQD finishes the message that it has begun and begins no other; it tells once that the send queue has drained, where that was asked for, and goes on in RTS.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control | Reads,
	Setup: []string{"Connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post a SEND of 40 path MTUs, or a READ, and a SEND of 64 bytes, which waits for the READ by a fence. When the first packet comes bring the queue pair to SQD, with and without asking for the event.",
		"Receive the rest of the first request, and wait for 10 ms.", "Answer it, and wait for 10 ms.", "Bring the queue pair to RTS, receive the second request, acknowledge it, and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "The first SEND is sent to its end."},
		{"ours#02", "The second request is not sent in SQD."},
		{"ours#03", "Where the event was asked for it comes once, after the first request is answered."},
		{"ours#04", "Where it was not asked for there is none."},
		{"ours#05", "In RTS the second request is sent, and both complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. A device may have sent the SEND of 40 path MTUs and the second one before it is told to go to SQD: the READ shows then what it does."}},
	run: func(r *run) {
		for _, op := range []wqe.SendOp{wqe.OpSend, wqe.OpRead} {
			for _, asks := range []bool{true, false} {
				c := r.connect(patient)
				r.again(1)
				n, flags := 40, wqe.SendFlags(0)
				if op == wqe.OpRead {
					n, flags = 1, wqe.Fence
				}
				c.post(op, n*pmtu)
				c.postWith(wqe.OpSend, 64, flags)
				first := c.any()
				r.must(r.dev.TransitionQP(ctx, c.qp, qp.SQD, qp.Attr{Known: qp.KnowsSQDNotify, SQDNotify: asks}))
				r.again(2)
				c.drained(first, n, r.now(), asks)
			}
		}
	},
}

// drained judges what comes after a queue pair has gone to SQD, at a time, in its first request, which has n packets.
func (c *conn) drained(first *packet.Packet, n int, told int64, asks bool) {
	r := c.r
	last := first
	for i := 1; i < n; i++ {
		p := c.answer()
		if !r.check("ours#01", p != nil && p.PSN == first.PSN.Add(i), fmt.Sprintf("PSN %v", first.PSN.Add(i)), happened(p, nil), first, p) {
			r.why = "the message was not finished"
			return
		}
		last = p
	}
	early := c.quiet()
	if early != nil && early.Time <= told {
		r.note("the second request came before the device was in SQD, so that this shows nothing")
		return
	}
	if !r.check("ours#02", early == nil, "nothing more", happened(early, nil), last, early) {
		r.why = "a new message was begun in SQD"
		return
	}
	events := c.events(cq.AsyncSQDrained)
	if asks {
		r.check("ours#03", events == 0, "no event before the answer", fmt.Sprintf("%d events", events), last)
	}
	r.again(3)
	var ack *packet.Packet
	if first.Opcode.Fn() == packet.ReadRequest {
		ack = c.readResponse(first, pattern(r.seed, int(first.DMALen)), 1)[0]
	} else {
		ack = c.ack(last.PSN, positive, 1)
	}
	early = c.quiet()
	if !r.check("ours#02", early == nil, "nothing more", happened(early, nil), ack, early) {
		r.why = "a new message was begun in SQD"
		return
	}
	if events = c.events(cq.AsyncSQDrained); asks {
		r.check("ours#03", events == 1, "one event", fmt.Sprintf("%d events", events), ack)
	} else {
		r.check("ours#04", events == 0, "no event", fmt.Sprintf("%d events", events), ack)
	}
	r.again(4)
	r.must(r.dev.TransitionQP(ctx, c.qp, qp.RTS, qp.Attr{}))
	p := c.answer()
	if r.check("ours#05", p != nil && p.PSN == last.PSN.Add(1), fmt.Sprintf("PSN %v", last.PSN.Add(1)), happened(p, nil), ack, p) {
		ack = c.ack(p.PSN, positive, 2)
		c.successes("ours#05", c.completed(2, r.soon()), 2, p, ack)
	}
}

// badSend has the device post a SEND whose L_Key is none.
func (c *conn) badSend() uint64 {
	m := c.r.memory
	c.posted++
	err := c.r.dev.Deliberately().PostSend(ctx, c.qp, wqe.SendRequest{
		ID: c.posted, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: []wqe.Segment{{VA: m.va, Length: 64, LKey: m.lkey ^ 0x5500}},
		Dest: wqe.QP{Addr: c.net.tester, QPN: c.qpn}, QKey: c.attr.QKey,
	})
	c.r.note("the device posts request %d: SEND with an L_Key that is none: %s", c.posted, taken(err))
	if err != nil {
		c.r.halt("the device refuses the request at once, so that it does not fail in the queue")
	}
	return c.posted
}

var sendQueueError = &Test{
	ID: "X10_008", Title: "error of the send queue",
	Abstract: "A send request that fails locally brings a queue pair of UC or UD to SQE, where sends are flushed and receives go on, until it is brought to RTS; one of RC goes to ERR.",
	Covers:   []Statement{{"C10-38", Seen}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a queue pair of UC, UD and RC in RTS, and have the device post two receive requests."},
	Procedure: []string{
		"Have the device post a SEND whose L_Key is none and two more, and poll.", "Query the queue pair.", "On UC and UD send a SEND, and poll. Bring the queue pair to RTS, have the device post a SEND, and receive it.",
	},
	Assertions: []Assertion{
		{"ours#01", "The SEND completes with LOC_PROT_ERR, those after it are flushed, and nothing is sent."},
		{"ours#02", "The queue pair is in SQE on UC and UD, in ERR on RC."},
		{"ours#03", "In SQE a receive request completes with success."},
		{"ours#04", "In RTS again a SEND is sent."},
	},
	Decisions: ours,
	run: func(r *run) {
		for _, t := range []qp.Type{qp.TypeUC, qp.TypeUD, qp.TypeRC} {
			c := r.pairIn(t, qp.RTS)
			c.postReceive(128)
			c.postReceive(128)
			r.again(1)
			ids := []uint64{c.badSend()}
			for range 2 {
				ids = append(ids, c.posts(wqe.OpSend, 64, nil).ID)
			}
			got := c.quiet()
			var list []completion
			for _, e := range c.completions {
				for _, id := range ids {
					if e.ID == id {
						list = append(list, e)
					}
				}
			}
			ok := len(list) == 3 && list[0].ID == ids[0] && list[0].Status == cq.LocProtErr && list[1].Status == cq.WRFlushErr && list[2].Status == cq.WRFlushErr
			r.check("ours#01", ok && got == nil, fmt.Sprintf("request %d LOC_PROT_ERR, the others flushed, nothing sent", ids[0]), fmt.Sprintf("%s; %s sent", statuses(list), happened(got, nil)), got)
			r.again(2)
			want := qp.SQE
			if t == qp.TypeRC {
				want = qp.Err
			}
			s := c.state()
			if !r.check("ours#02", s == want, want.String(), s.String()) || t == qp.TypeRC {
				continue
			}
			r.again(3)
			had := len(c.completions)
			p := c.ask(packet.SendOnly, pattern(1, 64), nil)
			c.once("ours#03", c.completed(had+1, r.soon())[had:], cq.Success, p)
			r.must(r.dev.TransitionQP(ctx, c.qp, qp.RTS, qp.Attr{}))
			c.posts(wqe.OpSend, 64, nil)
			p = c.answer()
			r.check("ours#04", p != nil && p.Opcode == packet.Op(c.service, packet.SendOnly), "SEND Only", happened(p, nil), p)
		}
	},
}

var lastRequest = &Test{
	ID: "X10_010", Title: "last receive request of a queue pair with a shared queue",
	Abstract: "A queue pair that receives from a shared receive queue tells once, when it goes to ERR, that it has taken its last request; one with a queue of its own tells nothing.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Make a shared receive queue with four requests, and connect a queue pair of RC that receives from it and one that does not."},
	Procedure:  []string{"Send a SEND to each, and poll.", "Bring both to ERR, and poll."},
	Assertions: []Assertion{{"ours#01", "The queue pair with the shared queue tells once."}, {"ours#02", "It tells nothing before it is in ERR."}, {"ours#03", "The other one tells nothing."}},
	Decisions:  ours,
	run: func(r *run) {
		srq, _ := r.shared(4, 64)
		shared, own := r.connectAs(qp.TypeRC, answering, sharing(srq)), r.connect(answering)
		own.postReceive(64)
		r.at(1)
		for _, c := range []*conn{shared, own} {
			p := c.ask(packet.SendOnly, pattern(1, 64), nil)
			if got := c.answer(); got == nil || got.PSN != p.PSN || got.Syndrome.Type() != packet.ACK {
				r.halt("the SEND before the test is not acknowledged")
			}
		}
		count := func(c *conn) string { return fmt.Sprintf("%d events", c.events(cq.AsyncLastWQE)) }
		r.check("ours#02", shared.events(cq.AsyncLastWQE) == 0, "0 events", count(shared))
		r.at(2)
		for _, c := range []*conn{shared, own} {
			r.must(r.dev.TransitionQP(ctx, c.qp, qp.Err, qp.Attr{}))
		}
		r.settle()
		r.check("ours#01", shared.events(cq.AsyncLastWQE) == 1, "1 events", count(shared))
		r.check("ours#03", own.events(cq.AsyncLastWQE) == 0, "0 events", count(own))
	},
}
