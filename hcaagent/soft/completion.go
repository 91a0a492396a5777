package soft

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// completionQueue is a completion queue.
type completionQueue struct {
	id     wqe.CQ
	depth  int
	queue  []hcaagent.Completed
	polled []hcaagent.Completed // for whoever observes
	users  int                  // queues attached to it
	armed  bool
	arm    cq.Arm
	broken bool // it has overrun
}

// sum is the CRC-32 of what a completed request has put into memory.
type sum struct {
	crc  uint32
	ok   bool
	head []byte // of a datagram: the bytes before it
}

// complete puts a completion into a queue and tells the consumer, if it waits for one like that. solicited says that the message had SE.
func (h *HCA) complete(c *completionQueue, e cq.Completion, solicited bool, s sum) {
	if c == nil || c.broken && !h.has("overrun-filled") {
		return
	}
	e.QP.Addr = h.opt.Addr
	if e.Status != cq.Success { // CPL-STS-015
		e = cq.Completion{ID: e.ID, QP: e.QP, Status: e.Status, Op: e.Op}
		s.ok = false
	}
	if f := h.fault.is; f != nil && f.completion != nil {
		h.completeFaulty(c, e, solicited, s)
		return
	}
	h.put(c, e, solicited, s)
}

// put puts a completion into its queue.
func (h *HCA) put(c *completionQueue, e cq.Completion, solicited bool, s sum) {
	if c.broken && !h.has("overrun-filled") {
		return
	}
	if len(c.queue) >= c.depth && !c.broken && !h.has("queue-too-deep") {
		if h.has("overrun-filled") {
			c.add(&e, &s)
		}
		h.overrun(c)
		return
	}
	c.add(&e, &s)
	if h.owes(c, &e, solicited) {
		c.armed = false
		h.notify(c)
	} else if !c.armed && h.breaks("notifies-unarmed") {
		h.notify(c)
	}
}

func (c *completionQueue) add(e *cq.Completion, s *sum) {
	c.queue = append(c.queue, hcaagent.Completed{Completion: *e, Summed: s.ok, Sum: s.crc, Head: s.head})
}

// overrun is what happens to a queue that is given more than it holds: it is of no use any more, and neither are its queue pairs
// (CPL-CQ-001).
func (h *HCA) overrun(c *completionQueue) {
	c.broken = true
	h.async(cq.AsyncCQError, 0, c.id, 0)
	if h.has("overrun-ignored") {
		return
	}
	for _, q := range h.sorted() {
		if (q.sendCQ == c || q.recvCQ == c) && q.state != qp.Reset && q.state != qp.Err {
			h.async(cq.AsyncQPFatal, q.num, 0, 0)
			q.enterError()
		}
	}
}
