package soft

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Faults of checks that are left out, and of requests for which no right peer gives the occasion or of which no rule tells: conformance tests show them. Where Rule is empty no rule
// judges it.
var _ = faults(map[string]*Fault{
	"tver-taken":         {Text: "takes a packet with a transport version that is not 0", Responder: true, Needs: Tester},
	"service-ignored":    {Text: "takes a packet with an opcode of another service", Rule: "CPL-STS-014", Responder: true, Needs: Tester},
	"pkey-ignored":       {Text: "takes a packet with a P_Key of another partition", Responder: true, Needs: Tester},
	"short-taken":        {Text: "takes a packet that is shorter than its headers", Responder: true, Needs: Tester},
	"reserved-checked":   {Text: "drops a packet in which a reserved bit is set", Responder: true, Needs: Tester},
	"source-ignored":     {Text: "takes a packet from another address than its peer's", Rule: "RC-RSP-006", Responder: true, Needs: Tester},
	"length-unchecked":   {Text: "takes a request with a payload that its opcode must not have", Rule: "RC-RSP-023", Responder: true, Needs: Tester},
	"dmalen-unchecked":   {Text: "takes a request for more than 2^31 bytes", Responder: true, Needs: Tester},
	"sequence-unchecked": {Text: "takes a request whose opcode must not come next", Rule: "CPL-STS-014", Responder: true, Needs: Tester},
	"misaligned-done":    {Text: "executes an atomic at an address that is no multiple of 8", Rule: "RC-RSP-023", Responder: true, Needs: Tester},

	"resources-forgotten":    {Text: "drops a READ or atomic for which it has no resource", Responder: true, Needs: Tester},
	"duplicate-read-dropped": {Text: "does not answer a READ again", Responder: true, Needs: Tester},
	"duplicates-unordered":   {Text: "goes on with the answer to a duplicate READ when an earlier duplicate comes", Responder: true, Needs: Tester},

	"unsent-ack-taken":   {Text: "takes an ACK of a PSN that it has not sent for one of all requests", Rule: "CPL-STS-012", Verbs: true, Needs: Tester},
	"reserved-as-ack":    {Text: "takes a reserved syndrome for an ACK", Rule: "CPL-STS-012", Verbs: true, Needs: Tester},
	"rc-multicast-taken": {Text: "takes a packet of RC to the multicast QP", Responder: true, Needs: Tester},
	"xrc-change-taken":   {Text: "takes a message on XRC that changes its shared receive queue", Service: packet.XRC, Responder: true, Needs: Tester},
})

// whole reports whether a packet has all that its headers and lengths promise.
func (q *queuePair) whole(p *packet.Packet) bool {
	return (p.Flaws == 0 || q.excuses(p)) && len(p.Payload) == p.PayloadLen || q.h.breaks("short-taken")
}

// legible reports whether the transport version is the known one; reserved bits do not count.
func (q *queuePair) legible(p *packet.Packet) bool {
	return (p.TVer == 0 || q.h.breaks("tver-taken")) && (p.Resv7|p.Resv8a|p.DETHRes == 0 || !q.h.breaks("reserved-checked"))
}

// fromPeer reports whether a packet comes from the address that the queue pair knows its peer by.
func (q *queuePair) fromPeer(p *packet.Packet) bool {
	return !q.connected() || p.Src == q.attr.DestAddr || q.h.breaks("source-ignored")
}

// destination is the queue pair that a packet to this device is for, or nil.
func (h *HCA) destination(p *packet.Packet) *queuePair {
	q := h.queuePair(p.DestQP)
	if q == nil && (p.DestQP == wqe.MulticastQPN && p.Opcode.Service() != packet.UD && h.breaks("rc-multicast-taken") || p.DestQP == 0 && h.breaks("qp0-taken")) {
		return h.anyOf(p)
	}
	return q
}

// withdraw takes back the answers to duplicates that come after a PSN: an earlier duplicate interrupts them, and their requester sends their requests once more (C9-110).
func (q *queuePair) withdraw(psn packet.PSN) {
	r := &q.rsp
	kept := r.out[:0]
	for i := range r.out {
		if a := r.out[i]; !a.again || !a.psn.After(psn) || q.h.breaks("duplicates-unordered") {
			kept = append(kept, a)
		}
	}
	r.out = kept
}
