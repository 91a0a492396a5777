package traffic

import "ibwitness/packet"

// spoil breaks a packet in one of many ways, and returns how often it is in the capture.
func (g *Generator) spoil(p *packet.Packet) int {
	r := &g.random
	switch r.below(14) {
	case 0:
		return 0
	case 1:
		return 2
	case 2:
		p.ICRC ^= 1 << r.below(32)
		return 1
	case 3:
		p.PSN = p.PSN.Add(r.below(40) - 20)
	case 4:
		p.PSN = p.PSN.Add(1 << 20)
	case 5:
		p.MSN = (p.MSN + 1 + uint32(r.below(3))) & packet.PSNMask
	case 6:
		p.TVer = 1
	case 7:
		p.PKey = 0x7FFF - uint16(r.below(4))
	case 8:
		p.SrcPort ^= 1
	case 9:
		p.Opcode = packet.Op(packet.RC, packet.Fn(r.below(32)))
		p.Complete()
	case 10:
		p.AckReq = !p.AckReq
	case 11:
		p.DMALen++
	case 12:
		p.Syndrome = packet.NAKSequence
	case 13:
		p.DestQP ^= 1 << r.below(24)
	}
	p.SealICRC()
	return 1
}
