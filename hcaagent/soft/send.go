package soft

import (
	"encoding/binary"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// functions are the opcodes of a message's packets: as its only one, at its end, at its beginning, and within.
var functions = [...][4]packet.Fn{
	wqe.OpSend:        {packet.SendOnly, packet.SendLast, packet.SendFirst, packet.SendMiddle},
	wqe.OpSendImm:     {packet.SendOnlyImm, packet.SendLastImm, packet.SendFirst, packet.SendMiddle},
	wqe.OpSendInv:     {packet.SendOnlyInv, packet.SendLastInv, packet.SendFirst, packet.SendMiddle},
	wqe.OpWrite:       {packet.WriteOnly, packet.WriteLast, packet.WriteFirst, packet.WriteMiddle},
	wqe.OpWriteImm:    {packet.WriteOnlyImm, packet.WriteLastImm, packet.WriteFirst, packet.WriteMiddle},
	wqe.OpRead:        {packet.ReadRequest},
	wqe.OpCmpSwap:     {packet.CmpSwap},
	wqe.OpFetchAdd:    {packet.FetchAdd},
	wqe.OpFlush:       {packet.Flush},
	wqe.OpAtomicWrite: {packet.AtomicWrite},
}

// sendRequest sends the next request packet.
func (q *queuePair) sendRequest() {
	r := &q.req
	q.swapRequests()
	w := r.queue[r.next]
	if !w.begun {
		q.begin(w)
	}
	probe := q.withoutCredit(w)
	p := q.message(w, r.off)
	if q.service == packet.UD {
		q.address(w, p)
	}
	end := r.advance(w, p)
	if q.reliable() {
		p.AckReq = probe || q.asksACK(w, p, end)
	}
	again := p.PSN.Before(r.high)
	if end.After(r.high) {
		r.high = end
	}
	wants := p.AckReq
	if q.h.fault.is != nil && q.failsToSend(w, p, again) {
		return
	}
	if q.h.fault.is != nil {
		r.sent = q.h.now()
	}
	q.h.transmit(p)
	q.pace(mostHeaders + len(p.Payload))
	if q.h.fault.is != nil && end == w.last.Add(1) {
		q.early(w)
	}
	if wants {
		q.startTimer()
	}
	if !q.reliable() && end == w.last.Add(1) {
		r.una = end
		q.completeHead()
		q.drain()
	}
}

// swapRequests exchanges the next two messages, where the fault does.
func (q *queuePair) swapRequests() {
	r, n := &q.req, q.req.next
	if q.h.fault.is == nil || n+1 >= len(r.queue) || r.queue[n].begun || r.queue[n+1].local() || r.queue[n].Op == r.queue[n+1].Op {
		return
	}
	if q.h.breaks("requests-swapped") && q.openWork(r.queue[n+1]) {
		r.queue[n], r.queue[n+1] = r.queue[n+1], r.queue[n]
	}
}

// advance moves past a packet of a message, and to the next message after its last one. It returns the PSN that follows; a READ takes the PSNs of its response.
func (r *requester) advance(w *work, p *packet.Packet) (end packet.PSN) {
	if w.responded() {
		p.PSN = w.first.Add(w.got)
		r.off = w.packets
	} else {
		r.off++
	}
	end = w.first.Add(r.off)
	if r.off == w.packets {
		if w.Op == wqe.OpRead {
			r.span += w.packets - 1
		}
		r.next++
		r.off = 0
	}
	return end
}

// asksACK reports whether a packet asks for an ACK: at the end of its message, of the window, and of as many packets as the options say.
func (q *queuePair) asksACK(w *work, p *packet.Packet, end packet.PSN) bool {
	r := &q.req
	full := r.position().Diff(r.una)-r.span >= q.h.opt.Limits.Window
	return full || w.responded() || p.Info().Last || p.Info().Only || q.h.opt.AckEvery > 0 && end.Diff(w.first)%q.h.opt.AckEvery == 0
}

// message builds packet i of a message. The packets of a READ that came before are not asked for again: its request is for the tail.
func (q *queuePair) message(w *work, i int) *packet.Packet {
	p := q.packet(w.function(i))
	p.PSN = w.first.Add(i)
	p.VA, p.RKey, p.DMALen = w.RemoteVA, w.RKey, w.length
	p.XRCSRQ = w.XRCSRQ
	switch w.Op {
	case wqe.OpRead:
		skip := uint64(w.got) * uint64(q.pmtu())
		p.VA, p.DMALen = w.RemoteVA+skip, w.length-uint32(skip)
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		p.DMALen, p.SwapAdd = 0, w.SwapAdd
		if w.Op == wqe.OpCmpSwap {
			p.Compare = w.Compare
		}
	case wqe.OpFlush:
		p.DMALen = w.Flush.Length
		p.FETH = uint32(w.Flush.Placement & 0xF)
		if w.Flush.Whole {
			p.FETH |= 1 << 4
		}
	default:
		q.fill(w, i, p)
	}
	return p
}

// function is the opcode of packet i of a message.
func (w *work) function(i int) packet.Fn {
	fns := functions[w.Op]
	switch {
	case w.packets <= 1 || w.responded():
		return fns[0]
	case i == 0:
		return fns[2]
	case i == w.packets-1:
		return fns[1]
	}
	return fns[3]
}

// fill gives packet i of a SEND or WRITE its payload, and the headers that its opcode has.
func (q *queuePair) fill(w *work, i int, p *packet.Packet) {
	info := p.Info()
	if q.service == packet.UD {
		p.Payload = w.list.at(0, uint64(w.length))
	} else {
		pmtu := uint64(q.pmtu())
		off := uint64(i) * pmtu
		p.Payload = w.list.at(off, min(pmtu, uint64(w.length)-off))
	}
	if info.Headers&packet.HasRETH == 0 {
		p.VA, p.RKey, p.DMALen = 0, 0, 0
	}
	if info.Headers&packet.HasImmDt != 0 {
		p.Imm = w.Imm
	}
	if info.Headers&packet.HasIETH != 0 {
		p.InvRKey = w.InvKey
	}
	if info.Last || info.Only {
		p.SE = w.Flags&wqe.Solicited != 0 && w.receives()
	}
}

// bytes8 is a word in memory: hosts here are little-endian.
var bytes8 = binary.LittleEndian
