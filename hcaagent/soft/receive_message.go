package soft

import (
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// takeSend carries out a packet of a SEND.
func (q *queuePair) takeSend(p *packet.Packet) {
	r, info := &q.rsp, p.Info()
	ok, valid := q.take(p)
	if !ok {
		q.notServed(p)
		return
	}
	if !valid {
		return
	}
	if info.First || info.Only {
		r.got = 0
	}
	if !q.h.store("receive", &r.taken.list, uint64(r.got), p.Payload) && !q.h.has("too-long-taken") {
		refusal := packet.NAKInvalidRequest
		if q.h.breaks("too-long-operational") {
			refusal = packet.NAKRemoteOp
		}
		q.refuseFatal(p, refusal, cq.LocLenErr)
		return
	}
	if r.got += uint32(len(p.Payload)); len(p.Payload) > 0 && q.h.breaks("receive-damaged") {
		r.taken.list.put(uint64(r.got)-1, []byte{^p.Payload[len(p.Payload)-1]})
	}
	r.open = wqe.Send
	if !info.Last && !info.Only {
		q.receivedEarly()
		q.accepted(p, 1, false)
		return
	}
	if p.Has&packet.HasIETH != 0 && !q.h.invalidate(q, p.InvRKey) && !q.h.breaks("invalidates-nothing") {
		q.refuseFatal(p, packet.NAKRemoteAccess, cq.RemAccessErr)
		return
	}
	r.open = wqe.None
	q.accepted(p, 1, true)
	q.received(r.taken, p, cq.DoneRecv, r.got)
	r.taken = nil
	q.invent()
}

// received completes the receive request of a message that is there whole.
func (q *queuePair) received(t *receive, p *packet.Packet, op cq.CompletionOp, n uint32) {
	e := cq.Completion{Op: op, ByteLen: n}
	if p.Has&packet.HasImmDt != 0 {
		e.Flags, e.Imm = e.Flags|cq.WithImm, p.Imm
	}
	if p.Has&packet.HasIETH != 0 {
		e.Flags, e.InvKey = e.Flags|cq.WithInv, p.InvRKey
	}
	s := sum{}
	if op == cq.DoneRecv && q.h.opt.Event != nil {
		s = sum{crc: crc32.ChecksumIEEE(t.list.at(0, min(uint64(n), t.list.length))), ok: true}
	}
	q.finishReceive(t, e, p.SE, s)
}

// takeWrite carries out a packet of a WRITE. Its last packet takes a receive request where it brings immediate data.
func (q *queuePair) takeWrite(p *packet.Packet) {
	r, info := &q.rsp, p.Info()
	write, got, dma := r.write, r.got, r.dma
	if info.First || info.Only {
		var ok bool
		if write, ok = q.openWrite(p); !ok {
			q.refuseFatal(p, packet.NAKRemoteAccess, cq.RemAccessErr)
			return
		}
		got, dma = 0, p.DMALen
	}
	ends := info.Last || info.Only
	if ends && p.Has&packet.HasImmDt != 0 {
		ok, valid := q.take(p)
		if !ok {
			q.notServed(p)
			return
		}
		if !valid {
			return
		}
	}
	q.h.storeWrite(write[min(int(got), len(write)):], p.Payload)
	r.write, r.got, r.dma, r.open = write, got+uint32(len(p.Payload)), dma, wqe.Write
	if ends {
		r.open, r.write = wqe.None, nil
	}
	q.accepted(p, 1, ends)
	q.completesByWrite(p)
	if r.taken != nil && ends {
		q.received(r.taken, p, cq.DoneRecvWriteImm, r.got)
		r.taken = nil
	}
}

// openWrite returns the memory that the first packet of a WRITE names, and whether its R_Key permits the WRITE.
func (q *queuePair) openWrite(p *packet.Packet) (write []byte, ok bool) {
	write, err := q.remote(p.RKey, p.VA, uint64(p.DMALen), wqe.RemoteWrite)
	if err != nil && p.Has&packet.HasImmDt != 0 && q.h.breaks("write-takes-receive") {
		q.take(p)
	}
	if err != nil || p.DMALen > 0 && q.h.breaks("key-refused") {
		return nil, false
	}
	return write, p.DMALen != 0 || q.h.keys[p.RKey>>8] != nil || !q.h.breaks("zero-length-checked")
}
