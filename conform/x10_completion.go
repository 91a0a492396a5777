package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// queueTests are those of completion queues and shared receive queues.
var queueTests = []*Test{armedQueues, overrunQueue, signalledRequests, sharedLimit}

// armings are what is done to a completion queue, one after the other: n arms it for the next completion, s for a solicited event, - is a SEND without SE, ! one with SE; and the
// events that are due after each SEND.
var armings = []struct {
	does string
	due  []int
}{
	{"--", []int{0, 0}}, {"n--", []int{1, 0}}, {"n!", []int{1}}, {"nn--", []int{1, 0}}, {"s--!!", []int{0, 0, 1, 0}}, {"ns-!", []int{1, 0}}, {"sn-", []int{1}}, {"sn!", []int{1}}, {"-n-", []int{0, 1}},
}

var armedQueues = &Test{
	ID: "X10_021", Title: "notification of completions",
	Abstract: "A completion queue tells once for each arming: of the next completion, or of the next solicited event. An arming for the next completion is not weakened by one for a solicited event.",
	Covers:   []Statement{{"C11-31", Seen}, {"C11-32", Seen}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each case connect a queue pair of RC, and have the device post receive requests."},
	Procedure: []string{
		"Send SENDs with and without SE to a queue that is armed before, between and not at all: for the next completion, for a solicited event, for one after the other. Poll after each.",
	},
	Assertions: []Assertion{{"ours#01", "A queue that is armed tells once of the completion that it is armed for."}, {"ours#02", "It tells of no other: not of one before the arming, not twice, and not of one without SE where it is armed for a solicited event."}},
	Decisions:  ours,
	run: func(r *run) {
		r.at(1)
		for _, x := range armings {
			c := r.connect(answering)
			r.note("the case: %s", x.does)
			for range 4 {
				c.postReceive(64)
			}
			k := 0
			for _, step := range x.does {
				switch step {
				case 'n':
					r.must(r.dev.RequestNotification(ctx, c.cq, cq.ArmNext))
					continue
				case 's':
					r.must(r.dev.RequestNotification(ctx, c.cq, cq.ArmSolicited))
					continue
				}
				had := c.notices()
				p := c.ask(packet.SendOnly, pattern(1, 64), func(p *packet.Packet) { p.SE = step == '!' })
				c.completed(k+1, r.soon())
				n, due := c.notices()-had, x.due[k]
				id := "ours#01"
				if n > due {
					id = "ours#02"
				}
				r.check(id, n == due, fmt.Sprintf("%s, SEND %d: %d events", x.does, k+1, due), fmt.Sprintf("%d events", n), p)
				if n == due {
					r.check("ours#02", true, "", fmt.Sprintf("%d events", n), p)
				}
				k++
			}
		}
	},
}

var overrunQueue = &Test{
	ID: "X10_022", Title: "completion queues in use, and full",
	Abstract: "A completion queue that queue pairs use is not destroyed; one that is given more than it holds raises an error, takes no more, and its queue pairs go to ERR.",
	Covers:   []Statement{{"C11-17", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a completion queue of 4 elements, and connect a queue pair of RC that uses it. Have the device post 64 receive requests."},
	Procedure: []string{
		"Destroy the queue.", "Send SENDs until the device tells of an error of the queue, up to 64, and do not poll.", "Query the queue pair.", "Poll the queue.",
	},
	Assertions: []Assertion{
		{"ours#01", "Destroying the queue is refused."}, {"ours#02", "The device tells once that the queue has an error."}, {"ours#03", "The queue pair is in ERR then."}, {"ours#04", "The queue has no more completions than before the one for which it had no room."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. A queue may be deeper than was asked for: 64 completions are more than it is taken to hold."}},
	run: func(r *run) {
		small, err := r.dev.CreateCQ(ctx, 4)
		r.must(err)
		c := r.connectAs(qp.TypeRC, answering, func(n *qp.InitAttr) { n.SendCQ, n.RecvCQ, n.MaxReceive = small, small, 64 })
		for range 64 {
			c.postReceive(64)
		}
		r.at(1)
		err = r.dev.Deliberately().DestroyCQ(ctx, small)
		if !r.check("ours#01", err != nil, "an error", taken(err)) {
			r.why = "the completion queue is gone"
			return
		}
		errors := func() (n int) {
			for _, e := range r.asyncs {
				if e.Kind == cq.EvAsync && e.Async == cq.AsyncCQError && e.CQ == small {
					n++
				}
			}
			return n
		}
		r.at(2)
		fits := 0
		var last *packet.Packet
		for range 64 {
			last = c.ask(packet.SendOnly, pattern(1, 64), nil)
			r.settle()
			if errors() > 0 {
				break
			}
			fits++
		}
		if !r.check("ours#02", errors() == 1, "one event", fmt.Sprintf("%d events after %d completions", errors(), fits), last) {
			r.why = "the device has not told once that the queue has an error"
			return
		}
		r.at(3)
		c.inError("ours#03", last)
		r.at(4)
		var into [128]cq.Completion
		n, err := r.dev.Poll(ctx, small, into[:])
		r.must(err)
		r.check("ours#04", n <= fits, fmt.Sprintf("at most %d completions", fits), fmt.Sprintf("%d completions", n), last)
	},
}

var signalledRequests = &Test{
	ID: "X10_023", Title: "signalled send requests",
	Abstract: "A send request that succeeds completes where it is signalled, or where its queue pair signals all, and not else; one that fails always does.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect queue pairs of RC, one of which signals all send requests: ACK timeout 0."},
	Procedure: []string{
		"Have the device post six SENDs, every third of them signalled; receive and acknowledge them, and poll.", "Do the same on the queue pair that signals all.",
		"Have the device post a SEND that is not signalled, receive it, refuse it with NAK Invalid Request, and poll.",
	},
	Assertions: []Assertion{{"ours#01", "Just the signalled ones complete, in order."}, {"ours#02", "All complete where the queue pair signals all."}, {"ours#03", "The one that fails completes, with REM_INV_REQ_ERR."}},
	Decisions:  ours,
	run: func(r *run) {
		for i := range 2 {
			c := r.connectAs(qp.TypeRC, patient, func(n *qp.InitAttr) { n.SignalAll = i == 1 })
			r.again(i + 1)
			var due []uint64
			var last *packet.Packet
			for k := range 6 {
				w := c.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) {
					if k%3 != 2 {
						w.Flags = 0
					}
				})
				if k%3 == 2 || i == 1 {
					due = append(due, w.ID)
				}
				last = c.any()
			}
			ack := c.ack(last.PSN, positive, 6)
			var ids []uint64
			ok := true
			for _, e := range c.completed(len(due), r.soon()) {
				ids, ok = append(ids, e.ID), ok && e.Status == cq.Success
			}
			r.check(fmt.Sprintf("ours#%02d", i+1), ok && fmt.Sprint(ids) == fmt.Sprint(due), fmt.Sprintf("requests %v SUCCESS", due), statuses(c.completions), last, ack)
		}
		c := r.connect(patient)
		r.at(3)
		c.posts(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.Flags = 0 })
		p := c.any()
		nak := c.ack(p.PSN, packet.NAKInvalidRequest, 0)
		c.once("ours#03", c.completed(1, r.soon()), cq.RemInvReqErr, p, nak)
	},
}

var sharedLimit = &Test{
	ID: "X10_024", Title: "limit of a shared receive queue",
	Abstract: "A shared receive queue whose limit is armed tells once when fewer requests are left, and is disarmed then; a queue pair that receives from it takes no receive request of its own.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a shared receive queue with five requests, and connect a queue pair of RC that receives from it."},
	Procedure: []string{
		"Arm the limit 3. Send SENDs one by one until no request is left.", "Have the device post four more requests, and send SENDs until none is left.", "Have it post three, arm the limit 2, and send SENDs until none is left.", "Post a receive request to the queue pair itself.",
	},
	Assertions: []Assertion{
		{"ours#01", "There is one event with the SEND that leaves fewer requests than the limit."}, {"ours#02", "There is none before, and none after: the limit is disarmed."}, {"ours#03", "A receive request to the queue pair itself is refused."}, {"ours#04", "Each SEND completes the next request of the queue."},
	},
	Decisions: ours,
	run: func(r *run) {
		srq, ids := r.shared(5, 64)
		c := r.connectAs(qp.TypeRC, answering, sharing(srq))
		told := func() (n int) {
			for _, e := range r.asyncs {
				if e.Kind == cq.EvAsync && e.Async == cq.AsyncSRQLimit && e.SRQ == srq {
					n++
				}
			}
			return n
		}
		take := func(limit int) {
			for left := len(ids) - 1; left >= 0; left-- {
				had, before := len(c.completions), told()
				p := c.ask(packet.SendOnly, pattern(1, 64), nil)
				list := c.completed(had+1, r.soon())[had:]
				ok := len(list) == 1 && list[0].ID == ids[len(ids)-1-left] && list[0].Status == cq.Success
				r.check("ours#04", ok, fmt.Sprintf("request %d SUCCESS", ids[len(ids)-1-left]), statuses(list), p)
				n := told() - before
				if left == limit-1 {
					r.check("ours#01", n == 1, "one event", fmt.Sprintf("%d events", n), p)
				} else {
					r.check("ours#02", n == 0, "no event", fmt.Sprintf("%d events", n), p)
				}
			}
		}
		r.at(1)
		r.must(r.dev.ModifySRQ(ctx, srq, 3))
		take(3)
		r.at(2)
		ids = r.postShared(srq, 4, 64)
		take(0)
		r.at(3)
		ids = r.postShared(srq, 3, 64)
		r.must(r.dev.ModifySRQ(ctx, srq, 2))
		take(2)
		r.at(4)
		err := r.dev.Deliberately().PostReceive(ctx, c.qp, wqe.ReceiveRequest{ID: 5, Segments: []wqe.Segment{{VA: r.memory.va, Length: 64, LKey: r.memory.lkey}}})
		r.check("ours#03", err != nil, "an error", taken(err))
	},
}
