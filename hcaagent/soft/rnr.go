package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
)

// rnrNAK waits until the peer may be ready, and then begins again (section 9.7.5.2.8). Meanwhile nothing is sent.
func (q *queuePair) rnrNAK(code uint8) {
	r := &q.req
	if q.h.breaks("rnr-gives-up-early") || q.attr.RNRRetry == 7 && q.h.breaks("rnr-gives-up-infinite") || r.rnrs == 0 && q.attr.RNRRetry != 7 && !q.h.has("rnr-forever") {
		q.failSend(cq.RNRRetryExcErr)
		return
	}
	r.rnrs -= min(r.rnrs, 1)
	r.implied = false
	if q.h.breaks("rnr-goes-on") {
		q.h.fault.show = true
		q.h.opt.Clock.After(int64(packet.RNRTimer(code)), func() {
			q.goBack()
			q.wake()
		})
		return
	}
	q.goBack()
	if q.h.shows("rnr-late-psn") {
		r.pass()
	}
	r.stop()
	wait := int64(packet.RNRTimer(code))
	wait += q.h.rng.Int64N(wait/8 + 1)
	if q.h.has("resend-before-timer") {
		q.h.fault.show = true
		wait /= 4
	}
	r.resume = max(r.resume, q.h.now()+wait)
	q.h.opt.Clock.After(r.resume-q.h.now(), q.resumeRNR)
}

// resumeRNR ends the wait.
func (q *queuePair) resumeRNR() {
	if q.req.resume > q.h.now() {
		return
	}
	if q.req.una.Before(q.req.high) && q.req.deadline == 0 {
		q.startTimer()
	}
	q.wake()
}
