package header

import (
	"fmt"
	"math/bits"
	"slices"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// header is one rule on nothing but the bytes of a packet: what it applies to, by encapsulation and opcode, and whether a packet breaks it.
type header struct {
	id      rule.ID
	role    rule.Role
	applies func(packet.Encap, *packet.Info) bool
	// broken returns how a packet breaks the rule.
	broken func(p *packet.Packet) breach
	// atSource: the network may change this on the way, so it is judged at a tap near the sender only. What is right elsewhere was right there.
	atSource bool
	// usually is what the rule reads, and finds in a packet that holds it; nil: no fast path takes a packet that the rule applies to.
	usually usually
}

// headers are all rules of this kind.
var headers = concat(bthHeaders, networkHeaders, roceHeaders, linkHeaders, serviceHeaders, formatHeaders)

// headersOf are those that apply, by encapsulation and opcode.
var headersOf = func() (t [5][256][]*header) {
	var list []*header
	for e := range t {
		for o := range t[e] {
			list = list[:0]
			in := packet.Opcode(o).Info()
			for i := range headers {
				if headers[i].applies(packet.Encap(e), in) {
					list = append(list, &headers[i])
				}
			}
			t[e][o] = slices.Clone(list)
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

// Packet judges the bytes of a packet. c is the connection that it belongs to, sent by end from, or nil.
func (v *Verifier) Packet(c *qp.Pair, from int, p *packet.Packet) {
	v.headers[p.Encap][p.Opcode]++
	v.Broken = false
	may := suspicion{everyRule, true}
	if !v.Thorough {
		may = suspects(p)
	}
	if !may.odd && p.Flaws&packet.FlawDiscard == 0 {
		return
	}
	if p.Encap.OnIP() && p.TClass&3 == 3 {
		v.congestion.Marked(c, from, p)
	} else if p.Flaws&packet.FlawOuterMark != 0 {
		v.congestion.Unfollowed(p)
	}
	if p.Encap == packet.Native {
		v.congestion.Forward(c, from, p)
	}
	if v.Broken = p.Flaws&packet.FlawDiscard != 0; v.Broken {
		v.Skipped[verifier.SkipDiscard]++
	}
	list := headersOf[p.Encap][p.Opcode]
	if may.rules == everyRule {
		for _, h := range list {
			v.judge(c, from, p, h)
		}
	} else {
		for r := may.rules; r != 0; r &= r - 1 {
			v.judge(c, from, p, list[bits.TrailingZeros64(uint64(r))])
		}
	}
	if p.Encap == packet.Native && v.Subnet.Known() {
		v.onSubnet(c, from, p)
	}
}

// judge judges a packet by one rule.
func (v *Verifier) judge(c *qp.Pair, from int, p *packet.Packet, h *header) {
	b := h.broken(p)
	if b.actual == nil {
		return
	}
	if h.atSource && !v.Untouched(p) {
		v.unjudged[h.id]++
		return
	}
	v.Broken = true
	class, detail := v.headerClass(h.id, p)
	if !v.SurplusBytes(c, from, p, h.id, class, h.role) {
		v.ReportBytes(c, from, p, rule.Verdict{Rule: h.id, Class: class, Role: h.role, Expected: b.expected, Actual: b.actual(), Detail: detail})
	}
}

// Cover counts the header rules that the packets so far exercised: each packet was compared with the rule, or against shapes, which is built from
// it. It is called once, at the end.
func (v *Verifier) Cover() {
	for e := range v.headers {
		for o := range v.headers[e] {
			n := v.headers[e][o]
			v.coverICRC(packet.Encap(e), n)
			for _, h := range headersOf[e][o] {
				v.Rec.Cover[h.id].Exercised += n
			}
			v.headers[e][o] = 0
		}
	}
	v.Rec.Cover[rule.ROCV2019].Exercised += v.usual
	v.usual = 0
	for id, n := range v.unjudged {
		v.Rec.Cover[id].Exercised -= n
		delete(v.unjudged, id)
	}
}

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
func withoutPad(_ packet.Encap, in *packet.Info) bool  { return in.Unpadded() }

func onIP(e packet.Encap, _ *packet.Info) bool    { return e.OnIP() }
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
	{rule.BTH002, rule.Sender, all, func(p *packet.Packet) breach {
		return mismatch(p.TVer != 0, "TVer 0", "TVer %d", p.TVer)
	}, false, has(bthTVer.is(0))},
	{rule.BTH003, rule.Sender, all, func(p *packet.Packet) breach {
		return mismatch(!p.Info().Defined && (p.Opcode.Service() == packet.RC || p.Opcode.Service() == packet.CNP) && !p.IsCNP(), "an opcode of table T2", "0x%02x", uint8(p.Opcode))
	}, false, ofOpcode(isDefined)},
	{rule.BTH006, rule.Sender, withPayload, func(p *packet.Packet) breach {
		return mismatch2((p.PayloadLen+int(p.PadCnt))&3 != 0, "payload and pad a multiple of 4 bytes", "payload %d, PadCnt %d", p.PayloadLen, p.PadCnt)
	}, false, has(withPad.is(0))},
	{rule.BTH007, rule.Sender, withoutPad, func(p *packet.Packet) breach {
		return mismatch(p.PadCnt != 0, "PadCnt 0", "PadCnt %d", p.PadCnt)
	}, false, has(bthPadCnt.is(0))},
	{rule.BTH008, rule.Sender, withPayload, func(p *packet.Packet) breach {
		return mismatch(!zero(p.Pad) && !p.Info().Unpadded(), "pad bytes 0", "% x", p.Pad)
	}, false, unless((*packet.Info).Unpadded, padBytes.is(0))},
	{rule.BTH009, rule.Sender, all, func(p *packet.Packet) breach {
		return mismatch2(p.Resv8a|p.Resv7 != 0, "reserved bits 0", "0x%02x in the byte of FECN and BECN, 0x%02x in that of AckReq", p.Resv8a, p.Resv7)
	}, false, has(bthResv8a.is(0), bthResv7.is(0))},
	{rule.BTH010, rule.Sender, defined, func(p *packet.Packet) breach {
		o := p.Opcode
		bad := p.DestQP == 0 && p.Has&packet.HasLRH != 0 && o.Service() != packet.UD || p.DestQP == 1 && o.Service() != packet.UD && o != packet.OpCNP
		return mismatch2(bad, "UD SEND Only to the management QPs", "%v to QP %d", o, p.DestQP)
	}, false, has(bthDestQP.not(1))}, // only InfiniBand breaks the rule for QP 0, and none of its packets is plain
	{rule.UDMC004, rule.Sender, defined, func(p *packet.Packet) breach {
		return mismatch3((p.DestQP == packet.PSNMask || p.Dst.IsMulticast()) && p.Opcode.Service() != packet.UD, "only UD to multicast", "%v to QP 0x%x at %v", p.Opcode, p.DestQP, p.Dst)
	}, false, has(bthDestQP.not(packet.PSNMask), dstClass.unicast())},
	{rule.BTH012, rule.Sender, func(_ packet.Encap, in *packet.Info) bool {
		s := in.Opcode.Service()
		return in.Defined && (s.Reliable() || s == packet.RD) && in.Opcode.Fn() != packet.Acknowledge // RC-RSP-008, UC-SE-001
	}, func(p *packet.Packet) breach {
		return mismatch(p.SE && !p.Info().MaySolicit(), "SE 0", "SE 1 in %v", p.Opcode)
	}, false, unless((*packet.Info).MaySolicit, bthSE.is(0))},
	{rule.BTH015, rule.Sender, func(_ packet.Encap, in *packet.Info) bool {
		s := in.Opcode.Service()
		return in.Defined && (s == packet.UC || s == packet.UD)
	}, func(p *packet.Packet) breach {
		return mismatch(p.AckReq && p.Info().Request, "AckReq 0", "AckReq 1 in a %v packet", p.Opcode.Service())
	}, false, has(bthAckReq.is(0))},
	{rule.PKY001, rule.Sender, all, func(p *packet.Packet) breach {
		return mismatch(p.PKey&0x7FFF == 0, "a P_Key with a partition number", "P_Key 0x%04x", p.PKey)
	}, false, has(bthPKey.not(0))},
	{rule.BTH016, rule.Sender, func(e packet.Encap, in *packet.Info) bool { return e.OnIP() && in.Opcode != packet.OpCNP }, func(p *packet.Packet) breach {
		return mismatch2(p.FECN || p.BECN, "FECN and BECN 0 on RoCEv2", "FECN %t, BECN %t", p.FECN, p.BECN)
	}, false, has(bthFBECN.is(0))},
}

// breach is how a packet breaks a rule: what is expected, and what is there; nil: the rule holds.
type breach struct {
	expected string
	actual   func() string
}

// mismatch is a breach, where there is one, whose actual value a format writes.
func mismatch[A any](broken bool, expected, format string, a A) breach {
	if !broken {
		return breach{}
	}
	return breach{expected, func() string { return fmt.Sprintf(format, a) }}
}

// mismatch2 is mismatch for two values.
func mismatch2[A, B any](broken bool, expected, format string, a A, b B) breach {
	if !broken {
		return breach{}
	}
	return breach{expected, func() string { return fmt.Sprintf(format, a, b) }}
}

// mismatch3 is mismatch for three values.
func mismatch3[A, B, C any](broken bool, expected, format string, a A, b B, c C) breach {
	if !broken {
		return breach{}
	}
	return breach{expected, func() string { return fmt.Sprintf(format, a, b, c) }}
}

// mismatch0 is mismatch for a text.
func mismatch0(broken bool, expected, actual string) breach {
	if !broken {
		return breach{}
	}
	return breach{expected, func() string { return actual }}
}
