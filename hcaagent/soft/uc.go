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
	n, pmtu := len(p.Payload), q.pmtu()
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
	if (info.First || info.Middle) && n != pmtu || info.Last && (n < 1 || n > pmtu) || n > pmtu {
		return
	}
	immediate := ends && (op == wqe.Send || p.Has&packet.HasImmDt != 0)
	if op == wqe.Write {
		if starts {
			var err error
			if r.write, err = q.remote(p.RKey, p.VA, uint64(p.DMALen), wqe.RemoteWrite); err != nil || q.attr.Access&wqe.RemoteWrite == 0 {
				if !q.h.breaks("uc-key-ignored") {
					return
				}
				r.write = make([]byte, p.DMALen)
			}
			if p.DMALen == 0 && q.h.keys[p.RKey>>8] == nil && q.h.breaks("uc-zero-length-checked") {
				return
			}
		}
		if got := r.got + uint32(n); ends && got != r.dma || got > r.dma {
			return
		}
	}
	if (op == wqe.Send || immediate) && !q.takeUnreliable(p) {
		return
	}
	if op == wqe.Write {
		copy(r.write[min(int(r.got), len(r.write)):], p.Payload)
	} else if !r.taken.list.put(uint64(r.got), p.Payload) {
		if q.srq == nil && !q.h.breaks("uc-too-long-error") {
			return // the next message takes the request
		}
		t := r.taken
		r.taken = nil
		q.finishReceive(t, cq.Completion{Status: cq.LocLenErr}, false, sum{})
		q.enterError()
		return
	}
	r.got += uint32(n)
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
