package verifier

import "ibwitness/packet"

// FlushFormat is what OddFlush expects.
const FlushFormat = "selectivity 0 or 1, placement types 1 and 2, reserved bits 0, no payload"

// OddFlush reports whether the format of a FLUSH is wrong.
func OddFlush(p *packet.Packet) bool {
	return p.FETH>>6 != 0 || p.FETH>>4&3 > 1 || p.FETH&0xF > 3 || p.PayloadLen != 0
}
