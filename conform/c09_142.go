package conform

import (
	"fmt"
	"time"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// timeoutTests are those of the ACK timer and the retry counter.
var timeoutTests = []*Test{retryCounter, timeoutEach, timeoutOff, timeoutRestarts, retryReloaded, retryCounts}

var retryCounter = &Test{
	ID: "C09_142_01", Title: "timeout and retry counter",
	Abstract: "A requester whose READ nothing answers retransmits it each time its ACK timer expires, which takes T_tr to 4 T_tr, as often as its retry count says, and then completes it with RETRY_EXC_ERR.",
	Covers:   []Statement{{"C9-142", Stated}, {"C9-143", Stated}}, Topology: pairTopology, Needs: Control | Reads,
	Qualifiers: []string{"the migration state is MIGRATED, without an alternate path"},
	Setup: []string{
		"Connect a queue pair of RC: retry count 2, ACK timeout code 18 (T_tr 1.074 s), no alternate path. Take the code that the device says it has.",
		"Have the device post a SEND and acknowledge it, so that the silence that follows is on a connection that works.",
	},
	Procedure: []string{
		"Have the device post a READ of one path MTU: R_Key 0x12345, VA 0x999000.",
		"Receive the request: RETH as posted.",
		"Drop it, and receive the next, until 4 T_tr after the one before; do so twice. Each equals the first.",
		"Drop the last, and poll: nothing before T_tr after it, one RETRY_EXC_ERR until 4 T_tr and 1 s, and no further request.",
		"Query the queue pair: it is in ERR.",
		"Have the device post a SEND: it is flushed, and nothing is sent.",
	},
	Assertions: []Assertion{
		{"v1c09-142#01", "The request is retransmitted as often as the retry count says, each time T_tr to 4 T_tr after the try before it."},
		{"v1c09-143#01", "After the last try the request completes once, with RETRY_EXC_ERR, after T_tr at least."},
		{"ours#01", "The READ request has R_Key, VA and length as posted."},
		{"ours#02", "Each retry equals the first try."},
		{"ours#03", "The queue pair is in ERR then."},
		{"ours#04", "A request that is posted then is flushed, and nothing is sent."},
	},
	Decisions: []Decision{
		{"The device must not be able to migrate paths.", "Not the ability counts: migration state MIGRATED, no alternate path."},
		{"A note tells of the ACK that covers all packets.", "That is of the SEND test: a READ completes by its responses."},
		{"The retry count is set twice, once after RTS.", "Once, on the way to RTS: 2."},
		{"ACK timeout 18 is 1.07 s.", "4.096 us times 2^18 is 1.0737 s. A device may round the code up: that which it says it has counts."},
		{"The device has no local memory in the setup.", "It registers what the READ goes to, else the READ fails locally."},
		{"T_tr is asked of the device.", "Verbs give the code, which is made a time."},
		{"An RDMA WRITE is posted with a request for READ.", "A READ: a WRITE would pass no later step."},
		{"The counter of the device is read.", "It cannot be: the tester counts 1 and 2 requests."},
		{"A retry is looked for after T_tr.", "It may come anywhere from T_tr to 4 T_tr. One loop: receive, judge the gap, drop. The page's loop takes the retry that it waits for later."},
		{"The limits of a gap are not given.", "T_tr to 4 T_tr, plus or minus the jitter of the wire, which is 0 here."},
		{"The state is asked before the completion is polled; the error is called EXEC.", "One step: the error is known by polling, and is RETRY_EXC_ERR (12)."},
		{"The two statements are not told apart.", "C9-142 is the retries, their number and gaps; C9-143 the end after the last one."},
		{"Whether the retry is the same is not said.", "It is, in PSN and RETH, as nothing was answered."},
		{"The connection is new and its peer never speaks.", "A SEND is answered first. The assertions are the test's own, and do not lean on the rules."},
	},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = 2, 18, 7 })
		c.exchange()
		r.at(1)
		c.post(wqe.OpRead, pmtu)
		r.at(2)
		first := c.any()
		ok := first.Opcode == packet.Op(packet.RC, packet.ReadRequest) && first.RKey == remoteRKey && first.VA == remoteVA && first.DMALen == pmtu
		r.check("ours#01", ok, fmt.Sprintf("READ, R_Key %#x, VA %#x, DMALen %d", remoteRKey, remoteVA, pmtu), told(first), first)
		r.at(3)
		last := c.silentRetries(first, 2, "v1c09-142#01", "ours#02")
		if last == nil {
			return
		}
		r.at(4)
		if !c.silentEnd(last, 2, "v1c09-142#01", "v1c09-143#01") {
			return
		}
		r.at(5)
		c.inError("ours#03", last)
		r.at(6)
		c.flushes("ours#04", 1)
	},
}

// ttr is the unit of the ACK timer of the queue pair.
func (c *conn) ttr() int64 { return int64(packet.Timeout(c.attr.Timeout)) }

