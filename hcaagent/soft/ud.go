package soft

import (
	"hash/crc32"
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// grhSize is how many bytes precede a datagram in the receive buffer: the GRH, or the IP header at its end.
const grhSize = 40

// address gives a datagram its destination: of an address handle, or of the request itself.
func (q *queuePair) address(w *work, p *packet.Packet) {
	p.Dst, p.DestQP, p.QKey, p.SrcQP = w.Dest.Addr, w.Dest.QPN, w.QKey, q.num
	if w.QKey>>31 == 1 && !q.h.breaks("ud-privileged-qkey") { // a privileged Q_Key is the queue pair's own (10.2.5)
		p.QKey = q.attr.QKey
	}
	p.TClass, p.HopLmt = 0, 0
	if a := q.h.ahs[w.AH]; a != nil && !q.h.breaks("address-handle-ignored") {
		p.Dst, p.SL, p.TClass, p.HopLmt = a.Dest, a.SL, a.TClass, a.HopLimit
		q.h.from(p, q.h.source(a.Source, a.Dest), a.GRH, a.DestGID, a.FlowLabel)
	} else {
		q.h.from(p, q.h.source(wqe.GID{}, p.Dst), false, packet.Addr{}, 0)
	}
}

// datagram takes a packet of UD.
func (q *queuePair) datagram(p *packet.Packet) {
	if !p.Info().Defined || len(p.Payload) > int(q.h.opt.Limits.MTU) {
		q.h.count.Dropped++
		return
	}
	if p.QKey != q.attr.QKey && !q.h.has("qkey-ignored") {
		q.h.count.QKeyViolations++
		return
	}
	t, ok := q.nextReceive(p)
	if !ok {
		q.h.count.Dropped++
		q.keepPacket(p, "ud-receive-late")
		return
	}
	var err error
	if t.list, err = q.h.openList(q.receivePD(p), t.Segments, wqe.LocalWrite, t.room[:0]); err != nil {
		q.finishReceive(t, cq.Completion{Status: cq.LocProtErr}, false, sum{})
		q.enterError()
		return
	}
	if t.list.length < uint64(grhSize+len(p.Payload)) && q.srq == nil && !q.h.breaks("ud-receive-too-long-error") {
		q.receives = slices.Insert(q.receives, 0, t.ReceiveRequest) // the next datagram takes it
		q.h.count.Dropped++
		return
	}
	if !q.storeDatagram(t, p) {
		q.finishReceive(t, cq.Completion{Status: cq.LocLenErr}, false, sum{})
		q.enterError()
		return
	}
	q.receivedDatagram(t, p)
}

// storeDatagram writes the GRH and the payload of a datagram into the memory of a receive request, and reports whether they have room there.
func (q *queuePair) storeDatagram(t *receive, p *packet.Packet) bool {
	var grh [grhSize]byte
	switch n := p.BTHOff - 8; {
	case p.Has&packet.HasGRH != 0:
		copy(grh[:], p.Data[p.BTHOff-grhSize:p.BTHOff])
	case n <= grhSize:
		at := grhSize - n
		if n < grhSize && q.h.breaks("grh-ipv4-first") {
			at = 0
		}
		copy(grh[at:], p.Data[:n])
	}
	if q.h.breaks("grh-not-reserved") {
		t.list.put(0, p.Payload)
		t.list.put(uint64(len(p.Payload)), grh[:])
		return true
	}
	return t.list.put(0, grh[:]) && t.list.put(grhSize, p.Payload)
}

// receivedDatagram completes the receive request of a datagram.
func (q *queuePair) receivedDatagram(t *receive, p *packet.Packet) {
	e := cq.Completion{Op: cq.DoneRecv, ByteLen: uint32(grhSize + len(p.Payload)), SrcQP: p.SrcQP}
	if p.Encap != packet.Native || p.Has&packet.HasGRH != 0 {
		e.Flags = cq.WithGRH
	}
	if p.Has&packet.HasImmDt != 0 {
		e.Flags, e.Imm = e.Flags|cq.WithImm, p.Imm
	}
	s := sum{}
	if q.h.opt.Event != nil {
		whole := list{parts: t.list.parts, length: t.list.length}
		s = sum{crc32.ChecksumIEEE(whole.at(grhSize, uint64(len(p.Payload)))), true, slices.Clone(whole.at(0, grhSize))}
	}
	q.finishReceive(t, e, p.SE, s)
}
