package soft

import (
	"ibwitness/cq"
	"ibwitness/qp"
)

// enterError brings the queue pair to the error state, on an error that the device has found.
func (q *queuePair) enterError() {
	if q.state == qp.Reset || q.state == qp.Err {
		return
	}
	q.become(qp.Err)
}

// flush completes everything that both queues hold (C10-96, QPS-ERR-002).
func (q *queuePair) flush() {
	q.flushSends()
	if q.rsp.taken != nil {
		q.finishReceive(q.rsp.taken, cq.Completion{Status: cq.WRFlushErr}, false, sum{})
		q.rsp.taken = nil
	}
	if q.ucr.taken != nil {
		q.finishReceive(q.ucr.taken, cq.Completion{Status: cq.WRFlushErr}, false, sum{})
		q.ucr.taken = nil
	}
	for len(q.receives) > 0 {
		r := q.receives[0]
		q.receives = shift(q.receives)
		q.finishReceive(&receive{ReceiveRequest: r}, cq.Completion{Status: cq.WRFlushErr}, false, sum{})
	}
	q.rsp.out = nil
	if q.srq != nil || q.h.breaks("last-wqe-unshared") {
		q.h.tells("last-wqe", cq.AsyncLastWQE, q.num, 0)
	}
}

// flushSends completes what the send queue holds.
func (q *queuePair) flushSends() {
	r := &q.req
	for len(r.queue) > 0 {
		w := r.queue[0]
		r.queue = shift(r.queue)
		q.finishSend(w, cq.WRFlushErr)
	}
	r.next, r.off, r.stuck = 0, 0, false
	r.stop()
}

// failSend completes the oldest send request in error; the rest follows it (QPS-TRN-004).
func (q *queuePair) failSend(status cq.Status) {
	r := &q.req
	if len(r.queue) == 0 {
		return
	}
	w := r.queue[0]
	r.queue = shift(r.queue)
	q.finishSend(w, status)
	if q.reliable() {
		q.enterError()
		return
	}
	q.become(qp.SQE)
	q.flushSends()
}