// silentRetries drops a request and n retries, and judges number, gaps and that they are the same. It returns the last; nil where one is missing.
func (c *conn) silentRetries(first *packet.Packet, n int, gaps, same string) *packet.Packet {
	r := c.r
	t, last, had := c.ttr(), first, len(c.completions)
	want := fmt.Sprintf("%s to %s after the try before (T_tr to 4 T_tr)", exact(t), exact(4*t))
	for i := range n {
		p := c.receiveOr(last.Time+4*t, had)
		switch {
		case p == nil && len(c.completions) > had:
			r.check(gaps, false, fmt.Sprintf("%d retries", n), fmt.Sprintf("%d, then %s", i, statuses(c.completions[had:])), first, last)
			r.why = "the device gave up before its retries were used up"
			return nil
		case p == nil:
			r.check(gaps, false, want, fmt.Sprintf("retry %d of %d has not come", i+1, n), first, last)
			r.why = "a retry has not come in time"
			return nil
		}
		gap := p.Time - last.Time
		r.check(gaps, gap >= t && gap <= 4*t, want, fmt.Sprintf("retry %d of %d %s after it", i+1, n, exact(gap)), last, p)
		d := differ(first, p)
		r.check(same, d == "", "the request as it was first sent", actually(d, "equal to the first try"), first, p)
		last = p
	}
	return last
}

// silentEnd waits for the end after the last try, and judges it. Where a further try comes the result is false.
func (c *conn) silentEnd(last *packet.Packet, n int, gaps, end string) bool {
	r := c.r
	t, had := c.ttr(), len(c.completions)
	if more := c.receiveOr(last.Time+4*t+endWindow, had); more != nil {
		r.check(gaps, false, fmt.Sprintf("%d retries", n), fmt.Sprintf("one more, %s after the last", exact(more.Time-last.Time)), last, more)
		r.open(end, "the device tries again in place of giving up", more)
		r.why = "the device goes on trying"
		return false
	}
	r.wait(ackWindow)
	list := c.completions[had:]
	ok := len(list) == 1 && list[0].Status == cq.RetryExcErr && list[0].at-last.Time >= t
	actual := statuses(list)
	if len(list) > 0 {
		actual += fmt.Sprintf(", %s after the last try", exact(list[0].at-last.Time))
	}
	r.check(end, ok, fmt.Sprintf("one RETRY_EXC_ERR, at least %s after the last try", exact(t)), actual, last)
	r.wait(4 * t)
	if len(c.arrived) > 0 {
		r.check(gaps, false, fmt.Sprintf("%d retries", n), "a request after the completion", last, c.arrived[0])
	}
	return true
}

// operations are those that a requester must give up.
var operations = []struct {
	op wqe.SendOp
	n  int
}{{wqe.OpSend, pmtu}, {wqe.OpWrite, pmtu}, {wqe.OpCmpSwap, 8}, {wqe.OpFetchAdd, 8}}

var timeoutEach = &Test{
	ID: "X09_120", Title: "ACK timeout codes 8 to 20",
	Abstract: "As C09_142_01 for SEND, WRITE, CmpSwap and FetchAdd, with each timeout code from 8 to 20: retries T_tr to 4 T_tr after each other.",
	Covers:   []Statement{{"C9-140", Stated}}, Topology: pairTopology, Needs: Control | Reads,
	Setup: []string{"For each code and operation connect a queue pair of RC: retry count 2. Have the device post a SEND and acknowledge it."},
	Procedure: []string{
		"Have the device post the operation, and receive it.", "Drop it and its two retries.", "Poll: one RETRY_EXC_ERR.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request is retransmitted twice, each time T_tr to 4 T_tr after the try before it."}, {"ours#02", "Each retry equals the first try."},
		{"ours#03", "After the last try the request completes once, with RETRY_EXC_ERR, after T_tr at least."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours, after C09_142_01. The gap of the first retry is judged as the others."}},
	run: func(r *run) {
		for code := uint8(8); code <= 20; code++ {
			for _, o := range operations {
				c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = 2, code, 7 })
				c.exchange()
				r.at(1)
				c.post(o.op, o.n)
				first := c.only(o.op)
				r.at(2)
				last := c.silentRetries(first, 2, "ours#01", "ours#02")
				if last == nil {
					continue
				}
				r.at(3)
				c.silentEnd(last, 2, "ours#01", "ours#03")
			}
		}
	},
}

var timeoutOff = &Test{
	ID: "X09_121", Title: "ACK timeout 0",
	Abstract: "With the timeout 0 a requester has no ACK timer: a request that nothing answers is not retransmitted.",
	Covers:   []Statement{{"C9-140", Stated}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: retry count 7, ACK timeout 0. Have the device post a SEND and acknowledge it."},
	Procedure:  []string{"Have the device post a SEND, receive it, and answer nothing for 20 s.", "Acknowledge it and poll."},
	Assertions: []Assertion{{"ours#01", "Nothing is sent and nothing completes for 20 s."}, {"ours#02", "The request completes once with success when it is acknowledged."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = 7, 0, 7 })
		c.exchange()
		r.at(1)
		c.post(wqe.OpSend, 64)
		p := c.only(wqe.OpSend)
		more := c.receiveOr(r.now()+longWindow, 0)
		if !r.check("ours#01", more == nil && len(c.completions) == 0, "silence", happened(more, c.completions), p, more) {
			r.why = "the device did not wait"
			return
		}
		r.at(2)
		c.acknowledged(p, 2, "ours#02")
	},
}

