package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Faults of completion queues, shared receive queues, memory windows, and of what the device tells its consumer.
var _ = faults(map[string]*Fault{
	"overrun-ignored":   {Constant: true, Text: "lets queue pairs go on whose completion queue has overrun", Rule: "CPL-CQ-001", Verbs: true, Needs: Overrun},
	"overrun-filled":    {Constant: true, Text: "puts completions into a queue that has overrun", Rule: "CPL-CQ-001", Verbs: true, Needs: Overrun},
	"queue-too-deep":    {Constant: true, Text: "puts more completions into a queue than it has room for", Rule: "CPL-CQ-002", Verbs: true, Needs: Overrun},
	"unsolicited-told":  {Text: "notifies of a message without SE where a solicited event was asked for", Rule: "CPL-SOL-001", Verbs: true, Needs: ArmedSolicited, Responder: true},
	"solicited-missed":  {Constant: true, Text: "does not notify of a message with SE where a solicited event was asked for", Rule: "CPL-SOL-001", Verbs: true, Needs: ArmedSolicited, Responder: true},
	"arming-weakened":   {Constant: true, Text: "notifies only of solicited events where the next completion was asked for before", Rule: "CPL-SOL-002", Verbs: true, Needs: ArmedTwice, Responder: true},
	"next-missed":       {Constant: true, Text: "does not notify of a completion although the queue is armed for the next", Rule: "CPL-SOL-002", Verbs: true, Needs: Armed},
	"limit-twice":       {Text: "tells twice that a shared receive queue is below its limit", Rule: "CPL-SRQ-003", Verbs: true, Needs: Shared, Responder: true},
	"limit-missed":      {Text: "does not tell that a shared receive queue is below its limit", Rule: "CPL-SRQ-003", Verbs: true, Needs: Shared, Responder: true},
	"limit-again":       {Constant: true, Text: "leaves the limit of a shared receive queue armed", Rule: "CPL-SRQ-003", Verbs: true, Needs: Shared, Responder: true},
	"shared-lost":       {Text: "loses a request of a shared receive queue", Rule: "RC-RSP-020", Verbs: true, Needs: SharedFew, Responder: true},
	"shared-twice":      {Text: "uses a request of a shared receive queue twice", Rule: "CPL-ORD-002", Verbs: true, Needs: Shared, Responder: true},
	"last-wqe-missed":   {Text: "does not tell that a queue pair in error takes no more of its shared receive queue", Rule: "QPS-DST-001", Verbs: true, Needs: SharedInError, Responder: true},
	"last-wqe-twice":    {Text: "tells twice that a queue pair in error takes no more of its shared receive queue", Rule: "QPS-DST-001", Verbs: true, Needs: SharedInError, Responder: true},
	"last-wqe-unshared": {Text: "tells that of a queue pair that has a receive queue of its own", Rule: "QPS-DST-001", Verbs: true, Needs: InError, Responder: true},

	"binds-zero-based":   {Text: "binds a window of type 1 zero based", Rule: "CPL-MW-001", Verbs: true, Needs: Windows},
	"binds-bound":        {Text: "binds a window of type 2 that is bound", Rule: "CPL-MW-002", Verbs: true, Needs: Windows},
	"binds-other-domain": {Text: "binds a window of another protection domain", Rule: "CPL-MW-003", Verbs: true, Needs: Windows},
	"binds-nothing":      {Text: "binds a window of type 2 to 0 bytes", Rule: "CPL-MW-004", Verbs: true, Needs: Windows},
	"binds-unbindable":   {Text: "binds a window to a region that permits none", Rule: "CPL-MW-005", Verbs: true, Needs: Windows},
	"binds-more-rights":  {Text: "binds a window that lets peers write to a region that may only be read", Rule: "CPL-MW-006", Verbs: true, Needs: Windows},
	"binds-outside":      {Text: "binds a window beyond the end of its region", Rule: "CPL-MW-007", Verbs: true, Needs: Windows},

	"write-takes-receive":      {Text: "takes a receive request for a WRITE with immediate data that it refuses", Rule: "CPL-RWQ-001", Verbs: true, Needs: RefusedImmediate, Responder: true},
	"invalid-rd-for-ack":       {Text: "completes with REM_INV_RD_REQ_ERR what was acknowledged", Rule: "CPL-STS-005", Verbs: true, which: sent, completion: ends(cq.RemInvRDReqErr)},
	"bad-response-for-ack":     {Text: "completes with BAD_RESP_ERR what was acknowledged", Rule: "CPL-STS-008", Verbs: true, which: sent, completion: ends(cq.BadRespErr)},
	"protection-error-for-ack": {Text: "completes with LOC_PROT_ERR what was acknowledged", Rule: "CPL-STS-018", Verbs: true, which: sent, completion: ends(cq.LocProtErr)},
	"bad-response-taken":       {Text: "takes a READ response that is too short", Rule: "CPL-STS-008", Verbs: true, Needs: ShortResponse},
	"denied-receive-flushed":   {Text: "flushes a receive request whose L_Key is none", Rule: "CPL-STS-010", Verbs: true, Needs: BadReceive, Responder: true, which: status(cq.LocProtErr), completion: ends(cq.WRFlushErr)},
	"denied-receive-invalid":   {Text: "sends a NAK Invalid Request where a receive request has an L_Key that is none", Rule: "CPL-STS-010", Verbs: true, Needs: BadReceive, Responder: true, match: ackOf(packet.NAK), spoil: syndrome(packet.NAKInvalidRequest)},
	"denied-send-taken":        {Text: "carries out a send request whose L_Key is none", Rule: "CPL-STS-017", Verbs: true, Needs: BadSend},
	"denied-receive-taken":     {Text: "completes a receive request whose L_Key is none with success", Rule: "CPL-STS-010", Verbs: true, Needs: BadReceive, Responder: true},
	"violation-untold":         {Text: "does not tell its consumer of an access violation", Rule: "CPL-STS-011", Verbs: true, Needs: Refused, Responder: true},
	"unsignaled-error-silent":  {Text: "does not complete a request that failed and is not signalled", Rule: "CPL-SIG-002", Verbs: true, Needs: RefusedUnsignaled},
	"invalidates-early":        {Text: "completes a local invalidate before the requests before it", Rule: "CPL-FNC-002", Verbs: true, Needs: LocalInvalidate},
	"foreign-handle":           {Text: "sends a datagram by an address handle of another protection domain", Rule: "CPL-AH-001", Service: packet.UD, Verbs: true, Needs: ForeignHandle},

	"established-untold":  {Text: "does not tell that communication is established", Rule: "QPS-RTR-002", Verbs: true, Needs: ReadyLate, Responder: true},
	"established-twice":   {Text: "tells twice that communication is established", Rule: "QPS-RTR-002", Verbs: true, Needs: ReadyLate, Responder: true},
	"requests-before-rts": {Constant: true, Text: "takes a request and sends it before it comes to RTS", Rule: "QPS-RST-001", Verbs: true, Needs: ReadyThenSending},
	"sends-in-sqe":        {Text: "sends in SQE what it flushes", Rule: "QPS-SQE-001", Service: packet.UC, Verbs: true, Needs: Broken},
	"sends-in-init":       {Text: "sends in INIT what was posted before a RESET", Rule: "QPS-INI-001", Service: packet.UD, Verbs: true, Needs: Restarted},
	"initiator-depth-200": {Constant: true, Text: "takes an initiator depth that it does not have", Rule: "QPS-ATT-002", Verbs: true, Needs: Abuse},
	"resources-200":       {Constant: true, Text: "takes responder resources that it does not have", Rule: "QPS-ATT-002", Verbs: true, Needs: Abuse},
	"port-2":              {Constant: true, Text: "takes a port that it does not have", Rule: "QPS-ATT-004", Verbs: true, Needs: Abuse},
	"pkey-index-5":        {Constant: true, Text: "takes a P_Key index beyond the end of its table", Rule: "QPS-ATT-004", Verbs: true, Needs: Abuse},
	"destroys-attached":   {Text: "destroys a queue pair that is attached to a multicast group", Rule: "QPS-MC-001", Service: packet.UD, Verbs: true, Needs: Attached},
})

