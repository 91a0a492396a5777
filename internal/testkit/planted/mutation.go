package planted

import (
	"math/rand/v2"

	"ibwitness/packet"
)

// Mutation changes one field of an RDMA packet at random.
type Mutation struct {
	Name string
	Has  packet.Has // headers that the packet must have
	// Do reports whether it could. Checksums and the ICRC are left as they were.
	Do func(r *rand.Rand, p *packet.Packet) bool
}

func always(change func(r *rand.Rand, p *packet.Packet)) func(r *rand.Rand, p *packet.Packet) bool {
	return func(r *rand.Rand, p *packet.Packet) bool { change(r, p); return true }
}

// other returns a random value that differs from x under a mask.
func other(r *rand.Rand, x, mask uint32) uint32 {
	for {
		if y := r.Uint32() & mask; y != x {
			return y
		}
	}
}

func flip64(r *rand.Rand, x uint64) uint64 { return x ^ 1<<r.IntN(64) }
func flip32(r *rand.Rand, x uint32) uint32 { return x ^ 1<<r.IntN(32) }

// step is a small number that is not zero and not one.
func step(r *rand.Rand) int {
	k := 2 + r.IntN(40)
	if r.IntN(2) == 0 {
		return -k
	}
	return k
}

func msn(n int) func(p *packet.Packet) {
	return func(p *packet.Packet) { p.MSN = (p.MSN + uint32(n)) & packet.PSNMask }
}

