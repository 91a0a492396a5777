package soft

import (
	"errors"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Faults of what follows something that only a conformance test does: what is right after it, and what must stay as it is.
var _ = faults(map[string]*Fault{
	"late-ack-ignored":        {Text: "does not take an ACK that comes more than 10 s after its request", Needs: Tester},
	"old-ack-stuck":           {Text: "takes no more responses after one to a request that was acknowledged", Needs: Tester},
	"credit-unused":           {Text: "leaves the last of its end-to-end credits unused", Needs: Tester},
	"duplicate-written":       {Text: "writes the data of a duplicate WRITE", Responder: true, Needs: Tester},
	"far-psn-refused":         {Text: "refuses a request whose PSN is 2^23 away", Responder: true, Needs: Tester},
	"refused-written":         {Text: "writes the data of a request that it refuses", Responder: true, Needs: Tester},
	"write-completes-receive": {Text: "completes a receive request by a WRITE without immediate data", Rule: "CPL-STS-014", Verbs: true, Responder: true, Needs: Tester},
	"credits-after-none":      {Text: "gives credits in one ACK after it has said in another that there is no limit", Responder: true, Needs: Tester},
	"uc-says-error":           {Text: "says that a queue pair of UC that works is in the error state", Rule: "QPS-ERR-002", Verbs: true, Service: packet.UC, Responder: true, Needs: Tester},
	"ack-twice":               {Text: "sends each ACK twice", Responder: true, Needs: Tester, match: isACK, again: true},
	"service-refused":         {Text: "refuses a packet with an opcode of another service by a NAK", Responder: true, Needs: Tester},
	"dmalen-too-strict":       {Text: "refuses a request for 2^31 bytes as an invalid one", Responder: true, Needs: Tester},
	"uc-repeated-late":        {Text: "retransmits a message on UC after 500 ms", Rule: "UC-PSN-002", Service: packet.UC, Needs: Tester, match: isUCSend, later: 500_000_000},
	"ud-too-long-sent":        {Text: "sends a datagram that is longer than the MTU of the port", Rule: "UD-LEN-001", Service: packet.UD, Needs: Tester},
	"xrc-initiator-takes":     {Text: "answers requests as the initiator of an XRC connection", Service: packet.XRC, Needs: Tester},
	"xrc-target-posts":        {Text: "takes send requests as the target of an XRC connection", Service: packet.XRC, Responder: true, Needs: Tester},
	"refuses-again":           {Text: "refuses a transition that is right after one that is not", Needs: Tester},
	"flushed-again":           {Text: "completes a request that it has flushed again when a packet comes", Rule: "CPL-ORD-002", Verbs: true, Responder: true, Needs: Tester},
	"established-on-ud":       {Text: "tells that communication is established of a queue pair of UD", Service: packet.UD, Responder: true, Needs: Tester},
	"last-wqe-early":          {Text: "tells that a queue pair takes no more of its shared receive queue before it is in the error state", Responder: true, Needs: Tester},
	"damaged-counted":         {Text: "counts requests with a wrong ICRC in its MSN", Rule: "RC-RSP-013", Responder: true, Needs: Tester},
})

// isUCSend matches the only packet of a SEND on UC.
func isUCSend(p *packet.Packet) bool { return p.Opcode == uc(packet.SendOnly) }

// lateACK is how old a request is at least whose ACK the fault does not take, in nanoseconds.
const lateACK = 10_000_000_000

// ignores reports whether the fault has the queue pair take no response.
func (q *queuePair) ignores() bool {
	r := &q.req
	return r.ignores || q.h.has("late-ack-ignored") && q.h.now()-r.sent > lateACK
}

// unused is how many credits the fault leaves unused.
func (h *HCA) unused() uint32 {
	if h.has("credit-unused") {
		return 1
	}
	return 0
}

// writesRefused writes what a request brings that is refused, to the memory that it names.
func (q *queuePair) writesRefused(p *packet.Packet) {
	if !q.h.has("refused-written") {
		return
	}
	b := p.Payload
	if p.Has&packet.HasAtomicETH != 0 {
		b = bytes8.AppendUint64(nil, ^p.SwapAdd)
	}
	if p.Has&(packet.HasRETH|packet.HasAtomicETH) == 0 {
		copy(q.rsp.write[min(int(q.rsp.got), len(q.rsp.write)):], b)
		return
	}
	for _, buf := range q.h.bufs {
		if at := p.VA - buf.va; p.VA >= buf.va && at < uint64(len(buf.bytes)) {
			copy(buf.bytes[at:], b)
		}
	}
}

// writesAgain writes the data of a duplicate WRITE.
func (q *queuePair) writesAgain(p *packet.Packet) {
	if p.Has&packet.HasRETH == 0 || !q.h.has("duplicate-written") {
		return
	}
	if b, err := q.remote(p.RKey, p.VA, uint64(len(p.Payload)), wqe.RemoteWrite); err == nil {
		copy(b, p.Payload)
	}
}

// completesByWrite completes a receive request by a WRITE that brings no immediate data.
func (q *queuePair) completesByWrite(p *packet.Packet) {
	if p.Has&packet.HasImmDt != 0 || !q.h.has("write-completes-receive") {
		return
	}
	if t, ok := q.nextReceive(p); ok {
		q.finishReceive(t, cq.Completion{Op: cq.DoneRecv}, false, sum{})
	}
}

// creditsAfterNone gives credits in each second ACK, where a limit was never told.
func (q *queuePair) creditsAfterNone() bool {
	if q.srq != nil || !q.h.has("credits-after-none") {
		return false
	}
	q.rsp.limits = !q.rsp.limits
	return !q.rsp.limits
}

// refusesService refuses a packet of another service.
func (q *queuePair) refusesService(p *packet.Packet) {
	if q != nil && q.reliable() && q.answers() && p.Opcode.Service() != q.service && q.h.has("service-refused") {
		q.respond(response{kind: nak, psn: q.rsp.epsn, syndrome: packet.NAKInvalidRequest})
		q.wake()
	}
}

// flushedAgain completes a request once more that was flushed, when a packet comes in the error state.
func (q *queuePair) flushedAgain() {
	if q != nil && q.state == qp.Err && q.recvCQ != nil && q.h.has("flushed-again") {
		q.h.complete(q.recvCQ, cq.Completion{ID: 1, QP: wqe.QP{QPN: q.num}, Status: cq.WRFlushErr, Op: cq.DoneRecv}, false, sum{})
	}
}

// refusesAgain refuses what is right after a refusal, each time one comes.
func (h *HCA) refusesAgain(err error) error {
	if !h.has("refuses-again") {
		return err
	}
	was := h.fault.refused
	if h.fault.refused = err != nil; err == nil && was {
		return errors.New("the transition before it was refused")
	}
	return err
}

// countsDamaged counts a damaged request.
func (h *HCA) countsDamaged(p *packet.Packet) {
	if q := h.queuePair(p.DestQP); q != nil && h.has("damaged-counted") {
		q.rsp.msn++
	}
}
