package soft

import (
	"bytes"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Faults of what receivers must drop, and of how they refuse.
var _ = faults(map[string]*Fault{
	"uc-gap-ignored":            {Constant: true, Text: "takes a UC message of which a packet is missing", Rule: "UC-PSN-003", Service: packet.UC, Verbs: true, Responder: true, Needs: LostMiddle},
	"uc-tail-taken":             {Text: "takes the rest of a UC message whose first packet is missing", Rule: "UC-PSN-004", Service: packet.UC, Verbs: true, Responder: true, Needs: LostFirst},
	"uc-receive-late":           {Text: "keeps a UC message until a receive request is posted", Rule: "UC-RWQE-001", Service: packet.UC, Verbs: true, Responder: true, Needs: NotReady},
	"uc-too-long-error":         {Text: "fails on a UC SEND that is longer than the receive request", Rule: "UC-RWQE-002", Service: packet.UC, Verbs: true, Responder: true, Needs: TooLong},
	"uc-interrupted-completes":  {Text: "completes the receive request of an interrupted UC SEND with an error", Rule: "UC-RWQE-003", Service: packet.UC, Verbs: true, Responder: true, Needs: LostMiddle},
	"uc-key-ignored":            {Text: "delivers the immediate data of a UC WRITE with a wrong R_Key", Rule: "UC-ACC-001", Service: packet.UC, Verbs: true, Responder: true, Needs: Refused},
	"uc-zero-length-checked":    {Text: "drops a UC WRITE of no bytes for its R_Key", Rule: "UC-ACC-002", Service: packet.UC, Verbs: true, Responder: true, Needs: ZeroLength},
	"uc-messages-swapped":       {Text: "completes a UC message after the next one", Rule: "UC-CPL-002", Service: packet.UC, Verbs: true, Responder: true},
	"ud-too-long-error":         {Text: "fails on a datagram that is longer than the MTU of the port", Rule: "UD-LEN-002", Service: packet.UD, Verbs: true, Needs: TooLong},
	"ud-receive-too-long-error": {Text: "fails on a datagram that is longer than the receive request", Rule: "UD-LEN-003", Service: packet.UD, Verbs: true, Responder: true, Needs: TooLong},
	"ud-receive-late":           {Text: "keeps a datagram until a receive request is posted", Rule: "UD-RWQE-001", Service: packet.UD, Verbs: true, Responder: true, Needs: NotReady},
	"ud-privileged-qkey":        {Text: "sends the privileged Q_Key of a work request", Rule: "UD-QKEY-002", Service: packet.UD, Verbs: true, Needs: Privileged},
	"ud-damaged-taken":          {Text: "takes a datagram with a wrong ICRC", Rule: "ROC-V2-021", Service: packet.UD, Verbs: true, Responder: true, Needs: Damaged},

	"operational-unfounded": {Text: "refuses a WRITE with NAK Remote Operational Error for no reason", Rule: "RC-RSP-025", Verbs: true, Responder: true},
	"refusal-untold":        {Text: "does not tell its consumer that it refused a request", Rule: "RC-RSP-028", Verbs: true, Responder: true, Needs: NotPermitted},
	"too-long-operational":  {Text: "refuses a SEND that is longer than the receive request with NAK Remote Operational Error", Rule: "RC-RSP-039", Verbs: true, Responder: true, Needs: TooLong},
	"invalidates-nothing":   {Text: "completes a SEND that invalidates an unknown R_Key with success", Rule: "CPL-INV-002", Verbs: true, Responder: true, Needs: NothingToInvalidate},
	"persists-unpermitted":  {Constant: true, Text: "answers a FLUSH for persistence of a region that does not permit it", Rule: "FLW-003", Verbs: true, Responder: true, Needs: NoPersistence},
	"atomic-write-granted":  {Constant: true, Text: "executes an ATOMIC WRITE to a region that may only be read", Rule: "FLW-007", Verbs: true, Responder: true, Needs: NoAtomicWrite},
	"xrc-other-queue":       {Text: "takes a receive request of another shared receive queue than an XRC message names", Rule: "XRC-SRQ-001", Service: packet.XRC, Verbs: true, Responder: true},
})

// interrupt drops the UC message that is open.
func (q *queuePair) interrupt() {
	r := &q.ucr
	if r.open == wqe.Send && r.taken != nil && q.h.breaks("uc-interrupted-completes") {
		t := r.taken
		r.taken = nil
		q.finishReceive(t, cq.Completion{Status: cq.LocLenErr}, false, sum{})
		q.enterError()
	}
	r.open = wqe.None
}

// keep keeps a packet for later, where that is the fault.
func (q *queuePair) keepPacket(p *packet.Packet, fault string) bool {
	if q.kept != nil || !p.Info().Only || !q.h.breaks(fault) {
		return false
	}
	late := *p
	late.Data, late.Payload = bytes.Clone(p.Data), bytes.Clone(p.Payload)
	q.kept = &late
	return true
}

// releasePacket takes the packet that was kept.
func (q *queuePair) releasePacket() {
	p := q.kept
	if p == nil {
		return
	}
	if q.kept = nil; q.service == packet.UD {
		q.datagram(p)
	} else {
		q.unreliable(p)
	}
}

// otherQueue is a shared receive queue that a message on XRC does not name, where that is the fault.
func (h *HCA) otherQueue(s *sharedQueue) *sharedQueue {
	if s != nil && !h.has("xrc-other-queue") {
		return s
	}
	for id := wqe.SRQ(1); id <= wqe.SRQ(h.lastObject); id++ {
		if x := h.srqs[id]; x != nil && x != s && len(x.queue) > 0 && (s == nil || h.breaks("xrc-other-queue")) {
			return x
		}
	}
	return s
}
