package verifier

import (
	"ibwitness/packet"
)

// Solicits reports whether packets of an opcode may carry SE: the last of a message that takes a receive.
func Solicits(in *packet.Info) bool {
	fn := in.Opcode.Fn()
	return (in.Last || in.Only) && (fn < packet.WriteFirst || fn == packet.SendLastInv || fn == packet.SendOnlyInv || in.Request && in.Headers&packet.HasImmDt != 0)
}

// Unpadded reports whether packets of an opcode have no pad.
func Unpadded(in *packet.Info) bool {
	return in.Defined && (in.First || in.Middle || !in.Payload) && in.Opcode != packet.OpCNP // CNG-CNP-003
}

// FlushFormat is what OddFlush expects.
const FlushFormat = "selectivity 0 or 1, placement types 1 and 2, reserved bits 0, no payload"

// OddFlush reports whether the format of a FLUSH is wrong.
func OddFlush(p *packet.Packet) bool {
	return p.FETH>>6 != 0 || p.FETH>>4&3 > 1 || p.FETH&0xF > 3 || p.PayloadLen != 0
}
