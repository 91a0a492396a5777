package verifier

import (
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
)

// TestPlain: a packet that the fast path lets pass breaks no header rule.
func TestPlain(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		var p packet.Packet
		if !decodeAny(&p, odd(t)) {
			return
		}
		if plain(&p) {
			passed++
			holdPlain(t, &p)
		}
	})
	if passed == 0 {
		t.Error("no packet was plain: the property was not tested")
	}
}

// FuzzPlain is TestPlain on arbitrary bytes.
func FuzzPlain(f *testing.F) {
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6, packet.RoCEv1, packet.Native} {
		for _, o := range []packet.Opcode{packet.Op(packet.RC, packet.WriteOnly), packet.Op(packet.RC, packet.Acknowledge), packet.Op(packet.UC, packet.SendLast)} {
			p := packet.Packet{Encap: e, Opcode: o, PKey: 0xFFFF, DestQP: 0x11, SrcPort: 0xC000, Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2)}
			if p.Info().Payload {
				p.Payload = make([]byte, 64)
			}
			p.Complete()
			f.Add(uint8(e), p.Append(nil))
		}
	}
	f.Fuzz(func(t *testing.T, e uint8, b []byte) {
		var p packet.Packet
		if decodeAny(&p, frameOf{packet.Encap(e), b, len(b)}) && plain(&p) {
			holdPlain(t, &p)
		}
	})
}

// holdPlain holds a plain packet against every rule of the table.
func holdPlain(t interface{ Errorf(string, ...any) }, p *packet.Packet) {
	in := p.Info()
	for i := range headers {
		h := &headers[i]
		if !h.applies(p.Encap, in) {
			continue
		}
		if want, have := h.broken(p); have != "" {
			t.Errorf("%v: plain lets pass a packet that breaks %v: expected %s, actual %s\n%+v", p.Encap, h.id, want, have, *p)
		}
	}
}

// frameOf is a packet's bytes and how it is carried.
type frameOf struct {
	encap   packet.Encap
	bytes   []byte
	wireLen int
}

func decodeAny(p *packet.Packet, f frameOf) bool {
	ok := false
	switch f.encap {
	case packet.RoCEv2IPv4, packet.RoCEv2IPv6:
		ok = packet.DecodeIP(p, f.bytes, f.wireLen)
	case packet.RoCEv1:
		ok = packet.DecodeGRH(p, f.bytes, f.wireLen)
	case packet.Native:
		ok = packet.DecodeInfiniBand(p, f.bytes, f.wireLen)
	}
	if ok {
		p.CheckICRC()
	}
	// The transport agent keeps packets that do not hold together from the header rules.
	return ok && p.Has&packet.HasBTH != 0 && p.Flaws&packet.FlawShort == 0
}

// odd draws a packet that is right but for a few fields, mostly those that the header rules judge.
func odd(t *rapid.T) frameOf {
	p := packet.Packet{
		Encap:  rapid.SampledFrom([]packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv4, packet.RoCEv2IPv6, packet.RoCEv1, packet.Native}).Draw(t, "encap"),
		PKey:   0xFFFF,
		DestQP: 0x22, SrcQP: 0x11, SrcPort: 0xC001, PSN: 7, QKey: 0x1234,
	}
	if rapid.Bool().Draw(t, "likely") {
		s := rapid.SampledFrom([]packet.Service{packet.RC, packet.RC, packet.UC, packet.UD}).Draw(t, "service")
		p.Opcode = packet.Op(s, packet.Fn(rapid.IntRange(0, 31).Draw(t, "fn")))
	} else {
		p.Opcode = packet.Opcode(rapid.Uint8().Draw(t, "opcode"))
	}
	p.Src, p.Dst = packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	switch p.Encap {
	case packet.Native:
		p.Src, p.Dst = packet.LIDAddr(1), packet.LIDAddr(2)
		p.SGID, p.DGID = packet.Addr{Hi: 0xfd << 56, Lo: 1}, packet.Addr{Hi: 0xfd << 56, Lo: 2}
		p.Has = packet.HasGRH * packet.Has(rapid.IntRange(0, 1).Draw(t, "grh"))
	case packet.RoCEv1, packet.RoCEv2IPv6:
		p.Src, p.Dst = packet.Addr{Hi: 0xfd << 56, Lo: 1}, packet.Addr{Hi: 0xfd << 56, Lo: 2}
	}
	if p.Info().Payload || rapid.IntRange(0, 9).Draw(t, "payload") == 0 {
		p.Payload = make([]byte, rapid.SampledFrom([]int{0, 1, 62, 63, 64, 256, 4097}).Draw(t, "len"))
	}
	p.Complete()
	for range rapid.IntRange(0, 2).Draw(t, "faults") {
		rapid.SampledFrom(faults).Draw(t, "fault")(t, &p)
	}
	p.SealIPv4()
	p.SealICRC()
	b := p.Append(nil)
	n := len(b)
	if rapid.IntRange(0, 9).Draw(t, "snap") == 0 {
		n = rapid.IntRange(0, len(b)).Draw(t, "cut")
	}
	return frameOf{p.Encap, b[:n], len(b)}
}

