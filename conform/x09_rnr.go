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

var rnrEachCode = &Test{
	ID: "X09_110", Title: "wait after an RNR NAK of each code",
	Abstract: "As C09_130_01, with each of the 32 timer codes: the retry comes no sooner than the time of the code, and succeeds.",
	Covers:   []Statement{{"C9-130", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each code connect a queue pair of RC: RNR retry count 1, ACK timeout 0."},
	Procedure: []string{
		"Have the device post a SEND of one path MTU, and receive it.",
		"Send an RNR NAK with the code, from 0 to 31, and receive the retry.",
		"Acknowledge the retry and poll.",
	},
	Assertions: []Assertion{
		{"v1c09-130#01", rnrWaitText},
		{"ours#01", "The retry equals the first try."},
		{"ours#02", "The request does not complete in the wait."},
		{"ours#03", "The request completes once with success."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours, after C09_130_01. Code 0 is 655.36 ms and no exception."}},
	run: func(r *run) {
		for code := range uint8(32) {
			c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt = 1, 7 })
			r.at(1)
			c.post(wqe.OpSend, pmtu)
			first := c.only(wqe.OpSend)
			r.at(2)
			nak := c.rnrNAK(first, code, 0)
			retry := c.retried(first, nak, code, "v1c09-130#01", "ours#01", "ours#02")
			if retry == nil {
				continue
			}
			r.at(3)
			c.acknowledged(retry, 1, "ours#03")
		}
	},
}

var rnrCount = &Test{
	ID: "X09_111", Title: "RNR retry counts 0 to 6",
	Abstract: "A request that is refused each time is tried once and as often again as the RNR retry count says; then it completes with RNR_RETRY_EXC_ERR, and what is after it is flushed.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"For each RNR retry count from 0 to 6 connect a queue pair of RC: ACK timeout 0."},
	Procedure: []string{
		"Have the device post a SEND of one path MTU.",
		"Refuse each try with an RNR NAK, code 1 (10 us).",
		"After the last try poll: one RNR_RETRY_EXC_ERR.",
		"Query the queue pair, and have the device post two more SENDs.",
	},
	Assertions: []Assertion{
		{"ours#01", "The request is tried once, and as often again as the RNR retry count says."},
		{"ours#02", "Each retry waits for the time of the RNR NAK."},
		{"ours#03", "Each retry equals the first try."},
		{"ours#04", "The request completes once with RNR_RETRY_EXC_ERR, after its last try."},
		{"ours#05", "The queue pair is in ERR then."},
		{"ours#06", "Requests that are posted then are flushed, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours. The RNR retry count 7 is without end: X09_112."}},
	run: func(r *run) {
		const code = 1
		for n := range uint8(7) {
			c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt = n, 7 })
			r.at(1)
			c.post(wqe.OpSend, pmtu)
			first := c.only(wqe.OpSend)
			r.at(2)
			nak := c.rnrNAK(first, code, 0)
			done := true
			for i := range n {
				p := c.receiveOr(r.present()+longWindow, 0)
				if p == nil {
					r.check("ours#01", false, fmt.Sprintf("%d retries", n), fmt.Sprintf("%d, then %s", i, statuses(c.completions)), first, nak)
					done = false
					break
				}
				took := p.Time - nak.Time
				r.check("ours#02", took >= int64(packet.RNRTimer(code)), "at least "+packet.RNRTimer(code).String(), exact(took)+" after the RNR NAK", nak, p)
				d := differ(first, p)
				r.check("ours#03", d == "", "the request as it was first sent", actually(d, "equal to the first try"), first, p)
				nak = c.rnrNAK(p, code, 0)
			}
			if !done {
				continue
			}
			r.at(3)
			if !c.exceeded(first, nak, cq.RNRRetryExcErr, code, "ours#01", "ours#04") {
				continue
			}
			r.at(4)
			c.inError("ours#05", nak)
			c.flushes("ours#06", 2)
		}
	},
}

var rnrInfinite = &Test{
	ID: "X09_112", Title: "RNR retry count 7",
	Abstract: "The RNR retry count 7 is without end: a request that is refused 100 times is tried again, and succeeds.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: RNR retry count 7, ACK timeout 0."},
	Procedure:  []string{"Have the device post a SEND of one path MTU.", "Refuse 100 tries with an RNR NAK, code 1 (10 us).", "Acknowledge the next try and poll."},
	Assertions: []Assertion{{"ours#01", "After each RNR NAK the request is tried again, and it does not complete."}, {"ours#02", "The request completes once with success."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt = 7, 7 })
		r.at(1)
		c.post(wqe.OpSend, pmtu)
		p := c.only(wqe.OpSend)
		r.at(2)
		for i := range 100 {
			nak := c.rnrNAK(p, 1, 0)
			again := c.receiveOr(r.present()+longWindow, 0)
			if again == nil {
				r.check("ours#01", false, "a retry", fmt.Sprintf("after %d RNR NAKs: %s", i+1, statuses(c.completions)), p, nak)
				r.why = "the device gave up"
				return
			}
			p = again
		}
		r.check("ours#01", true, "", "100 retries", p)
		r.at(3)
		c.acknowledged(p, 1, "ours#02")
	},
}

