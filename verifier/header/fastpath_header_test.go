package header

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
	"ibwitness/rule"
)

// TestPlain: a packet for which the tests of the row of a rule hold does not break the rule, and one for which those of all rows hold is plain; what a packet breaks,
// suspects returns. Each rule that applies to RC, UC or CNPs on RoCEv2 is broken by some packet: else the property was not tested.
func TestPlain(t *testing.T) {
	broken := map[rule.ID]int{}
	rapid.Check(t, func(t *rapid.T) {
		var p packet.Packet
		if decodeAny(&p, odd(t)) {
			checkPlain(t, map[rule.ID]int{}, &p)
		}
	})
	for p := range spoiled {
		checkPlain(t, broken, p)
	}
	for i := range headers {
		h := &headers[i]
		if broken[h.id] == 0 && slices.ContainsFunc(fastOpcodes(), func(o packet.Opcode) bool {
			return h.applies(packet.RoCEv2IPv4, o.Info()) || h.applies(packet.RoCEv2IPv6, o.Info())
		}) {
			t.Errorf("%v applies to packets of the fast paths, and no packet of this test breaks it: have spoiled make one", h.id)
		}
	}
}

// TestPlainTakes: a packet that is right is plain, whatever its opcode. A header rule whose row does not say what it reads takes the fast path away.
func TestPlainTakes(t *testing.T) {
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		for _, o := range fastOpcodes() {
			var p packet.Packet
			if o.Info().Defined && (!decodeAny(&p, frameFor(right(e, o))) || !plain(&p)) {
				t.Errorf("%v on %v: a right packet is not plain", o, e)
			}
		}
	}
}

// TestPlainOnly: no packet of another service than RC, UC and CNP, or on another encapsulation than RoCEv2, is plain.
func TestPlainOnly(t *testing.T) {
	for e := range shapes {
		for o, s := range shapes[e] {
			fast := slices.Contains(fastOpcodes(), packet.Opcode(o)) && (packet.Encap(e) == packet.RoCEv2IPv4 || packet.Encap(e) == packet.RoCEv2IPv6)
			if s != nil && s.judged == 0 && !fast {
				t.Errorf("%v on %v may be plain", packet.Opcode(o), packet.Encap(e))
			}
		}
	}
}

// fastOpcodes are those of RC and UC, and the CNP.
func fastOpcodes() (list []packet.Opcode) {
	for o := range packet.Op(packet.UC, 31) + 1 {
		list = append(list, o)
	}
	return append(list, packet.OpCNP)
}

// right is a packet that breaks no rule.
func right(e packet.Encap, o packet.Opcode) *packet.Packet {
	p := &packet.Packet{
		Encap: e, Opcode: o, PKey: 0xFFFF, DestQP: 0x22, SrcPort: 0xC001, PSN: 7,
		Src: packet.IPv4Addr([]byte{10, 0, 0, 1}), Dst: packet.IPv4Addr([]byte{10, 0, 0, 2}),
	}
	if e == packet.RoCEv2IPv6 {
		p.Src, p.Dst = packet.Addr{Hi: 0xfd << 56, Lo: 1}, packet.Addr{Hi: 0xfd << 56, Lo: 2}
	}
	if in := o.Info(); in.Payload {
		p.Payload = make([]byte, 63)
		if in.First || in.Middle {
			p.Payload = make([]byte, 256)
		}
	}
	if p.Complete(); o == packet.OpCNP {
		p.PSN, p.Payload = 0, make([]byte, 16)
		p.Complete()
	}
	return p
}

func frameFor(p *packet.Packet) frameOf {
	p.SealIPv4()
	p.SealICRC()
	b := p.Append(nil)
	return frameOf{p.Encap, b, len(b)}
}

// spoiled are packets of all opcodes on RoCEv2, right but for one byte of their headers, which has several values, for their length, or for one of specials.
func spoiled(yield func(*packet.Packet) bool) {
	var p packet.Packet
	on := true
	offer := func(b []byte, wireLen int) {
		if on && packet.DecodeIP(&p, b, wireLen) {
			on = yield(&p)
		}
	}
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6} {
		for i := range shapes[e] {
			o := packet.Opcode(i)
			b := frameFor(right(e, o)).bytes
			for at := range min(len(b), right(e, o).BTHOff+packet.BTHSize+16) {
				was := b[at]
				for i := range 1 << 4 { // single bits, pairs, none and all
					b[at] = was ^ [...]byte{1, 2, 4, 8, 16, 32, 64, 128, 3, 12, 48, 192, 0x60, was, ^was, 0xE0 ^ was}[i]
					offer(b, len(b))
				}
				b[at] = was
			}
			for n := 1; n < packet.BTHSize+packet.ICRCSize+4; n++ { // too short, by lengths that agree
				b := append(slices.Clone(b[:right(e, o).BTHOff]), make([]byte, n)...)
				b[len(b)-n] = byte(o)
				binary.BigEndian.PutUint16(b[len(b)-n-4:], uint16(8+n))
				if e == packet.RoCEv2IPv4 {
					binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
				} else {
					binary.BigEndian.PutUint16(b[4:], uint16(8+n))
				}
				offer(b, len(b))
			}
			padded := right(e, o)
			padded.Payload = make([]byte, 61)
			padded.Complete()
			padded.Pad = []byte{1, 1, 1}
			for b, n := frameFor(padded).bytes, 1; n < 12; n++ { // cut, in the pad too
				offer(b[:len(b)-n], len(b))
			}
			for _, spoil := range specials {
				r := right(e, o)
				if spoil(r); on && decodeAny(&p, frameFor(r)) {
					on = yield(&p)
				}
			}
		}
	}
}