// faults change one field each, or a few that belong together.
var faults = []func(t *rapid.T, p *packet.Packet){
	func(t *rapid.T, p *packet.Packet) { p.TVer = bits8(t, 4) },
	func(t *rapid.T, p *packet.Packet) { p.Resv8a = bits8(t, 6) },
	func(t *rapid.T, p *packet.Packet) { p.Resv7 = bits8(t, 7) },
	func(t *rapid.T, p *packet.Packet) {
		p.FECN, p.BECN = rapid.Bool().Draw(t, "fecn"), rapid.Bool().Draw(t, "becn")
	},
	func(t *rapid.T, p *packet.Packet) { p.PadCnt = bits8(t, 2) },
	func(t *rapid.T, p *packet.Packet) {
		p.Pad = rapid.SliceOfN(rapid.Uint8(), len(p.Pad), len(p.Pad)).Draw(t, "pad")
	},
	func(t *rapid.T, p *packet.Packet) { p.AckReq = true },
	func(t *rapid.T, p *packet.Packet) { p.SE = true },
	func(t *rapid.T, p *packet.Packet) { p.MigReq = true },
	func(t *rapid.T, p *packet.Packet) {
		p.PKey = rapid.SampledFrom([]uint16{0, 0x8000, 0x7FFF, 1}).Draw(t, "pkey")
	},
	func(t *rapid.T, p *packet.Packet) {
		p.DestQP = rapid.SampledFrom([]uint32{0, 1, 2, packet.PSNMask}).Draw(t, "destqp")
	},
	func(t *rapid.T, p *packet.Packet) { p.Syndrome = packet.Syndrome(rapid.Uint8().Draw(t, "syndrome")) },
	func(t *rapid.T, p *packet.Packet) { p.IPFrag = rapid.Uint16().Draw(t, "frag") & 0xE000 },
	func(t *rapid.T, p *packet.Packet) { p.TClass = rapid.Uint8().Draw(t, "tclass") },
	func(t *rapid.T, p *packet.Packet) { p.UDPSum = rapid.Uint16().Draw(t, "udpsum") },
	func(t *rapid.T, p *packet.Packet) { p.SrcPort = rapid.Uint16().Draw(t, "sport") },
	func(t *rapid.T, p *packet.Packet) { p.UDPLen += uint16(rapid.IntRange(-8, 8).Draw(t, "udplen")) },
	func(t *rapid.T, p *packet.Packet) { p.PayLen += uint16(rapid.IntRange(-8, 8).Draw(t, "paylen")) },
	func(t *rapid.T, p *packet.Packet) { p.PktLen += uint16(rapid.IntRange(-2, 2).Draw(t, "pktlen")) },
	func(t *rapid.T, p *packet.Packet) { p.Src = group(p.Encap, p.Src); p.SGID = p.Src },
	func(t *rapid.T, p *packet.Packet) { p.Dst = group(p.Encap, p.Dst); p.DGID = p.Dst },
	func(_ *rapid.T, p *packet.Packet) { p.Src, p.SGID = packet.Addr{}, packet.Addr{} },
	func(t *rapid.T, p *packet.Packet) { p.DMALen = rapid.Uint32().Draw(t, "dmalen") },
	func(t *rapid.T, p *packet.Packet) { p.VA = rapid.Uint64().Draw(t, "va") },
	func(t *rapid.T, p *packet.Packet) { p.DETHRes = rapid.Uint8().Draw(t, "dethres") },
	func(t *rapid.T, p *packet.Packet) { p.FETH = rapid.Uint32().Draw(t, "feth") },
}

func bits8(t *rapid.T, n int) uint8 { return rapid.Uint8Range(0, 1<<n-1).Draw(t, "bits") }

// group is a multicast address of the kind of a.
func group(e packet.Encap, a packet.Addr) packet.Addr {
	switch {
	case e == packet.Native:
		return a
	case e == packet.RoCEv2IPv4:
		return packet.IPv4Addr([]byte{239, 0, 0, 9})
	}
	return packet.Addr{Hi: 0xff1e << 48, Lo: 9}
}
