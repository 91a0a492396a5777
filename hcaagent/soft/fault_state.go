package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Faults of states and queues: what a device does where it must not, and accepts where it must refuse.
var _ = faults(map[string]*Fault{
	"post-in-reset":         {Text: "takes a receive request in RESET", Rule: "QPS-RST-001", Verbs: true, Needs: Abuse},
	"post-in-init":          {Text: "takes a send request in INIT", Rule: "QPS-RST-001", Verbs: true, Needs: Abuse},
	"post-beside-shared":    {Text: "takes a receive request for a queue pair that has a shared receive queue", Rule: "CPL-SRQ-004", Verbs: true, Needs: Abuse},
	"segments-ignored":      {Constant: true, Text: "takes more data segments than a queue pair has", Rule: "CPL-IMD-002", Verbs: true, Needs: Abuse},
	"current-state-ignored": {Constant: true, Text: "takes a current state that the queue pair is not in", Rule: "QPS-TRN-005", Verbs: true, Needs: Abuse},
	"psn-of-25-bits":        {Constant: true, Text: "takes a start PSN of 25 bits", Rule: "QPS-ATT-006", Verbs: true, Needs: Abuse},
	"retry-count-9":         {Constant: true, Text: "takes a retry count of 9", Rule: "QPS-ATT-003", Verbs: true, Needs: Abuse},
	"destroys-used-queue":   {Text: "destroys a completion queue that queue pairs use", Rule: "CPL-CQ-003", Verbs: true, Needs: Abuse},
	"completes-refused":     {Text: "completes a request that it refused", Rule: "CPL-IMD-001", Verbs: true, Needs: Abuse},
	"rc-in-sqe":             {Constant: true, Text: "says that an RC queue pair is in SQE", Rule: "QPS-TRN-004", Verbs: true, Needs: Refused},
	"answers-in-error":      {Constant: true, Text: "answers requests in the error state", Rule: "QPS-ERR-001", Verbs: true, Needs: InError, Responder: true},
	"sends-in-rtr":          {Constant: true, Text: "sends requests before RTS", Rule: "QPS-RST-001", Verbs: true, Needs: ReadyOnly},
	"begins-drained":        {Constant: true, Text: "begins new work in SQD", Rule: "QPS-SQD-001", Verbs: true, Needs: Drained},
	"drained-twice":         {Text: "says twice that the send queue has drained", Rule: "QPS-SQD-002", Verbs: true, Needs: Drained},
	"drained-untold":        {Text: "does not say that the send queue has drained", Rule: "QPS-SQD-002", Verbs: true, Needs: Drained},
	"drained-unasked":       {Constant: true, Text: "says that the send queue has drained, though nobody asked", Rule: "QPS-SQD-002", Verbs: true, Needs: DrainedUnasked},
	"fence-ignored":         {Constant: true, Text: "sends a request with a fence before the READs before it are answered", Rule: "RC-FEN-001", Verbs: true, Needs: Fenced},
	"rnr-unfounded":         {Text: "sends an RNR NAK although a receive request waits", Rule: "RC-RSP-020", Verbs: true, Responder: true},
	"permission-ignored":    {Constant: true, Text: "answers a READ that the queue pair does not permit", Rule: "QPS-ACT-001", Verbs: true, Needs: NotPermitted, Responder: true},
	"too-long-taken":        {Constant: true, Text: "completes a SEND that is longer than its receive request with success", Rule: "CPL-STS-009", Verbs: true, Needs: TooLong, Responder: true},
	"qkey-ignored":          {Constant: true, Text: "takes a datagram with a wrong Q_Key", Rule: "UD-QKEY-004", Service: packet.UD, Verbs: true, Needs: WrongQKey, Responder: true},
	"notifies-unarmed":      {Text: "tells of a completion queue that is not armed", Rule: "CPL-SOL-003", Verbs: true},
	"notifies-twice":        {Text: "tells twice of a completion queue that was armed once", Rule: "CPL-SOL-003", Verbs: true, Needs: Armed},
})

// valueFaults are the attributes whose values a fault leaves unchecked.
var valueFaults = map[string]qp.Known{
	"current-state-ignored": qp.KnowsCurState, "psn-of-25-bits": qp.KnowsSQPSN, "retry-count-9": qp.KnowsRetryCnt,
	"initiator-depth-200": qp.KnowsMaxRdAtomic, "resources-200": qp.KnowsMaxDestRdAtomic,
	"path-mtu-odd": qp.KnowsPMTU, "timer-code": qp.KnowsMinRNRTimer, "port-2": qp.KnowsPort, "pkey-index-5": qp.KnowsPKey,
}

// unchecked reports whether the fault is not to check the value of an attribute.
func (h *HCA) unchecked(k qp.Known) bool {
	return h.fault.is != nil && valueFaults[h.opt.Fault]&k != 0
}

// sends and answers report whether the state lets the queue pair do so, or its fault does.
func (q *queuePair) sends() bool {
	return q.state.Sends() || q.state == qp.RTR && (q.h.has("sends-in-rtr") || q.h.has("requests-before-rts"))
}

func (q *queuePair) answers() bool {
	return q.state.Receives() || q.state == qp.Err && q.h.has("answers-in-error")
}

// notify tells of a completion queue, how often the fault wants it.
func (h *HCA) notify(c *completionQueue) {
	h.notification(c)
	if h.breaks("notifies-twice") {
		h.notification(c)
	}
}

func (h *HCA) notification(c *completionQueue) {
	if e := h.event(cq.EvNotify); e != nil {
		e.CQ = c.id
		h.tell(e)
	}
	if h.opt.Notify != nil {
		h.opt.Notify(c.id)
	}
}
