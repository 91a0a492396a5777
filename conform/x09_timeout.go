package conform

import (
	"fmt"
	"time"

	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/wqe"
)

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
		{"ours#01", "The request is retransmitted twice, each time T_tr to 4 T_tr after the try before it."},
		{"ours#02", "Each retry equals the first try."},
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
				if !c.silentEnd(last, 2, "ours#01", "ours#03") {
					return // it would go on beside all that follow
				}
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
		more := c.receiveOr(r.present()+longWindow, 0)
		if !r.check("ours#01", more == nil && len(c.completions) == 0, "silence", happened(more, c.completions), p, more) {
			r.why = "the device did not wait"
			return
		}
		r.at(2)
		c.acknowledged(p, 2, "ours#02")
	},
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
		p := c.receive(ack.Time + 4*c.ttr() + r.jitter)
		if p == nil {
			r.check("ours#01", false, "a retry within 4 T_tr", "none", ack)
			r.why = "no retry came"
			return
		}
		gap, t := p.Time-ack.Time, c.ttr()
		r.check("ours#01", r.expiry(gap, t), fmt.Sprintf("%s to %s after the ACK", exact(t), exact(4*t)), exact(gap)+" after it", ack, p)
		r.check("ours#02", p.PSN == list[1].PSN, fmt.Sprintf("PSN %v", list[1].PSN), fmt.Sprintf("PSN %v", p.PSN), list[1], p)
		r.at(4)
		r.settle()
		c.arrived = nil
		last := c.ack(list[3].PSN, positive, 4)
		c.successes("ours#03", c.completed(4, r.soon()), 4, last)
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
		{"ours#01", "The request is tried once, and as often again as the retry count says, T_tr to 4 T_tr apart."},
		{"ours#02", "Each retry equals the first try."},
		{"ours#03", "After the last try the request completes once, with RETRY_EXC_ERR, after T_tr at least."},
		{"ours#04", "The queue pair is in ERR then."},
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
