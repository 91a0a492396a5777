package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
)

// reload fills the retry counters again (RC-RTY-002, RC-RNR-004).
func (q *queuePair) reload() { q.req.retries, q.req.rnrs = q.attr.RetryCnt, q.attr.RNRRetry }

// again is reload after progress.
func (q *queuePair) again() {
	r := &q.req
	retries, rnrs := r.retries, r.rnrs
	q.reload()
	if q.h.has("retry-not-reloaded") {
		r.retries = retries
	}
	if q.h.has("rnr-not-reloaded") {
		r.rnrs = rnrs
	}
}

// progress is what follows an acknowledgement of anything new.
func (q *queuePair) progress() {
	r := &q.req
	q.again()
	r.implied = false
	if r.una.Before(r.high) {
		if r.resume <= q.h.now() && !(r.deadline != 0 && q.h.shows("timer-goes-on")) {
			q.startTimer()
		}
	} else {
		r.stop()
	}
	q.drain()
}

// drain tells the consumer once that all work begun is done, in SQD.
func (q *queuePair) drain() {
	r := &q.req
	if q.state != qp.SQD || r.drained || r.una.Before(r.high) || r.next < len(r.queue) && r.queue[r.next].begun {
		return
	}
	r.drained = true
	if q.attr.SQDNotify && !q.h.breaks("drained-untold") || q.h.has("drained-unasked") {
		q.h.async(cq.AsyncSQDrained, q.num, 0, 0)
	}
	if q.h.breaks("drained-twice") {
		q.h.async(cq.AsyncSQDrained, q.num, 0, 0)
	}
}

// takeRetry uses up one retry; where none is left the oldest request fails.
func (q *queuePair) takeRetry() bool {
	r := &q.req
	q.h.count.Retries++
	if r.retries == 0 && !q.h.has("retry-forever") || q.h.breaks("gives-up-early") {
		q.failSend(cq.RetryExcErr)
		return false
	}
	r.retries -= min(r.retries, 1)
	return true
}

// goBack has the requester begin again at the oldest packet that is not acknowledged.
func (q *queuePair) goBack() {
	r := &q.req
	r.next, r.off, r.span = 0, 0, 0
	if len(r.queue) == 0 {
		return
	}
	if w := r.queue[0]; w.begun && !w.local() && !w.responded() {
		r.off = max(0, r.una.Diff(w.first))
	}
}

// impliedNAK is what a response means that passes over one that is missing: once, until there is progress (section 9.7.5†).
func (q *queuePair) impliedNAK() {
	r := &q.req
	if r.implied {
		return
	}
	r.implied = true
	if r.resume > q.h.now() {
		return
	}
	if q.takeRetry() {
		q.goBack()
	}
}

// startTimer starts the ACK timer again.
func (q *queuePair) startTimer() {
	code := q.attr.Timeout
	if code == 0 && q.h.has("timer-not-off") {
		code = 8
	}
	if code == 0 {
		return
	}
	r := &q.req
	t := int64(packet.Timeout(code)) // C9-139: at least this, at most four times as much
	switch {
	case q.h.has("early-retry"):
		t /= 4
	case q.h.has("late-retry"):
		t *= 8
	default:
		t += t/4 + q.h.rng.Int64N(t/2+1)
	}
	r.deadline = q.h.now() + t
	q.watch()
}

func (r *requester) stop() { r.deadline = 0 }

// watch has the clock call at the deadline, if it does not call before.
func (q *queuePair) watch() {
	r := &q.req
	if r.timing {
		return
	}
	r.timing = true
	q.h.opt.Clock.After(r.deadline-q.h.now(), q.expire)
}

// expire is called by the clock. The deadline may have moved on since it was set.
func (q *queuePair) expire() {
	r := &q.req
	r.timing = false
	switch {
	case r.deadline == 0 || !q.state.Sends():
		return
	case q.h.now() < r.deadline:
		q.watch()
		return
	}
	r.deadline = 0
	if !r.una.Before(r.high) || len(r.queue) == 0 {
		return
	}
	q.h.count.Timeouts++
	r.implied = false
	if !q.takeRetry() {
		return
	}
	q.goBack()
	q.startTimer()
	q.wake()
}
