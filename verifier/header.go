package verifier

import (
	"encoding/binary"
	"fmt"
	"math"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// header is one rule on the bytes of a packet alone: what it applies to, by encapsulation and opcode, and whether a packet breaks it.
type header struct {
	id      rule.ID
	role    rule.Role
	applies func(packet.Encap, *packet.Info) bool
	// broken returns what was expected and what stands there, or "" and "" when the rule holds.
	broken func(p *packet.Packet) (expected, actual string)
	// atSource: the network may change this on the way, so it is judged at a tap near the sender only.
	atSource bool
}

// headers are all rules of this kind. A packet for which plain holds cannot break any of them.
var headers = concat(bthHeaders, networkHeaders, roceHeaders, linkHeaders, serviceHeaders, formatHeaders)

// headersOf are those that apply, by encapsulation and opcode.
var headersOf = func() (t [5][256][]*header) {
	for e := range t {
		for o := range t[e] {
			for i := range headers {
				if headers[i].applies(packet.Encap(e), packet.Opcode(o).Info()) {
					t[e][o] = append(t[e][o], &headers[i])
				}
			}
		}
	}
	return t
}()

func concat(tables ...[]header) (all []header) {
	for _, t := range tables {
		all = append(all, t...)
	}
	return all
}

// Header judges the bytes of a packet. c is the connection that it belongs to, sent by end from, or nil.
func (v *Verifier) Header(c *qp.Pair, from int, p *packet.Packet) {
	v.headers[p.Encap][p.Opcode]++
	v.broken = false
	if !v.Thorough && plain(p) {
		return
	}
	if onIP(p.Encap, nil) && p.TClass&3 == 3 {
		v.Marked(c, from, p)
	} else if p.Flaws&packet.FlawOuterMark != 0 {
		v.Unfollowed(p)
	}
	if p.Encap == packet.Native && (p.FECN || p.BECN || v.cng.fecns > 0) {
		v.forward(c, from, p)
	}
	for _, h := range headersOf[p.Encap][p.Opcode] {
		if h.atSource && !v.Untouched(p) {
			continue
		}
		want, have := h.broken(p)
		if have == "" {
			continue
		}
		v.broken = true
		v.bytewise(c, from, p, verdict{
			rule: h.id, class: rule.Violation, role: h.role, expected: want, actual: have,
		})
	}
	if p.Encap == packet.Native && v.Subnet.Known() {
		v.onSubnet(c, from, p)
	}
}

// Cover counts the header rules that the packets so far exercised. It is called once, at the end.
func (v *Verifier) Cover() {
	v.coverExpected()
	for e := range v.headers {
		for o := range v.headers[e] {
			n := v.headers[e][o]
			if n == 0 {
				continue
			}
			v.coverSeal(packet.Encap(e), n)
			for _, h := range headersOf[e][o] {
				v.Rec.Cover[h.id].Exercised += n
			}
			v.headers[e][o] = 0
		}
	}
}

// plain reports whether a packet is of the usual shape, so that it can break no header rule: the fast path. It may say no to a
// packet that breaks none. TestPlain holds it against the table.
//
// What differs from packet to packet is masked and not asked one by one: a processor cannot guess such branches.
func plain(p *packet.Packet) bool {
	n := len(p.Data) - 8
	if n < 0 || p.BTHOff > n-8 {
		return false
	}
	h := p.Data[p.BTHOff:][:9]
	odd := &odds[p.Opcode]
	if binary.LittleEndian.Uint64(h)&odd.bth|uint64(h[8])&odd.last|uint64(p.PayloadLen)&odd.payload|uint64(p.PayloadLen+int(p.PadCnt))&3|uint64(p.Flaws) != 0 ||
		p.Cut || p.PKey&0x7FFF == 0 || p.DestQP <= 1 || p.DestQP == packet.PSNMask || oddSyndrome[p.Syndrome] {
		return false
	}
	// On IP the pad ends the word before the ICRC, which is the last of the packet. A shift by 32 bits leaves 0.
	if binary.LittleEndian.Uint32(p.Data[n:])>>(32-8*(p.PadCnt&3)) != 0 {
		return false
	}
	switch p.Encap {
	case packet.RoCEv2IPv4:
		return p.IHL == 5 && p.IPFrag == 0x4000 && p.TClass&3 != 3 && p.UDPSum == 0 && p.SrcPort >= 0xC000 &&
			p.Src.Lo>>28&0xF != 0xE && p.Dst.Lo>>28&0xF != 0xE && uint32(p.Src.Lo) != 0
	case packet.RoCEv2IPv6:
		return p.TClass&3 != 3 && p.UDPSum == 0 && p.SrcPort >= 0xC000 && !p.Src.IsMulticast() && !p.Dst.IsMulticast() && uint32(p.Src.Lo) != 0
	}
	return false
}

// odds is, by opcode, what the packets for which plain holds do not have: bits of the first eight bytes of the BTH and of the ninth, and
// of the length of the payload.
var odds = func() (t [256]struct{ bth, last, payload uint64 }) {
	const (
		se, padCnt, tVer = 0x80 << 8, 0x30 << 8, 0xF << 8
		resv8a           = 0xFF << 32 // with FECN and BECN
		ackReq, resv7    = 0x80, 0x7F
	)
	for i := range t {
		o, odd := packet.Opcode(i), &t[i]
		in := o.Info()
		if !in.Defined || o.Service() > packet.UC {
			odd.bth = math.MaxUint64 // it has a P_Key
			continue
		}
		odd.bth, odd.last, odd.payload = se|padCnt|tVer|resv8a, ackReq|resv7, math.MaxUint64
		if in.Request && o.Service() == packet.RC {
			odd.last &^= ackReq
		}
		if solicits(in) {
			odd.bth &^= se
		}
		if in.Payload {
			odd.payload = 0
			if in.Last || in.Only {
				odd.bth &^= padCnt
			}
		}
	}
	return t
}()

// solicits reports whether packets of an opcode may carry SE: the last of a message that takes a receive.
func solicits(in *packet.Info) bool {
	fn := in.Opcode.Fn()
	return (in.Last || in.Only) && (fn < packet.WriteFirst || fn == packet.SendLastInv || fn == packet.SendOnlyInv || in.Request && in.Headers&packet.HasImmDt != 0)
}

// oddSyndrome is, by syndrome, which a connected responder does not send.
var oddSyndrome = func() (t [256]bool) {
	for i := range t {
		s := packet.Syndrome(i)
		t[i] = s.Reserved() || s == packet.NAKInvalidRD
	}
	return t
}()

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

func all(packet.Encap, *packet.Info) bool              { return true }
func defined(_ packet.Encap, in *packet.Info) bool     { return in.Defined }
func withPayload(_ packet.Encap, in *packet.Info) bool { return in.Payload }
func withoutPad(_ packet.Encap, in *packet.Info) bool {
	return in.Defined && (in.First || in.Middle || !in.Payload) && in.Opcode != packet.OpCNP // CNG-CNP-003
}

func onIP(e packet.Encap, _ *packet.Info) bool {
	return e == packet.RoCEv2IPv4 || e == packet.RoCEv2IPv6
}
func onIPv4(e packet.Encap, _ *packet.Info) bool  { return e == packet.RoCEv2IPv4 }
func onIPv6(e packet.Encap, _ *packet.Info) bool  { return e == packet.RoCEv2IPv6 }
func onRoCE(e packet.Encap, _ *packet.Info) bool  { return e != packet.Native && e != packet.NoEncap }
func onLink(e packet.Encap, _ *packet.Info) bool  { return e == packet.Native }
func withGRH(e packet.Encap, _ *packet.Info) bool { return e == packet.Native || e == packet.RoCEv1 }

// of restricts a rule to the opcodes of one service.
func of(s packet.Service) func(packet.Encap, *packet.Info) bool {
	return func(_ packet.Encap, in *packet.Info) bool { return in.Defined && in.Opcode.Service() == s }
}

// bthHeaders are the rules of family BTH, and those of other families that need no more than the BTH.
var bthHeaders = []header{
	{rule.BTH002, rule.Sender, all, func(p *packet.Packet) (string, string) {
		return differs(p.TVer != 0, "TVer 0", "TVer %d", p.TVer)
	}, false},
	{rule.BTH003, rule.Sender, all, func(p *packet.Packet) (string, string) {
		return differs(!p.Info().Defined && (p.Opcode.Service() == packet.RC || p.Opcode.Service() == packet.CNP) && !p.IsCNP(), "an opcode of table T2", "0x%02x", uint8(p.Opcode))
	}, false},
	{rule.BTH006, rule.Sender, withPayload, func(p *packet.Packet) (string, string) {
		return differs((p.PayloadLen+int(p.PadCnt))&3 != 0, "payload and pad a multiple of 4 bytes", "payload %d, PadCnt %d", p.PayloadLen, p.PadCnt)
	}, false},
	{rule.BTH007, rule.Sender, withoutPad, func(p *packet.Packet) (string, string) {
		return differs(p.PadCnt != 0, "PadCnt 0", "PadCnt %d", p.PadCnt)
	}, false},
	{rule.BTH008, rule.Sender, withPayload, func(p *packet.Packet) (string, string) {
		return differs(!zero(p.Pad) && !withoutPad(p.Encap, p.Info()), "pad bytes 0", "% x", p.Pad)
	}, false},
	{rule.BTH009, rule.Sender, all, func(p *packet.Packet) (string, string) {
		return differs(p.Resv8a|p.Resv7 != 0, "reserved bits 0", "0x%02x beside FECN and BECN, 0x%02x beside AckReq", p.Resv8a, p.Resv7)
	}, false},
	{rule.BTH010, rule.Sender, defined, func(p *packet.Packet) (string, string) {
		o := p.Opcode
		bad := p.DestQP == 0 && p.Has&packet.HasLRH != 0 && o.Service() != packet.UD || p.DestQP == 1 && o.Service() != packet.UD && o != packet.OpCNP
		return differs(bad, "UD SEND Only to the management QPs", "%v to QP %d", o, p.DestQP)
	}, false},
	{rule.UDMC004, rule.Sender, defined, func(p *packet.Packet) (string, string) {
		return differs((p.DestQP == packet.PSNMask || p.Dst.IsMulticast()) && p.Opcode.Service() != packet.UD, "only UD to multicast", "%v to QP 0x%x at %v", p.Opcode, p.DestQP, p.Dst)
	}, false},
	{rule.BTH012, rule.Sender, func(_ packet.Encap, in *packet.Info) bool {
		s := in.Opcode.Service()
		return in.Defined && (reliable(in) || s == packet.RD) && in.Opcode.Fn() != packet.Acknowledge // RC-RSP-008, UC-SE-001
	}, func(p *packet.Packet) (string, string) {
		return differs(p.SE && !solicits(p.Info()), "SE 0", "SE 1 in %v", p.Opcode)
	}, false},
	{rule.BTH015, rule.Sender, func(_ packet.Encap, in *packet.Info) bool {
		s := in.Opcode.Service()
		return in.Defined && (s == packet.UC || s == packet.UD)
	}, func(p *packet.Packet) (string, string) {
		return differs(p.AckReq && p.Info().Request, "AckReq 0", "AckReq 1 in a %v packet", p.Opcode.Service())
	}, false},
	{rule.PKY001, rule.Sender, all, func(p *packet.Packet) (string, string) {
		return differs(p.PKey&0x7FFF == 0, "a P_Key with a partition number", "P_Key 0x%04x", p.PKey)
	}, false},
	{rule.BTH016, rule.Sender, func(e packet.Encap, in *packet.Info) bool { return onIP(e, in) && in.Opcode != packet.OpCNP }, func(p *packet.Packet) (string, string) {
		return differs(p.FECN || p.BECN, "FECN and BECN 0 on RoCEv2", "FECN %t, BECN %t", p.FECN, p.BECN)
	}, false},
}

// differs returns what a broken rule expected and what stands there, or nothing when it holds.
func differs(broken bool, expected, format string, args ...any) (string, string) {
	if !broken {
		return "", ""
	}
	return expected, fmt.Sprintf(format, args...)
}
