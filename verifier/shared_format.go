package verifier

import (
	"ibwitness/packet"
)

// solicits reports whether packets of an opcode may carry SE: the last of a message that takes a receive.
func solicits(in *packet.Info) bool {
	fn := in.Opcode.Fn()
	return (in.Last || in.Only) && (fn < packet.WriteFirst || fn == packet.SendLastInv || fn == packet.SendOnlyInv || in.Request && in.Headers&packet.HasImmDt != 0)
}

// unpadded reports whether packets of an opcode have no pad.
func unpadded(in *packet.Info) bool {
	return in.Defined && (in.First || in.Middle || !in.Payload) && in.Opcode != packet.OpCNP // CNG-CNP-003
}

const flushFormat = "selectivity 0 or 1, placement types 1 and 2, reserved bits 0, no payload"

// oddFlush reports whether the format of a FLUSH is wrong.
func oddFlush(p *packet.Packet) bool {
	return p.FETH>>6 != 0 || p.FETH>>4&3 > 1 || p.FETH&0xF > 3 || p.PayloadLen != 0
}