// happened says what came in place of silence.
func happened(p *packet.Packet, list []completion) string {
	switch {
	case p != nil:
		return told(p)
	case len(list) > 0:
		return statuses(list)
	}
	return "silence"
}

var timeoutRestarts = &Test{
	ID: "X09_122", Title: "ACK timer after an ACK",
	Abstract: "The ACK timer begins again with an ACK of a part of what is outstanding.",
	Covers:   []Statement{{"C9-139", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: retry count 7, ACK timeout code 14 (T_tr 67.1 ms)."},
	Procedure: []string{
		"Have the device post four SENDs, and receive them.", "Acknowledge the first 60 ms later.", "Receive the retry of the second.", "Acknowledge all and poll.",
	},
	Assertions: []Assertion{
		{"ours#01", "The retry comes T_tr to 4 T_tr after the ACK."}, {"ours#02", "It begins at the first request that is not acknowledged."}, {"ours#03", "All complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = 7, 14, 7 })
		r.at(1)
		for range 4 {
			c.post(wqe.OpSend, 64)
		}
		list := c.onlys(wqe.OpSend, 4)
		r.at(2)
		r.wait(60 * int64(time.Millisecond))
		ack := c.ack(list[0].PSN, positive, 1)
		r.at(3)
		p := c.receive(ack.Time + 4*c.ttr())
		if p == nil {
			r.check("ours#01", false, "a retry within 4 T_tr", "none", ack)
			r.why = "no retry came"
			return
		}
		gap, t := p.Time-ack.Time, c.ttr()
		r.check("ours#01", gap >= t && gap <= 4*t, fmt.Sprintf("%s to %s after the ACK", exact(t), exact(4*t)), exact(gap)+" after it", ack, p)
		r.check("ours#02", p.PSN == list[1].PSN, fmt.Sprintf("PSN %v", list[1].PSN), fmt.Sprintf("PSN %v", p.PSN), list[1], p)
		r.at(4)
		r.wait(ackWindow)
		c.arrived = nil
		last := c.ack(list[3].PSN, positive, 4)
		c.successes("ours#03", c.completed(4, r.now()+ackWindow), 4, last)
	},
}

var retryReloaded = &Test{
	ID: "X09_123", Title: "retry counter after progress",
	Abstract: "The retry counter is full again after progress: ten requests that are each lost as often as the retry count says all succeed.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: retry count 2, ACK timeout code 10 (T_tr 4.19 ms)."},
	Procedure:  []string{"Have the device post a SEND; drop it and its first retry.", "Acknowledge the second retry and poll. Do both ten times."},
	Assertions: []Assertion{{"ours#01", "Each request is retransmitted twice, T_tr to 4 T_tr apart."}, {"ours#02", "Each retry equals the first try."}, {"ours#03", "Each request completes once with success."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = 2, 10, 7 })
		for i := range uint32(10) {
			r.at(1)
			c.post(wqe.OpSend, 64)
			last := c.silentRetries(c.only(wqe.OpSend), 2, "ours#01", "ours#02")
			if last == nil {
				return
			}
			r.at(2)
			c.acknowledged(last, i+1, "ours#03")
		}
	},
}

var retryCounts = &Test{
	ID: "X09_124", Title: "retry counts 0 to 7",
	Abstract: "A request that nothing answers is tried once and as often again as the retry count says; then it completes with RETRY_EXC_ERR, and those after it are flushed.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each retry count from 0 to 7 connect a queue pair of RC: ACK timeout code 10 (T_tr 4.19 ms). Have the device post a SEND and acknowledge it."},
	Procedure: []string{
		"Have the device post a SEND, and drop it and its retries.", "Poll: one RETRY_EXC_ERR.", "Query the queue pair, and have the device post two SENDs.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request is tried once, and as often again as the retry count says, T_tr to 4 T_tr apart."}, {"ours#02", "Each retry equals the first try."},
		{"ours#03", "After the last try the request completes once, with RETRY_EXC_ERR, after T_tr at least."}, {"ours#04", "The queue pair is in ERR then."},
		{"ours#05", "Requests that are posted then are flushed, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		for n := range 8 {
			c := r.connect(func(a *qp.Attr) { a.RetryCnt, a.Timeout, a.RNRRetry = uint8(n), 10, 7 })
			c.exchange()
			r.at(1)
			c.post(wqe.OpSend, 64)
			last := c.silentRetries(c.only(wqe.OpSend), n, "ours#01", "ours#02")
			if last == nil {
				continue
			}
			r.at(2)
			r.note("%d retries came; the end is due by %s after the last", n, rule.Span(4*c.ttr()+endWindow))
			if !c.silentEnd(last, n, "ours#01", "ours#03") {
				continue
			}
			if n == 0 {
				r.check("ours#01", true, "", "no retry", last)
			}
			r.at(3)
			c.inError("ours#04", last)
			c.flushes("ours#05", 2)
		}
	},
}