// specials are faults of more than one byte, and those of packets that are decoded only by their ICRC.
var specials = []func(p *packet.Packet){
	func(p *packet.Packet) { p.DestQP = 0 },
	func(p *packet.Packet) { p.DestQP = 1 },
	func(p *packet.Packet) { p.DestQP = packet.PSNMask },
	func(p *packet.Packet) { p.PKey = 0 },
	func(p *packet.Packet) { p.PKey = 0x8000 },
	func(p *packet.Packet) { p.Src, p.SGID = packet.Addr{}, packet.Addr{} },
	func(p *packet.Packet) { p.Dst, p.DGID = packet.Addr{}, packet.Addr{} },
	func(p *packet.Packet) { p.Src = group(p.Encap, p.Src); p.SGID = p.Src },
	func(p *packet.Packet) { p.Dst = group(p.Encap, p.Dst); p.DGID = p.Dst },
	func(p *packet.Packet) { p.Payload = make([]byte, 64); p.Complete() },
	func(p *packet.Packet) { p.Payload = make([]byte, 63); p.Complete(); p.Pad = []byte{1} },
	func(p *packet.Packet) { p.Payload = make([]byte, 61); p.Complete(); p.Pad = []byte{0, 0, 1} },
	func(p *packet.Packet) { p.IPVer = 5 },
	func(p *packet.Packet) { p.IPVer = 10 - p.IPVer },
	func(p *packet.Packet) { p.NxtHdr = 6 },
	func(p *packet.Packet) { p.DstPort = 4792 },
	func(p *packet.Packet) { p.SrcPort, p.DstPort = packet.UDPPort, 4792 },
	func(p *packet.Packet) {
		p.Flaws, p.NxtHdr, p.PayLen = packet.FlawExtension, 60, p.PayLen+8
		p.Data = append(make([]byte, 40), 17, 0, 1, 4, 0, 0, 0, 0)
		p.BTHOff += 8
	},
	func(p *packet.Packet) {
		p.IHL, p.PayLen, p.Data = 6, p.PayLen+4, append(make([]byte, 20), 1, 1, 1, 1)
		p.BTHOff += 4
	},
	func(p *packet.Packet) { p.Syndrome = packet.NAKInvalidRD + 1 },
	func(p *packet.Packet) { p.UDPLen -= 4 },
	func(p *packet.Packet) { p.PayLen += 4 },
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
		if decodeAny(&p, frameOf{packet.Encap(e), b, len(b)}) {
			checkPlain(t, map[rule.ID]int{}, &p)
		}
	})
}

// checkPlain compares a packet with every rule of the table.
func checkPlain(t interface{ Errorf(string, ...any) }, broken map[rule.ID]int, p *packet.Packet) {
	taken, may := plain(p), suspects(p)
	if taken && (!p.Encap.OnIP() || !slices.Contains(fastOpcodes(), p.Opcode)) {
		t.Errorf("%v: %v is plain", p.Encap, p.Opcode)
	}
	if !p.Encap.OnIP() {
		if may.rules != everyRule {
			t.Errorf("%v: of %v not every rule is judged", p.Encap, p.Opcode)
		}
		return
	}
	for i := range beforeRules {
		if taken && !fulfils(&beforeRules[i], p) {
			t.Errorf("a packet is plain of which Header asks more before the rules\n%+v", *p)
		}
	}
	for i, h := range headersOf[p.Encap][p.Opcode] {
		b := h.broken(p)
		if b.actual == nil {
			continue
		}
		broken[h.id]++
		if may.rules>>i&1 == 0 {
			t.Errorf("%v: a packet breaks %v, which suspects leaves out: expected %s, actual %s\n%+v", p.Encap, h.id, b.expected, b.actual(), *p)
		}
		if taken {
			t.Errorf("%v: a packet is plain that breaks %v: expected %s, actual %s\n%+v", p.Encap, h.id, b.expected, b.actual(), *p)
		}
		if fulfils(h, p) {
			t.Errorf("%v: a packet breaks %v, and has all that the row of the rule asks for: expected %s, actual %s\n%+v", p.Encap, h.id, b.expected, b.actual(), *p)
		}
	}
}

// fulfils reports whether all that the row of a rule tests is in a packet as it says.
func fulfils(h *header, p *packet.Packet) bool {
	if h.usually == nil || p.Cut || p.BTHOff > len(p.Data)-16 {
		return false
	}
	tests, ok := h.usually(p.Info())
	if !ok {
		return false
	}
	var w [numWords]uint64
	load(&w, p)
	for i := range tests {
		if u := tests[i].on(p.Encap); (u.mismatch(w[u.word]) == 0) == tests[i].not {
			return false
		}
	}
	return true
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
		ok = packet.DecodeIP(p, f.bytes, f.wireLen) || packet.DecodeOffPort(p, f.bytes, f.wireLen)
	case packet.RoCEv1:
		ok = packet.DecodeGRH(p, f.bytes, f.wireLen)
	case packet.Native:
		ok = packet.DecodeInfiniBand(p, f.bytes, f.wireLen)
	}
	if ok {
		p.CheckICRC()
	}
	return ok
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
