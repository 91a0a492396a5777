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

// rnrTests are those of RNR NAKs at the requester.
var rnrTests = []*Test{rnrNAKWait, rnrEachCode, rnrCount, rnrInfinite, rnrReloaded, rnrQuiet, rnrLateACK}

// rnrWaitText is the assertion of C9-130.
const rnrWaitText = "A request that an RNR NAK refuses is retransmitted no sooner than the time of the NAK's timer code."

var rnrNAKWait = &Test{
	ID: "C09_130_01", Title: "wait after an RNR NAK",
	Abstract: "A requester whose SEND an RNR NAK refuses waits at least the time that the NAK names, retransmits the request unchanged, and gives up with RNR_RETRY_EXC_ERR when its RNR retry count is used up.",
	Covers:   []Statement{{"C9-130", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Connect a queue pair of RC: path MTU 1024, RNR retry count 1, ACK timeout 0, so that no timer but that of the RNR NAK can send."},
	Procedure: []string{
		"Have the device post a SEND of one path MTU.",
		"Receive it: one packet, SEND Only, the start PSN, a path MTU of payload, AckReq set.",
		"Send an RNR NAK for its PSN with timer code 31 (491.52 ms) and MSN 0, as no message is complete.",
		"Receive the retry. Until then the device must not complete the request.",
		"Refuse the retry with the same RNR NAK.",
		"Poll: the request completes once with RNR_RETRY_EXC_ERR, and there is no third try.",
		"Query the queue pair: it is in ERR.",
		"Have the device post another SEND: it is flushed, and nothing is sent.",
		"Do steps 1 to 4 on another connection and acknowledge the retry: the request completes once with success.",
		"Do the same with MSN 1 in the RNR NAK, as the page has it: the device must not mind.",
	},
	Assertions: []Assertion{
		{"v1c09-130#01", rnrWaitText},
		{"ours#01", "The SEND is one packet with the start PSN, a path MTU of payload and AckReq."},
		{"ours#02", "The first packet after the RNR NAK is the refused request, unchanged."},
		{"ours#03", "The request does not complete before its RNR retry count is used up."},
		{"ours#04", "The request is retransmitted once, and not more often."},
		{"ours#05", "The request completes once with RNR_RETRY_EXC_ERR, within 1 s."},
		{"ours#06", "The queue pair is in ERR then."},
		{"ours#07", "A request that is posted then is flushed, and nothing is sent."},
		{"ours#08", "A request whose retry is acknowledged completes once with success."},
	},
	Decisions: []Decision{
		{"The title names requester and responder.", "Only the requester is tested; X09_221 is to be the responder's."},
		{"The time of code 31 is given as 492.52 ms, later as 491.52 ms and as not infinite.", "49,152 units of 10 us are 491.52 ms. No code is without end: code 0 is 655.36 ms. X09_110 has all 32."},
		{"The abstract speaks of the wait; no step measures it or receives a retry.", "The wait is the assertion: from the sending of the NAK to the receiving of the retry. The way only adds time, so that the limit has no tolerance. There is no upper limit: beyond 4 times the time and 1 s it is noted; none in 20 s is inconclusive."},
		{"The RNR retry count is not given.", "1: with 0 the first RNR NAK ends in the error, with 1 the second. The ACK timeout is 0."},
		{"Memory and receive requests are set up at the tester.", "None: they are for a tester that is an adapter, and would contradict the RNR NAK. The device registers its send buffer."},
		{"MSN 1, and the NAK acknowledges the last packet.", "An RNR NAK counts no message and refuses its PSN: MSN 0, the PSN of the request. MSN 1 comes once more at the end: the result must be the same."},
		{"No completion, then an error, after a single RNR NAK.", "Only a second RNR NAK gives the error. Poll without result until the retry, refuse again, then one completion. A twin acknowledges the retry."},
		{"IBV_WC_RNR_RETRY_EXEC_ERR", "There is no such name: RNR_RETRY_EXC_ERR."},
		{"The retry and the wait are not said to be judged.", "The retry must equal the first try; that, and that nothing else is sent, the rules judge too (RC-RTY-004, RC-RNR-002, RC-RNR-005)."},
	},
	run: func(r *run) {
		const code = 31
		attr := func(a *qp.Attr) { a.RNRRetry, a.RetryCnt, a.Timeout = 1, 7, 0 }
		c := r.connect(attr)
		refused := func(c *conn, msn uint32) (first, nak, retry *packet.Packet) {
			r.at(1)
			c.post(wqe.OpSend, pmtu)
			r.at(2)
			first = c.any()
			sent := r.check("ours#01", first.Opcode == packet.Op(packet.RC, packet.SendOnly) && first.PSN == c.attr.SQPSN && first.PayloadLen == pmtu && first.AckReq,
				fmt.Sprintf("SEND Only, PSN %v, %d bytes, AckReq", c.attr.SQPSN, pmtu), fmt.Sprintf("%v, PSN %v, %d bytes, AckReq %v", first.Opcode, first.PSN, first.PayloadLen, first.AckReq), first)
			if !sent {
				r.halt("the request is not the one that the procedure refuses")
			}
			r.at(3)
			nak = c.rnrNAK(first, code, msn)
			r.at(4)
			return first, nak, c.retried(first, nak, code, "v1c09-130#01", "ours#02", "ours#03")
		}
		first, _, retry := refused(c, 0)
		if retry == nil {
			return
		}
		r.at(5)
		nak := c.rnrNAK(retry, code, 0)
		r.at(6)
		if !c.exceeded(first, nak, cq.RNRRetryExcErr, code, "ours#04", "ours#05") {
			return
		}
		r.at(7)
		c.inError("ours#06", nak)
		r.at(8)
		c.flushes("ours#07", 1)

		r.at(9)
		c = r.connect(attr)
		if _, _, retry = refused(c, 0); retry == nil {
			return
		}
		r.at(9)
		c.acknowledged(retry, 1, "ours#08")

		r.at(10)
		c = r.connect(attr)
		if _, _, retry = refused(c, 1); retry != nil {
			r.at(10)
			c.acknowledged(retry, 1, "ours#08")
		}
	},
}

// retried waits for the retry after an RNR NAK. It judges the wait, that the retry is the same, and that the request does not complete before, under these ids. Where
// no retry comes the result is nil.
func (c *conn) retried(first, nak *packet.Packet, code uint8, wait, same, pending string) *packet.Packet {
	r := c.r
	limit := int64(packet.RNRTimer(code))
	had := len(c.completions)
	retry := c.receiveOr(r.now()+longWindow, had)
	if len(c.completions) > had {
		r.check(pending, false, "no completion before the retry", statuses(c.completions[had:]), first, nak)
	} else {
		r.check(pending, true, "", "no completion in the wait", first, nak)
	}
	if retry == nil {
		why := "no retry came in 20 s"
		if len(c.completions) > had {
			why = "the request completed, and no retry came"
		}
		r.open(wait, why, first, nak)
		r.note("the rest of the procedure needs a retry")
		r.why = why
		return nil
	}
	took := retry.Time - nak.Time
	r.check(wait, took >= limit, fmt.Sprintf("at least %v (code %d)", time.Duration(limit), code), fmt.Sprintf("%s after the RNR NAK, code %d", exact(took), code), first, nak, retry)
	if took > 4*limit+int64(time.Second) {
		r.note("warning: the retry comes later than 4 times the time and 1 s")
	}
	d := differ(first, retry)
	r.check(same, d == "", "the request as it was first sent", actually(d, "equal to the first try"), first, retry)
	return retry
}

// exceeded waits for the end of a request whose retries are used up: no try more, one completion with this status. Where a try more comes the completion is open, and the
// result false.
func (c *conn) exceeded(first, nak *packet.Packet, status cq.Status, code uint8, tries, end string) bool {
	r := c.r
	had := len(c.completions)
	until := r.now() + endWindow
	if more := c.receiveOr(until, had); more != nil {
		r.check(tries, false, "no further try", fmt.Sprintf("one more, %s after the RNR NAK", exact(more.Time-nak.Time)), first, nak, more)
		r.open(end, "the device tries again in place of giving up", more)
		r.why = "the device goes on trying"
		return false
	}
	c.completed(had+1, until)
	r.wait(2*int64(packet.RNRTimer(code)) + ackWindow)
	list := c.completions[had:]
	more := []*packet.Packet{first, nak}
	if len(c.arrived) > 0 {
		more = append(more, c.arrived[0])
	}
	r.check(tries, len(c.arrived) == 0, "no further try", fmt.Sprintf("%d further", len(c.arrived)), more...)
	c.once(end, list, status, first, nak)
	return true
}

// once judges that completions are one, with a status.
func (c *conn) once(id string, list []completion, status cq.Status, frames ...*packet.Packet) bool {
	ok := len(list) == 1 && list[0].Status == status
	return c.r.check(id, ok, fmt.Sprintf("one completion, %v", status), statuses(list), frames...)
}

// acknowledged acknowledges a request and waits for its completion.
func (c *conn) acknowledged(p *packet.Packet, msn uint32, id string) bool {
	had := len(c.completions)
	ack := c.ack(p.PSN, positive, msn)
	return c.once(id, c.completed(had+1, c.r.now()+ackWindow)[had:], cq.Success, p, ack)
}

// inError judges that the queue pair is in ERR.
func (c *conn) inError(id string, frames ...*packet.Packet) {
	s := c.state()
	c.r.check(id, s == qp.Err, qp.Err.String(), s.String(), frames...)
}

// flushes posts n SENDs and judges that each is flushed, in order, and nothing is sent.
func (c *conn) flushes(id string, n int) {
	r := c.r
	had := len(c.completions)
	var ids []uint64
	for range n {
		x, _ := c.post(wqe.OpSend, 64)
		ids = append(ids, x)
	}
	c.allFlushed(id, c.completed(had+n, r.now()+ackWindow)[had:], ids)
}

// allFlushed judges that just the requests with these ids are flushed, in order.
func (c *conn) allFlushed(id string, list []completion, ids []uint64) {
	ok := len(list) == len(ids)
	for i := range list {
		ok = ok && list[i].ID == ids[i] && list[i].Status == cq.WRFlushErr
	}
	sent := c.arrived
	c.arrived = nil
	actual := statuses(list)
	if len(sent) > 0 {
		actual += fmt.Sprintf(", and %d packets sent", len(sent))
	}
	c.r.check(id, ok && len(sent) == 0, fmt.Sprintf("requests %v flushed once each, in order", ids), actual, sent...)
}

// exact is a time to the microsecond.
func exact(ns int64) string { return time.Duration(ns).Round(time.Microsecond).String() }

// actually is what differs, or that nothing does.
func actually(differs, nothing string) string {
	if differs == "" {
		return nothing
	}
	return differs
}

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
				p := c.receiveOr(r.now()+longWindow, 0)
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
			again := c.receiveOr(r.now()+longWindow, 0)
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
			retry := c.receiveOr(r.now()+longWindow, had)
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
		"Have the device post a SEND of one path MTU, and receive it.", "Send an RNR NAK with timer code 31 (491.52 ms), and have the device post two more SENDs.",
		"Wait for 491.52 ms: nothing may come.", "Receive the refused request and the two others, in order; acknowledge them all.",
	},
	Assertions: []Assertion{
		{"ours#01", "Nothing is sent for 491.52 ms after the RNR NAK."}, {"ours#02", "The refused request comes first then, and those after it in order."},
		{"ours#03", "All three complete once with success, in order."},
	},
	Decisions: []Decision{{"No page of it was found.", "Ours."}},
	run: func(r *run) {
		const code = 31
		c := r.connect(func(a *qp.Attr) { a.RNRRetry, a.RetryCnt, a.Timeout = 1, 7, 14 })
		r.at(1)
		c.post(wqe.OpSend, pmtu)
		first := c.only(wqe.OpSend)
		r.at(2)
		nak := c.rnrNAK(first, code, 0)
		c.r.wait(ackWindow)
		c.post(wqe.OpSend, 100)
		c.post(wqe.OpSend, 200)
		r.at(3)
		early := c.receive(nak.Time + int64(packet.RNRTimer(code)) - 1)
		if early != nil {
			r.check("ours#01", false, "nothing before 491.52ms", fmt.Sprintf("%v, PSN %v, %s after the RNR NAK", early.Opcode, early.PSN, exact(early.Time-nak.Time)), nak, early)
			r.why = "the device has sent in the wait"
			return
		}
		r.check("ours#01", true, "", "nothing for "+rule.Span(int64(packet.RNRTimer(code))), nak)
		r.at(4)
		again := c.receive(r.now() + longWindow)
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
		c.successes("ours#03", c.completed(3, r.now()+ackWindow), 3, ack)
	},
}

// successes judges that the first n requests complete with success, once and in order.
func (c *conn) successes(id string, list []completion, n int, frames ...*packet.Packet) {
	ok := len(list) == n
	for i := range list {
		ok = ok && list[i].Status == cq.Success && list[i].ID == list[0].ID+uint64(i)
	}
	c.r.check(id, ok, fmt.Sprintf("%d successes, in order", n), statuses(list), frames...)
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
