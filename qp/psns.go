package qp

import (
	"ibwitness/packet"
	"ibwitness/wqe"
)

// PSNs is how many PSNs a request packet takes: one, or for a READ one a response packet (rule RC-PSN-003). It is 0 while the path
// MTU is not known and matters.
func (c *Pair) PSNs(p *packet.Packet) int {
	if p.Opcode.Fn() != packet.ReadRequest || p.DMALen <= 256 || p.Has&packet.HasRETH == 0 {
		return 1
	}
	if c.PMTU == 0 {
		return 0
	}
	return wqe.Packets(p.DMALen, c.PMTU)
}

// MostPayload is how many bytes of payload every packet may have: the path MTU or, while that is not known, what the packets so far have shown.
func (c *Pair) MostPayload() uint32 {
	if c.PMTU == 0 {
		return min(c.LeastPMTU(), 4096)
	}
	return c.PMTU
}

// Misplace notes the PSN that a request should have had, or should have brought to this connection: its responder may have taken it so.
func (c *Pair) Misplace(psn packet.PSN) { c.some().Misplaced = psn | Valid }

// IsMisplaced reports whether the newest request that was noted so was to have this PSN.
func (c *Pair) IsMisplaced(psn packet.PSN) bool { return c.Misplaced == psn|Valid }