// FieldMutations are the changes of one field each.
var FieldMutations = []Mutation{
	{"opcode, same service", packet.HasBTH, func(r *rand.Rand, p *packet.Packet) bool {
		for range 100 {
			o := p.Opcode&0xE0 | packet.Opcode(r.IntN(0x18))
			if o != p.Opcode && o.Info().Defined {
				return reopcode(p, o)
			}
		}
		return false
	}},
	{"opcode, any", packet.HasBTH, func(r *rand.Rand, p *packet.Packet) bool {
		for {
			if o := packet.Opcode(r.IntN(256)); o != p.Opcode {
				return reopcode(p, o)
			}
		}
	}},
	{"SE", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.SE = !p.SE })},
	{"MigReq", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.MigReq = !p.MigReq })},
	{"PadCnt", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.PadCnt = uint8(other(r, uint32(p.PadCnt), 3)) })},
	{"TVer", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.TVer = uint8(other(r, uint32(p.TVer), 15)) })},
	{"P_Key", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.PKey = uint16(other(r, uint32(p.PKey), 0xFFFF)) })},
	{"FECN", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.FECN = !p.FECN })},
	{"BECN", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.BECN = !p.BECN })},
	{"Resv8a", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.Resv8a = uint8(other(r, uint32(p.Resv8a), 63)) })},
	{"Resv7", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.Resv7 = uint8(other(r, uint32(p.Resv7), 127)) })},
	{"DestQP + 1", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.DestQP = (p.DestQP + 1) & packet.PSNMask })},
	{"DestQP, any", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.DestQP = other(r, p.DestQP, packet.PSNMask) })},
	{"AckReq", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.AckReq = !p.AckReq })},
	{"PSN + 1", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.PSN = p.PSN.Add(1) })},
	{"PSN - 1", packet.HasBTH, always(func(_ *rand.Rand, p *packet.Packet) { p.PSN = p.PSN.Add(-1) })},
	{"PSN ± k", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.PSN = p.PSN.Add(step(r)) })},
	{"PSN, any", packet.HasBTH, always(func(r *rand.Rand, p *packet.Packet) { p.PSN = packet.PSN(other(r, uint32(p.PSN), packet.PSNMask)) })},
	{"syndrome", packet.HasAETH, always(func(r *rand.Rand, p *packet.Packet) {
		p.Syndrome = packet.Syndrome(other(r, uint32(p.Syndrome), 0xFF))
	})},
	{"syndrome, NAK", packet.HasAETH, always(func(r *rand.Rand, p *packet.Packet) {
		p.Syndrome = []packet.Syndrome{0x60, 0x61, 0x62, 0x63, 0x20, 0x2E}[r.IntN(6)]
	})},
	{"MSN + 1", packet.HasAETH, always(func(_ *rand.Rand, p *packet.Packet) { msn(1)(p) })},
	{"MSN - 1", packet.HasAETH, always(func(_ *rand.Rand, p *packet.Packet) { msn(-1)(p) })},
	{"MSN, any", packet.HasAETH, always(func(r *rand.Rand, p *packet.Packet) { p.MSN = other(r, p.MSN, packet.PSNMask) })},
	{"VA", packet.HasRETH, always(func(r *rand.Rand, p *packet.Packet) { p.VA = flip64(r, p.VA) })},
	{"R_Key", packet.HasRETH, always(func(r *rand.Rand, p *packet.Packet) { p.RKey = flip32(r, p.RKey) })},
	{"DMALen", packet.HasRETH, always(func(r *rand.Rand, p *packet.Packet) { p.DMALen = flip32(r, p.DMALen) })},
	{"DMALen + 1", packet.HasRETH, always(func(_ *rand.Rand, p *packet.Packet) { p.DMALen++ })},
	{"atomic VA", packet.HasAtomicETH, always(func(r *rand.Rand, p *packet.Packet) { p.VA = flip64(r, p.VA) })},
	{"atomic R_Key", packet.HasAtomicETH, always(func(r *rand.Rand, p *packet.Packet) { p.RKey = flip32(r, p.RKey) })},
	{"atomic swap or add", packet.HasAtomicETH, always(func(r *rand.Rand, p *packet.Packet) { p.SwapAdd = flip64(r, p.SwapAdd) })},
	{"atomic compare", packet.HasAtomicETH, always(func(r *rand.Rand, p *packet.Packet) { p.Compare = flip64(r, p.Compare) })},
	{"atomic original data", packet.HasAtomicAckETH, always(func(r *rand.Rand, p *packet.Packet) { p.OrigData = flip64(r, p.OrigData) })},
	{"Q_Key", packet.HasDETH, always(func(r *rand.Rand, p *packet.Packet) { p.QKey = flip32(r, p.QKey) })},
	{"SrcQP", packet.HasDETH, always(func(r *rand.Rand, p *packet.Packet) { p.SrcQP = other(r, p.SrcQP, packet.PSNMask) })},
	{"DETH reserved", packet.HasDETH, always(func(r *rand.Rand, p *packet.Packet) { p.DETHRes = uint8(other(r, uint32(p.DETHRes), 0xFF)) })},
	{"immediate", packet.HasImmDt, always(func(r *rand.Rand, p *packet.Packet) { p.Imm = flip32(r, p.Imm) })},
	{"invalidate R_Key", packet.HasIETH, always(func(r *rand.Rand, p *packet.Packet) { p.InvRKey = flip32(r, p.InvRKey) })},
	{"payload byte", packet.HasBTH, func(r *rand.Rand, p *packet.Packet) bool {
		if len(p.Payload) == 0 || p.DestQP <= 1 {
			return false
		}
		p.Payload[r.IntN(len(p.Payload))] ^= 1 << r.IntN(8)
		return true
	}},
	{"payload 4 bytes shorter", packet.HasBTH, func(_ *rand.Rand, p *packet.Packet) bool {
		if len(p.Payload) < 4 {
			return false
		}
		resize(p, len(p.Payload)-4)
		return true
	}},
	{"payload 4 bytes longer", packet.HasBTH, func(_ *rand.Rand, p *packet.Packet) bool {
		if !p.Info().Payload || p.Opcode.Service() == packet.UD && p.DestQP > 1 {
			return false
		}
		resize(p, len(p.Payload)+4)
		return true
	}},
}

// reopcode gives a packet an opcode with the headers that it takes.
func reopcode(p *packet.Packet, o packet.Opcode) bool {
	p.Opcode = o
	if in := p.Info(); in.Defined && !in.Payload {
		p.Payload = nil
	}
	p.Fit()
	return true
}
