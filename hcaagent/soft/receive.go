package soft

import (
	"ibwitness/packet"
	"ibwitness/qp"
)

// etherSize is the length of an Ethernet header.
const etherSize = 14

// Receive takes a frame that arrives at the port. What is not for the device, or damaged, it drops without a word (section 9.6).
func (h *HCA) Receive(frame []byte) {
	h.count.Received++
	h.take(frame, false)
}

// take takes a frame from the port, or one to a multicast group that the device itself sends.
func (h *HCA) take(frame []byte, own bool) {
	p := &h.in
	if !h.decode(p, frame) || !h.addressed(p, own) {
		h.count.Dropped++
		return
	}
	if h.check(p, own); p.ICRCState != packet.CRCGood && !h.shows("accepts-damaged") && (p.Opcode.Service() != packet.UD || !h.breaks("ud-damaged-taken")) {
		h.count.BadICRC++
		h.countsDamaged(p)
		return
	}
	if p.Dst.IsMulticast() {
		h.multicast(p)
		return
	}
	q := h.destination(p)
	if q != nil && p.Opcode == packet.OpCNP {
		q.notified(p)
		return
	}
	if !q.validHeader(p) || q.dead || !q.fromPeer(p) || !q.onPath(p) {
		h.count.Dropped++
		q.flushedAgain()
		q.refusesService(p)
		return
	}
	if !q.admits(p) {
		h.count.PKeyViolations++
		return
	}
	q.marked(p)
	q.arrive(p)
}

// addressed reports whether a packet is to the device, or to a multicast group: of those that the device itself sends, only the copies of its own.
func (h *HCA) addressed(p *packet.Packet, own bool) bool {
	if p.Dst.IsMulticast() {
		return h.owns(p.Src) == own
	}
	return h.enters(p)
}

// notified takes a CNP.
func (q *queuePair) notified(p *packet.Packet) {
	q.slowDown()
	if q.reliable() && q.h.breaks("cnp-acknowledged") {
		q.respond(response{kind: ack, psn: q.rsp.epsn.Add(-1)})
		q.wake()
	}
	if q.h.has("cnp-for-cnp") {
		q.marked(p)
	}
}

// validHeader reports whether a packet is whole, and of the service of a queue pair that is there and receives in its state (section 9.6).
func (q *queuePair) validHeader(p *packet.Packet) bool {
	return q != nil && q.answers() && q.whole(p) && q.legible(p) && (p.Opcode.Service() == q.service || q.h.breaks("service-ignored"))
}

// check checks the ICRC of a packet that arrives.
func (h *HCA) check(p *packet.Packet, own bool) {
	if !own && h.opt.Intact != nil && h.opt.Intact() {
		p.ICRCState = packet.CRCGood
		return
	}
	h.checker.ICRC(p)
}

// decode takes a frame apart.
func (h *HCA) decode(p *packet.Packet, frame []byte) bool {
	if h.opt.Addr.IsLID() {
		return packet.DecodeInfiniBand(p, frame, len(frame)) && h.decodesRaw(p, frame)
	}
	if len(frame) < etherSize {
		return false
	}
	switch kind := uint16(frame[12])<<8 | uint16(frame[13]); kind {
	case 0x0800, 0x86DD:
		if kind == 0x86DD && h.breaks("ipv6-missing") {
			return false
		}
		return packet.DecodeIP(p, frame[etherSize:], len(frame)-etherSize) || h.decodesOdd(p, frame)
	case 0x8915:
		return packet.DecodeGRH(p, frame[etherSize:], len(frame)-etherSize)
	}
	return false
}

// arrive hands a packet that is for the queue pair to the half that it is for.
func (q *queuePair) arrive(p *packet.Packet) {
	info := p.Info()
	switch {
	case q.service == packet.UD:
		if q.h.has("established-on-ud") {
			q.communicates()
		}
		q.datagram(p)
	case q.service == packet.UC:
		q.communicates()
		if !q.keepPacket(p, "uc-messages-swapped") {
			q.unreliable(p)
			if q.h.has("uc-messages-swapped") {
				q.releasePacket()
			}
		}
	case info.Response:
		q.response(p)
	case q.new.Type != qp.TypeXRCInitiator || q.h.has("xrc-initiator-takes"):
		q.communicates()
		q.request(p)
	}
	q.wake()
}
