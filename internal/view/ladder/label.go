package ladder

import (
	"fmt"
	"strings"

	"ibwitness/packet"
)

// kind sorts packets by what they do.
func kind(p *packet.Packet) string {
	in := p.Info()
	switch {
	case p.Opcode == packet.OpCNP || !in.Defined:
		return "other"
	case in.Request:
		return "request"
	case p.Has&packet.HasAETH != 0 && p.Syndrome.Type() != packet.ACK:
		return "nak"
	case p.Opcode.Fn() == packet.Acknowledge:
		return "ack"
	}
	return "response"
}

// note is what a reader wants to know of a packet beside its opcode and PSN.
func note(p *packet.Packet) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if p.Has&packet.HasAETH != 0 {
		add("%v", p.Syndrome)
		add("MSN %d", p.MSN)
	}
	if p.Has&packet.HasRETH != 0 {
		add("DMALen %d", p.DMALen)
	}
	if p.Has&packet.HasAtomicETH != 0 {
		add("VA 0x%x", p.VA)
	}
	if p.Has&packet.HasDETH != 0 {
		add("from QP 0x%x", p.SrcQP)
	}
	if p.Has&packet.HasImmDt != 0 {
		add("Imm 0x%08x", p.Imm)
	}
	if p.Has&packet.HasIETH != 0 {
		add("invalidates R_Key 0x%08x", p.InvRKey)
	}
	if p.Info().Payload && p.PayloadLen > 0 {
		add("%d B", p.PayloadLen)
	}
	if p.AckReq {
		add("AckReq")
	}
	return strings.Join(parts, ", ")
}
