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
	if n := r.next; n+1 < len(r.queue) && !r.queue[n].begun && !r.queue[n+1].local() && r.queue[n].Op != r.queue[n+1].Op && q.h.breaks("requests-swapped") && q.openWork(r.queue[n+1]) {
		r.queue[n], r.queue[n+1] = r.queue[n+1], r.queue[n]
	}
	w := r.queue[r.next]
	if !w.begun {
		q.begin(w)
	}
	probe := q.withoutCredit(w)
	p := q.message(w, r.off)
	if q.service == packet.UD {
		q.address(w, p)
	}
	switch {
	case w.responded():
		p.PSN = w.first.Add(w.got)
		r.off = w.packets
	default:
		r.off++
	}
	end := w.first.Add(r.off)
	if r.off == w.packets {
		if w.Op == wqe.OpRead {
			r.span += w.packets - 1
		}
		r.next++
		r.off = 0
	}
	if q.reliable() {
		full := r.position().Diff(r.una)-r.span >= q.h.opt.Limits.Window
		p.AckReq = w.responded() || p.Info().Last || p.Info().Only || probe || full ||
			q.h.opt.AckEvery > 0 && end.Diff(w.first)%q.h.opt.AckEvery == 0
	}
	again := p.PSN.Before(r.high)
	if end.After(r.high) {
		r.high = end
	}
	wants := p.AckReq
	if q.h.fault.is != nil && q.failsToSend(w, p, again) {
		return
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

// message builds packet i of a message. The packets of a READ that came before are not asked for again: its request is for the tail.
func (q *queuePair) message(w *work, i int) *packet.Packet {
	fns := functions[w.Op]
	f := fns[0]
	pmtu := uint64(q.pmtu())
	responded := w.responded()
	if n := w.packets; n > 1 && !responded {
		switch i {
		case 0:
			f = fns[2]
		case n - 1:
			f = fns[1]
		default:
			f = fns[3]
		}
	}
	p := q.packet(f)
	p.PSN = w.first.Add(i)
	p.VA, p.RKey, p.DMALen = w.RemoteVA, w.RKey, w.length
	p.XRCSRQ = w.XRCSRQ
	switch w.Op {
	case wqe.OpRead:
		skip := uint64(w.got) * pmtu
		p.VA, p.DMALen = w.RemoteVA+skip, w.length-uint32(skip)
		return p
	case wqe.OpCmpSwap, wqe.OpFetchAdd:
		p.DMALen, p.SwapAdd = 0, w.SwapAdd
		if w.Op == wqe.OpCmpSwap {
			p.Compare = w.Compare
		}
		return p
	case wqe.OpFlush:
		p.DMALen = w.Flush.Length
		p.FETH = uint32(w.Flush.Placement & 0xF)
		if w.Flush.Whole {
			p.FETH |= 1 << 4
		}
		return p
	}
	info := p.Info()
	if q.service == packet.UD {
		p.Payload = w.list.at(0, uint64(w.length))
	} else {
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
	return p
}

// bytes8 is a word in memory: hosts here are little-endian.
var bytes8 = binary.LittleEndian