var rnrReloaded = &Test{
	ID: "X09_113", Title: "RNR retry counter after progress",
	Abstract: "The RNR retry counter is full again after progress: with a count of 1, ten messages that are each refused once all succeed.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: RNR retry count 1, ACK timeout 0."},
	Procedure:  []string{"Have the device post a SEND of one path MTU, and refuse it with an RNR NAK, code 1 (10 us).", "Acknowledge the retry and poll. Do both ten times."},
	Assertions: []Assertion{{"ours#01", "A message that is refused once is tried again, whatever was refused before it."}, {"ours#02", "Each request completes once with success."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt = 1, 7 })
		for i := range uint32(10) {
			r.at(1)
			had := len(c.completions)
			c.post(wqe.OpSend, pmtu)
			p := c.only(wqe.OpSend)
			nak := c.rnrNAK(p, 1, i)
			retry := c.receiveOr(r.present()+longWindow, had)
			if !r.check("ours#01", retry != nil, "a retry", actually(statuses(c.completions[had:]), "")+fmt.Sprintf(" for message %d", i+1), p, nak, retry) {
				r.why = "the device gave up"
				return
			}
			r.at(2)
			c.acknowledged(retry, i+1, "ours#02")
		}
	},
}

var rnrQuiet = &Test{
	ID: "X09_114", Title: "silence after an RNR NAK",
	Abstract: "Between an RNR NAK and the retry a requester sends nothing: neither its ACK timer nor new work may send.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: RNR retry count 1, ACK timeout code 14 (67.1 ms), retry count 7."},
	Procedure: []string{
		"Have the device post a SEND of one path MTU, and receive it.", "Send an RNR NAK with timer code 0 (655.36 ms), and have the device post two more SENDs.",
		"Wait for 655.36 ms: nothing may come.", "Receive the refused request and the two others, in order; acknowledge them all.",
	},
	Assertions: []Assertion{
		{"ours#01", "Nothing is sent for 655.36 ms after the RNR NAK."},
		{"ours#02", "The refused request comes first then, and those after it in order."},
		{"ours#03", "All three complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		const code = 0 // the longest
		c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt, a.Timeout = 1, 7, 14 })
		r.at(1)
		c.post(wqe.OpSend, pmtu)
		first := c.only(wqe.OpSend)
		r.at(2)
		nak := c.rnrNAK(first, code, 0)
		c.r.settle()
		c.post(wqe.OpSend, 100)
		c.post(wqe.OpSend, 200)
		r.at(3)
		ends := nak.Time + int64(packet.RNRTimer(code))
		again := c.receive(ends - 1)
		if again != nil && again.Time < ends {
			r.check("ours#01", false, "nothing before 655.36ms", fmt.Sprintf("%v, PSN %v, %s after the RNR NAK", again.Opcode, again.PSN, exact(again.Time-nak.Time)), nak, again)
			r.why = "the device has sent in the wait"
			return
		}
		r.check("ours#01", true, "", "nothing for "+rule.Span(int64(packet.RNRTimer(code))), nak)
		r.at(4)
		if again == nil {
			again = c.receive(r.present() + longWindow)
		}
		if again == nil {
			r.halt("no retry came in 20 s")
		}
		d := differ(first, again)
		if !r.check("ours#02", d == "", "the refused request, unchanged", actually(d, "the refused request"), first, nak, again) {
			r.why = "the device goes on after the refused request"
			return
		}
		list := append([]*packet.Packet{again}, c.onlys(wqe.OpSend, 2)...)
		r.check("ours#02", true, "", "and the two after it", list...)
		ack := c.ack(list[2].PSN, positive, 3)
		c.successes("ours#03", c.completed(3, r.soon()), 3, ack)
	},
}

var rnrLateACK = &Test{
	ID: "X09_115", Title: "ACK in the wait after an RNR NAK",
	Abstract: "An ACK of the refused request that comes in the wait completes it with success; a retry then is harmless.",
	Covers:   []Statement{{"", NoneID}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"Connect a queue pair of RC: RNR retry count 1, ACK timeout 0."},
	Procedure:  []string{"Have the device post a SEND of one path MTU, and receive it.", "Send an RNR NAK with timer code 20 (10.24 ms).", "Send an ACK of the same PSN 1 ms later, and poll."},
	Assertions: []Assertion{{"ours#01", "The request completes once with success."}},
	Decisions:  []Decision{{"No page of it was found.", "Ours. The tester contradicts itself, as a receiver does whose RNR NAK and ACK pass each other."}},
	run: func(r *run) {
		c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt = 1, 7 })
		r.at(1)
		c.post(wqe.OpSend, pmtu)
		p := c.only(wqe.OpSend)
		r.at(2)
		c.rnrNAK(p, 20, 0)
		r.wait(int64(time.Millisecond))
		r.at(3)
		c.acknowledged(p, 1, "ours#01")
		r.wait(3 * int64(packet.RNRTimer(20)))
	},
}