// tells raises the event of a fault's name as often as the fault lets it.
func (h *HCA) tells(name string, what cq.Async, qpn uint32, srq wqe.SRQ) {
	if h.breaks(name + "-missed") {
		return
	}
	h.async(what, qpn, 0, srq)
	if h.breaks(name + "-twice") {
		h.async(what, qpn, 0, srq)
	}
}

// owes reports whether the consumer is to be told of a completion, as the fault sees it.
func (h *HCA) owes(c *completionQueue, e *cq.Completion, solicited bool) bool {
	switch {
	case !c.armed:
		return false
	case c.arm == cq.ArmNext:
		return !h.has("next-missed")
	case solicited:
		return !h.has("solicited-missed")
	}
	return e.Status != cq.Success || h.breaks("unsolicited-told")
}

// stale is a datagram that a device with that fault keeps over a RESET.
func (h *HCA) stale() {
	if p := h.fault.kept; p != nil && h.breaks("sends-in-init") {
		h.fault.show = true
		h.anew(p)
		h.emitFrame(p)
	}
}

// sendBroken sends a request in SQE, and flushes it.
func (q *queuePair) sendBroken(w *work) {
	r := &q.req
	if q.state != qp.SQE || r.next >= len(r.queue) || r.queue[r.next] != w || !q.openWork(w) || !q.h.breaks("sends-in-sqe") {
		return // also where it was flushed with one before it
	}
	w.silent = true
	for range w.packets {
		q.h.fault.show = true
		q.sendRequest()
	}
	q.finishSend(w, cq.WRFlushErr)
}
