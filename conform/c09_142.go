package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
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
		{"The limits of a gap are not given.", "T_tr to 4 T_tr, plus or minus the jitter of the wire, which is 0 in simulated time."},
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

// expiry reports whether an ACK timer may take a time to expire: T_tr to 4 T_tr, give or take the jitter of the way.
func (r *run) expiry(gap, t int64) bool { return gap >= t-r.jitter && gap <= 4*t+r.jitter }

// silentRetries drops a request and n retries, and judges number, gaps and that they are the same. It returns the last; nil where one is missing.
func (c *conn) silentRetries(first *packet.Packet, n int, gaps, same string) *packet.Packet {
	r := c.r
	t, last, had := c.ttr(), first, len(c.completions)
	want := fmt.Sprintf("%s to %s after the try before (T_tr to 4 T_tr)", exact(t), exact(4*t))
	for i := range n {
		p := c.receiveOr(last.Time+4*t+r.jitter, had)
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
		r.check(gaps, r.expiry(gap, t), want, fmt.Sprintf("retry %d of %d %s after it", i+1, n, exact(gap)), last, p)
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
	if more := c.receiveOr(last.Time+4*t+r.jitter+endWindow, had); more != nil {
		r.check(gaps, false, fmt.Sprintf("%d retries", n), fmt.Sprintf("one more, %s after the last", exact(more.Time-last.Time)), last, more)
		r.open(end, "the device tries again in place of giving up", more)
		r.why = "the device goes on trying"
		return false
	}
	r.settle()
	list := c.completions[had:]
	ok := len(list) == 1 && list[0].Status == cq.RetryExcErr && list[0].at-last.Time >= t-r.jitter
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
