package message

import (
	"ibwitness/cq"
	"ibwitness/packet"
)

// headOf is what the headers of a packet say.
func headOf(p *packet.Packet) cq.Headers {
	h := cq.Headers{
		VA: p.VA, RKey: p.RKey, DMALen: p.DMALen, Swap: p.SwapAdd, Compare: p.Compare, Imm: p.Imm, InvRKey: p.InvRKey, SE: p.SE,
		HasImm: p.Has&packet.HasImmDt != 0, HasInv: p.Has&packet.HasIETH != 0, QKey: p.QKey, SrcQP: p.SrcQP, FETH: p.FETH, SRQ: p.XRCSRQ,
		GRH: p.Has&packet.HasGRH != 0 || p.Encap != packet.Native,
	}
	if p.Has&packet.HasDETH != 0 {
		h.Net = networkOf(p)
	}
	return h
}

// networkOf is what the network header of a datagram says.
func networkOf(p *packet.Packet) *cq.NetHeader {
	return &cq.NetHeader{
		Src: p.Src, Dst: p.Dst, DestQP: p.DestQP, TClass: p.TClass, HopLimit: p.HopLmt, V4: p.Encap == packet.RoCEv2IPv4 && p.IHL <= 5, PKey: p.PKey,
		Front: sum(p.Payload[:min(len(p.Payload), cq.GRHSize)]), Group: p.Dst.IsMulticast(),
	}
}

// datagram is the message that a datagram is, or a message of one packet.
func datagram(p *packet.Packet, at *cq.PacketRef) *cq.Message {
	m := &cq.Message{
		Packets: 1, Op: p.Opcode, Length: uint32(p.PayloadLen), Begin: *at, End: *at, Headers: headOf(p), Cut: p.PayloadLen != len(p.Payload),
	}
	if !m.Cut {
		m.CRC = sum(p.Payload)
	}
	return m
}
