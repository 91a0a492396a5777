package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// ucReceiver is the state of the receiving half of a UC queue pair (section 9.8†).
type ucReceiver struct {
	epsn  packet.PSN
	open  wqe.Op
	taken *receive // stays for the next message when one is dropped
	got   uint32
	dma   uint32
	write []byte
}

// unreliable takes a packet of UC. A message of which anything is missing or wrong is dropped whole.
func (q *queuePair) unreliable(p *packet.Packet) {
	r, info, op := &q.ucr, p.Info(), wqe.OpOf(p.Opcode.Fn())
	starts, ends := info.First || info.Only, info.Last || info.Only
	if p.PSN != r.epsn && !q.h.has("uc-gap-ignored") {
		q.interrupt()
	}
	r.epsn = p.PSN.Add(1)
	if !starts && r.open == wqe.None && op == wqe.Send && q.h.breaks("uc-tail-taken") {
		starts = true
	}
	if !info.Defined || !info.Request || !starts && op != r.open {
		q.interrupt()
		return
	}
	if starts {
		r.got, r.dma, r.write = 0, p.DMALen, nil
	}
	r.open = wqe.None
	if validLength(info, len(p.Payload), q.pmtu()) {
		q.takeUCPacket(p, op, starts, ends)
	}
}

// takeUCPacket carries out a packet of a message on UC that is whole so far, and completes the receive request at its end.
func (q *queuePair) takeUCPacket(p *packet.Packet, op wqe.Op, starts, ends bool) {
	r := &q.ucr
	if op == wqe.Write && !q.writable(p, starts, ends) {
		return
	}
	immediate := ends && (op == wqe.Send || p.Has&packet.HasImmDt != 0)
	if (op == wqe.Send || immediate) && !q.takeUnreliable(p) {
		return
	}
	if op == wqe.Write {
		copy(r.write[min(int(r.got), len(r.write)):], p.Payload)
	} else if !r.taken.list.put(uint64(r.got), p.Payload) {
		q.tooLong()
		return
	}
	r.got += uint32(len(p.Payload))
	if !ends {
		r.open = op
		return
	}
	if immediate {
		t, done := r.taken, cq.DoneRecv
		if op == wqe.Write {
			done = cq.DoneRecvWriteImm
		}
		r.taken = nil
		q.received(t, p, done, r.got)
	}
}

// validLength reports whether a packet may have n bytes of payload.
func validLength(in *packet.Info, n, pmtu int) bool {
	switch {
	case in.First || in.Middle:
		return n == pmtu
	case in.Last:
		return n >= 1 && n <= pmtu
	}
	return n <= pmtu
}

// writable reports whether a packet of a WRITE on UC is carried out: its key permits it, and it has the bytes that the first packet names.
func (q *queuePair) writable(p *packet.Packet, starts, ends bool) bool {
	r := &q.ucr
	if starts {
		var err error
		if r.write, err = q.remote(p.RKey, p.VA, uint64(p.DMALen), wqe.RemoteWrite); err != nil || q.attr.Access&wqe.RemoteWrite == 0 {
			if !q.h.breaks("uc-key-ignored") {
				return false
			}
			r.write = make([]byte, p.DMALen)
		}
		if p.DMALen == 0 && q.h.keys[p.RKey>>8] == nil && q.h.breaks("uc-zero-length-checked") {
			return false
		}
	}
	got := r.got + uint32(len(p.Payload))
	return got <= r.dma && (!ends || got == r.dma)
}

// tooLong drops a SEND on UC for which the receive request has no room: the next message takes the request.
func (q *queuePair) tooLong() {
	if q.srq == nil && !q.h.breaks("uc-too-long-error") {
		return
	}
	t := q.ucr.taken
	q.ucr.taken = nil
	q.finishReceive(t, cq.Completion{Status: cq.LocLenErr}, false, sum{})
	q.enterError()
}

// takeUnreliable gets a receive request for a message.
func (q *queuePair) takeUnreliable(p *packet.Packet) bool {
	r := &q.ucr
	if r.taken != nil {
		return true
	}
	t, ok := q.nextReceive(p)
	if !ok {
		q.keepPacket(p, "uc-receive-late")
		return false
	}
	var err error
	if t.list, err = q.h.openList(q.receivePD(p), t.Segments, wqe.LocalWrite, t.room[:0]); err != nil {
		q.finishReceive(t, cq.Completion{Status: cq.LocProtErr}, false, sum{})
		q.enterError()
		return false
	}
	r.taken = t
	return true
}
