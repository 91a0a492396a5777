package soft

import "ibwitness/packet"

// answer is the kind of a response.
type answer uint8

const (
	ack answer = iota
	nak
	data // READ responses
	atomic
)

// response is one that waits for the port. Of READ responses it is all that are left.
type response struct {
	kind     answer
	psn      packet.PSN
	last     packet.PSN // of READ responses
	msn      uint32
	syndrome packet.Syndrome // of a NAK
	fresh    bool            // of READ responses: none has left
	rkey     uint32
	va       uint64
	length   uint32 // bytes that are left of a READ
	orig     uint64
	due      int64 // an ACK waits for another one until then
	again    bool  // it answers a duplicate
}

// respond puts a response after those that wait for the port. An ACK takes the place of one that waits there.
func (q *queuePair) respond(a response) {
	r := &q.rsp
	a.msn = r.msn & 0xFFFFFF
	if a.kind == ack {
		if n := len(r.out); n > 0 && r.out[n-1].kind == ack && !a.psn.Before(r.out[n-1].psn) {
			r.out[n-1].psn, r.out[n-1].msn = a.psn, a.msn
			return
		}
		if d := q.h.opt.AckDelay; d > 0 {
			a.due = q.h.now() + d
			q.h.opt.Clock.After(d, q.wake)
		}
	}
	r.out = append(r.out, a)
}

// responseReady reports whether a response may be sent now. The last one of a queue in error is its NAK.
func (q *queuePair) responseReady() bool {
	r := &q.rsp
	return len(r.out) > 0 && (len(r.out) > 1 || r.out[0].due <= q.h.now()) && q.answers()
}

// sendResponse sends the next response packet.
func (q *queuePair) sendResponse() {
	r := &q.rsp
	a := &r.out[0]
	var p *packet.Packet
	done := true
	switch a.kind {
	case data:
		p = q.readResponse(a)
		done = a.psn.After(a.last)
		if done {
			q.served(a.last)
		}
	case atomic:
		p = q.packet(packet.AtomicAck)
		p.PSN, p.Syndrome, p.OrigData = a.psn, q.granted(), a.orig
		q.served(a.psn)
	default:
		p = q.packet(packet.Acknowledge)
		p.PSN, p.Syndrome = a.psn, a.syndrome
		if a.kind == ack {
			p.Syndrome = q.granted()
		}
	}
	p.MSN = a.msn
	if p.Info().Headers&packet.HasAETH == 0 {
		p.MSN, p.Syndrome = 0, 0
	}
	if done {
		r.out = append(r.out[:0], r.out[1:]...)
	}
	if p.Syndrome.Type() == packet.ACK && p.Info().Headers&packet.HasAETH != 0 {
		n, limited := p.Syndrome.Credits()
		r.none, r.gave, r.count = limited && n == 0, p.PSN, p.MSN
	}
	q.h.transmit(p)
	if q.dead && len(r.out) == 0 {
		q.dead = false
		q.enterError()
	}
}

// readResponse builds the next packet of the answer to a READ.
func (q *queuePair) readResponse(a *response) *packet.Packet {
	f := packet.ReadRespMiddle
	switch {
	case a.fresh && a.psn == a.last:
		f = packet.ReadRespOnly
	case a.fresh:
		f = packet.ReadRespFirst
	case a.psn == a.last:
		f = packet.ReadRespLast
	}
	n := min(a.length, q.attr.PMTU)
	p := q.packet(f)
	p.PSN, p.Syndrome = a.psn, q.granted()
	b, err := q.remote(a.rkey, a.va, uint64(n), 0)
	if err != nil { // the key was taken back meanwhile
		b = make([]byte, n)
	}
	p.Payload = b
	a.psn, a.fresh = a.psn.Add(1), false
	a.va, a.length = a.va+uint64(n), a.length-n
	return p
}

// grant tells of receive requests where the newest ACK gave no credit: it repeats that ACK, though nothing asks for it (section 9.7.7.2).
// After a NAK the requester retransmits by itself.
func (q *queuePair) grant() {
	r := &q.rsp
	if q.h.opt.Credits && r.none && r.nak == nothing && q.answers() && !q.dead && len(r.out) == 0 {
		r.none = false
		r.out = append(r.out, response{kind: ack, psn: r.gave, msn: r.count})
		q.wake()
	}
}

// served notes that the answer to a READ or an atomic has left.
func (q *queuePair) served(last packet.PSN) {
	for i := range q.rsp.saved {
		if s := &q.rsp.saved[i]; s.last == last {
			s.served = true
		}
	}
}

// granted is the syndrome of a positive response: the credits that there are, or none told (section 9.7.7.2).
func (q *queuePair) granted() packet.Syndrome {
	if q.creditsAfterNone() {
		return packet.Syndrome(0)
	}
	if !q.h.opt.Credits || q.srq != nil || q.service != packet.RC || q.new.SRQ != 0 {
		return packet.CreditInvalid
	}
	n := uint32(len(q.receives))
	if q.rsp.taken != nil {
		n++
	}
	code := packet.Syndrome(0)
	for code < 30 {
		if c, _ := (code + 1).Credits(); c > n {
			break
		}
		code++
	}
	return code
}
