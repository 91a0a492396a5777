package header

import (
	"fmt"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// misfit says which rule on the headers of a packet is broken where its lengths leave them no room: that of the header that seems to be
// missing, or of the first that has no room (rules NET-GRH-001, BTH-001, XRC-HDR-001, RD-HDR-001, RD-HDR-002, UD-HDR-001), else BTH-018.
func misfit(p *packet.Packet) rule.ID {
	in := p.Info()
	switch {
	case p.Encap == packet.Native && p.LNH == packet.LNHGlobal && p.Has&packet.HasGRH == 0:
		return rule.NETGRH001
	case p.Has&packet.HasBTH == 0:
		return rule.BTH001
	case p.Cut || !in.Defined:
		return rule.BTH018
	}
	end := len(p.Data)
	if p.Has&packet.HasVCRC != 0 {
		end -= 2
	}
	return missingHeader(in, packet.HeaderSize(p.Opcode)-(end-p.BTHOff-packet.BTHSize-packet.ICRCSize-int(p.PadCnt)))
}

// missingHeader is the rule on the extended transport header of an opcode that seems to be missing where so many bytes are: else BTH-018.
func missingHeader(in *packet.Info, missing int) rule.ID {
	switch service := in.Opcode.Service(); {
	case service == packet.UD:
		return rule.UDHDR001
	case service == packet.XRC && in.Request && missing == 4:
		return rule.XRCHDR001
	case service == packet.RD && missing == 8:
		return rule.RDHDR002
	case service == packet.RD && (missing == 4 || missing == 12):
		return rule.RDHDR001
	}
	return rule.BTH018
}

// misfits are what was expected of a packet that has no room for its headers.
var misfits = map[rule.ID]string{
	rule.NETGRH001: "room for the 40 bytes of the GRH that LNH announces",
	rule.BTH001:    "room for the 12 bytes of the BTH, and the ICRC",
	rule.UDHDR001:  "room for the 8 bytes of the DETH, and for immediate data",
	rule.XRCHDR001: "the 4 bytes of the XRCETH that a request has",
	rule.RDHDR001:  "the 4 bytes of the RDETH",
	rule.RDHDR002:  "the 8 bytes of the DETH that a request has",
	rule.BTH018:    "room for headers, pad and ICRC",
}

// Short judges a packet that is too short for its headers (see misfit). c is the connection that it belongs to, sent by end from, or nil.
func (v *Verifier) Short(c *qp.Pair, from int, p *packet.Packet) {
	id := misfit(p)
	v.Covered(id)
	v.congestion.Unfollowed(p)
	if p.Cut {
		v.Skipped[verifier.SkipCut]++
		return
	}
	if c != nil {
		c.Ends[from].SQ.ExplainNextGap()
	}
	b := p.Bare()
	b.Has &^= packet.HasDETH // these bytes are another header
	v.ReportBytes(c, from, b, rule.Verdict{
		Rule: id, Class: rule.Proven(p.ICRCState == packet.CRCGood), Role: rule.Sender,
		Expected: misfits[id], Actual: "fewer bytes than its headers take",
	})
}

// excess says which rule a packet breaks that has a payload where there is none, just as long as a header that its direction does not
// have (rules XRC-HDR-001, RD-HDR-002), or 0.
func excess(p *packet.Packet) (rule.ID, int) {
	in := p.Info()
	if !in.Response || in.Payload || p.Flaws&packet.FlawShort != 0 {
		return 0, 0
	}
	switch service := in.Opcode.Service(); {
	case service == packet.XRC && p.PayloadLen == 4:
		return rule.XRCHDR001, 4
	case service == packet.RD && p.PayloadLen == 8:
		return rule.RDHDR002, 8
	}
	return 0, 0
}

// format is a header rule on the room for the headers of a packet.
func format(id rule.ID, applies func(packet.Encap, *packet.Info) bool, reads usually) header {
	expected := misfits[id]
	return header{id, rule.Sender, applies, func(p *packet.Packet) breach {
		if which, n := excess(p); n != 0 {
			return mismatch2(which == id, "no payload, and no header of requests, in a response", "%d bytes more than the headers of %v", n, p.Opcode)
		}
		return mismatch(p.Flaws&packet.FlawShort != 0 && misfit(p) == id, expected, "too few bytes for %v", p.Opcode)
	}, false, reads}
}

// formatHeaders are the rules on which headers a packet has.
var formatHeaders = []header{
	format(rule.BTH001, all, has()), // what has no whole BTH is not plain
	format(rule.BTH018, all, has(flaw(packet.FlawShort).is(0))),
	format(rule.NETGRH001, onLink, nil),
	format(rule.UDHDR001, of(packet.UD), nil),
	format(rule.XRCHDR001, of(packet.XRC), nil),
	format(rule.RDHDR001, of(packet.RD), nil),
	{rule.RDHDR001, rule.Sender, of(packet.RD), func(p *packet.Packet) breach {
		return mismatch(p.RDETHRes != 0, "reserved byte of the RDETH 0", "0x%02x", p.RDETHRes)
	}, false, nil},
	format(rule.RDHDR002, of(packet.RD), nil),
	{rule.XRCOPC001, rule.Sender, anyOf(packet.XRC), undefined("0xa0 to 0xb4, 0xb6 or 0xb7"), false, nil},
	{rule.RDOPC001, rule.Sender, anyOf(packet.RD), undefined("0x40 to 0x55 or 0x5c"), false, nil},
	{rule.XRCHDR002, rule.Sender, of(packet.XRC), func(p *packet.Packet) breach {
		return mismatch(p.XRCRes != 0, "reserved byte of the XRCETH 0", "0x%02x", p.XRCRes)
	}, false, nil},
	{rule.FLW001, rule.Requester, func(_ packet.Encap, in *packet.Info) bool { return in.Opcode == packet.Op(packet.RD, packet.Flush) }, func(p *packet.Packet) breach {
		return mismatch2(verifier.OddFlush(p), verifier.FlushFormat, "FETH 0x%08x and %d bytes of payload", p.FETH, p.PayloadLen)
	}, false, nil},
	{rule.RDNAK001, rule.Responder, of(packet.XRC), func(p *packet.Packet) breach {
		return mismatch(p.Syndrome == packet.NAKInvalidRD, "no NAK of RD on XRC", "syndrome 0x%02x", uint8(p.Syndrome))
	}, false, nil},
}

// anyOf restricts a rule to one service, reserved opcodes included.
func anyOf(s packet.Service) func(packet.Encap, *packet.Info) bool {
	return func(_ packet.Encap, in *packet.Info) bool { return in.Opcode.Service() == s }
}

func undefined(opcodes string) func(*packet.Packet) breach {
	return func(p *packet.Packet) breach {
		if p.Info().Defined {
			return breach{}
		}
		return mismatch(true, fmt.Sprintf("%v opcode %s", p.Opcode.Service(), opcodes), "0x%02x", uint8(p.Opcode))
	}
}
