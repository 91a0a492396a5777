package header

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// serviceHeaders are the rules that hold for one service and need no more than the packet.
var serviceHeaders = []header{
	{rule.RCRSP008, rule.Responder, rcFn(packet.Acknowledge), func(p *packet.Packet) breach {
		_, header := excess(p)
		bad := p.AckReq || p.SE || p.PayloadLen != header // PadCnt: BTH-007
		if !bad {
			return breach{}
		}
		return breach{"no payload, PadCnt 0, AckReq 0, SE 0", func() string {
			return fmt.Sprintf("payload %d, PadCnt %d, AckReq %t, SE %t", p.PayloadLen, p.PadCnt, p.AckReq, p.SE)
		}}
	}, false, has(length.is(0), bthAckReq.is(0), bthSE.is(0))},
	{rule.RCRSP010, rule.Responder, rcFn(packet.AtomicAck), func(p *packet.Packet) breach {
		_, header := excess(p)
		return mismatch(p.PayloadLen != header, "only AETH and AtomicAckETH", "%d more bytes", p.PayloadLen)
	}, false, has(length.is(0))},
	{rule.RCRSP037, rule.Responder, rcResponseFn, func(p *packet.Packet) breach {
		return mismatch0(p.AckReq && p.Opcode.Fn() != packet.Acknowledge, "AckReq 0 in a response", "AckReq 1")
	}, false, has(bthAckReq.is(0))},
	{rule.RCRSP021, rule.Responder, rcAETH, func(p *packet.Packet) breach {
		bad := p.Syndrome.Type() == packet.NAK && p.Syndrome&0x80 == 0 && p.Syndrome.Value() >= 4 &&
			(p.Syndrome != packet.NAKInvalidRD || p.Opcode.Service() == packet.RC) // on XRC: RD-NAK-001; on RD it is one
		expected := "NAK code 0, 1, 2 or 3"
		if p.Opcode.Service() == packet.RD {
			expected += ", or 4 on RD"
		}
		return mismatch(bad, expected, "syndrome 0x%02x", uint8(p.Syndrome))
	}, false, afterBTH(aethCode.is(0))},
	{rule.RCRSP022, rule.Responder, rcAETH, func(p *packet.Packet) breach {
		bad := p.Syndrome&0x80 != 0 || p.Syndrome.Type() == packet.ReservedSyndrome
		return mismatch(bad, "a syndrome of ACK, RNR NAK or NAK", "syndrome 0x%02x", uint8(p.Syndrome))
	}, false, afterBTH(aethCode.is(0))},
	{rule.RCSEQ007, rule.Requester, func(_ packet.Encap, in *packet.Info) bool {
		fn := in.Opcode.Fn()
		return in.Request && in.Defined && !in.Payload && acknowledged(in) && fn != packet.Flush && fn != packet.Resync // FLW-001, RD-RSY-001
	}, func(p *packet.Packet) breach {
		return mismatch(p.PayloadLen != 0, "no payload", "%d bytes", p.PayloadLen)
	}, false, has(length.is(0))},
	{rule.UCRSP001, rule.Receiver, anyOf(packet.UC), func(p *packet.Packet) breach {
		fn := p.Opcode.Fn()
		bad := p.Opcode.Service() == packet.UC && fn >= packet.ReadRespFirst && fn <= packet.AtomicAck
		return mismatch(bad, "no response: UC has none", "%v", p.Opcode)
	}, false, ofOpcode(isDefined)},
	{rule.UCOPC001, rule.Sender, anyOf(packet.UC), func(p *packet.Packet) breach {
		fn := p.Opcode.Fn()
		bad := p.Opcode.Service() == packet.UC && fn > packet.WriteOnlyImm && (fn < packet.ReadRespFirst || fn > packet.AtomicAck) &&
			fn != packet.SendLastInv && fn != packet.SendOnlyInv
		return mismatch(bad, "a SEND or RDMA WRITE on UC, opcode 0x20 to 0x2b", "opcode 0x%02x", uint8(p.Opcode))
	}, false, ofOpcode(isDefined)},
	{rule.UCOPC002, rule.Sender, anyOf(packet.UC), func(p *packet.Packet) breach {
		bad := p.Opcode == packet.Op(packet.UC, packet.SendLastInv) || p.Opcode == packet.Op(packet.UC, packet.SendOnlyInv)
		return mismatch(bad, "no SEND with Invalidate on UC", "opcode 0x%02x", uint8(p.Opcode))
	}, false, ofOpcode(isDefined)},
	{rule.UCSE001, rule.Sender, of(packet.UC), func(p *packet.Packet) breach {
		return mismatch(p.SE && !p.Info().MaySolicit(), "SE 0", "SE 1 in %v", p.Opcode)
	}, false, unless((*packet.Info).MaySolicit, bthSE.is(0))},
	{rule.UDOPC001, rule.Sender, anyOf(packet.UD), func(p *packet.Packet) breach {
		return mismatch(p.Opcode.Service() == packet.UD && !p.Info().Defined && !udResponse(p), "UD opcode 0x64 or 0x65", "0x%02x", uint8(p.Opcode))
	}, false, nil},
	{rule.UDACK001, rule.Receiver, anyOf(packet.UD), func(p *packet.Packet) breach {
		return mismatch(udResponse(p), "no response: UD has none", "opcode 0x%02x", uint8(p.Opcode))
	}, false, nil},
	{rule.UDHDR002, rule.Sender, func(_ packet.Encap, in *packet.Info) bool { return in.Headers&packet.HasDETH != 0 }, func(p *packet.Packet) breach {
		return mismatch(p.DETHRes != 0, "reserved byte of the DETH 0", "0x%02x", p.DETHRes)
	}, false, nil},
	{rule.UDLEN001, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		return mismatch(p.PayloadLen > 4096, "at most 4096 bytes of payload", "%d bytes", p.PayloadLen)
	}, false, nil},
	{rule.UDQKEY003, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		return mismatch(p.DestQP == 1 && p.Has&packet.HasDETH != 0 && p.QKey != 0x80010000 && !smpToOtherQP(p), "Q_Key 0x80010000 to QP1", "Q_Key 0x%08x", p.QKey)
	}, false, nil},
	{rule.UDQP1001, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		cm := mad.ClassOf(p.Payload) == byte(mad.ClassCM)                                  // CM-FMT-003 judges its length
		bad := p.DestQP == 1 && (p.PayloadLen != 256 && !cm || p.Has&packet.HasImmDt != 0) // LNK-VL-001 judges the VL
		return mismatch2(bad, "256 bytes of payload and no immediate to QP1", "%v with %d bytes", p.Opcode, p.PayloadLen)
	}, false, nil},
	{rule.UDQP0001, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		bad := p.DestQP == 0 && p.Has&packet.HasLRH != 0 && (p.PayloadLen != 256 || p.VL != 15 || p.Has&packet.HasImmDt != 0)
		return mismatch3(bad, "256 bytes of payload on VL15, no immediate, to QP0", "%v with %d bytes on VL%d", p.Opcode, p.PayloadLen, p.VL)
	}, false, nil},
	{rule.UDHDR003, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		if !mad.Class(mad.ClassOf(p.Payload)).Subnet() { // else SMP-FMT-005, ROC-V2-025
			return mismatch0(p.Has&packet.HasDETH != 0 && p.SrcQP == 0 && p.DestQP != 0, "another source QP than QP 0 in a packet to another QP", "QP 0")
		}
		return mismatch(p.Has&packet.HasLRH != 0 && p.Has&packet.HasDETH != 0 && p.DestQP == 0 && p.SrcQP != 0, "subnet management from QP 0", "from QP 0x%x", p.SrcQP)
	}, false, nil},
	{rule.UDQP1002, rule.Sender, onRoCE, func(p *packet.Packet) breach {
		return mismatch(p.DestQP == 0, "no QP0 on RoCE", "%v to QP 0", p.Opcode)
	}, false, has(bthDestQP.not(0))},
	{rule.ROCV2032, rule.Sender, func(e packet.Encap, in *packet.Info) bool { return onRoCE(e, in) && of(packet.UD)(e, in) }, func(p *packet.Packet) breach {
		bad := p.DestQP == 1 && len(p.Payload) > 1 && (p.Payload[1] == 0x01 || p.Payload[1] == 0x81 || p.Payload[1] == 0x03)
		return mismatch(bad, "no subnet management on RoCE", "management class 0x%02x", mad.ClassOf(p.Payload))
	}, false, nil},
	{rule.UDMC001, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		multicast := p.Dst.IsMulticast()
		bad := (p.DestQP == packet.PSNMask) != multicast
		return mismatch2(bad, "the multicast QPN if and only if the destination is multicast", "QP 0x%x to %v", p.DestQP, p.Dst)
	}, false, nil},
	{rule.CNGCNP003, rule.Sender, func(_ packet.Encap, in *packet.Info) bool { return in.Opcode == packet.OpCNP }, func(p *packet.Packet) breach {
		bad := p.SE || p.MigReq || p.PadCnt != 0 || p.AckReq || p.PSN != 0 || !zero(p.Payload)
		if !bad {
			return breach{}
		}
		return breach{"SE, M, PadCnt, AckReq, PSN and the 16 reserved bytes 0", func() string {
			becn := ""
			if !p.BECN { // which the rule does not ask for, though adapters set it
				becn = "BECN 0, "
			}
			return fmt.Sprintf("SE %t, M %t, PadCnt %d, AckReq %t, PSN %v, %s%d reserved bytes % x", p.SE, p.MigReq, p.PadCnt, p.AckReq, p.PSN, becn, p.PayloadLen, p.Payload)
		}}
	}, false, has(bthSE.is(0), bthMigReq.is(0), bthPadCnt.is(0), bthAckReq.is(0), bthPSN.is(0), reserved.is(0))},
	{rule.CNGCNP004, rule.Sender, func(_ packet.Encap, in *packet.Info) bool { return in.Opcode == packet.OpCNP }, func(p *packet.Packet) breach {
		return mismatch(p.PayloadLen != 16, "16 reserved bytes between BTH and ICRC", "%d", p.PayloadLen)
	}, false, has(length.is(16))},
	{rule.CNGIB001, rule.Sender, onLink, func(p *packet.Packet) breach {
		return mismatch0(p.FECN, "FECN 0 from the source", "FECN 1")
	}, true, nil},
}

func udResponse(p *packet.Packet) bool {
	fn := p.Opcode.Fn()
	return p.Opcode.Service() == packet.UD && fn >= packet.ReadRespFirst && fn <= packet.AtomicAck
}

// acknowledged reports whether an opcode is of a service whose responders answer.
func acknowledged(in *packet.Info) bool {
	s := in.Opcode.Service()
	return s.Reliable() || s == packet.RD
}

func rcFn(f packet.Fn) func(packet.Encap, *packet.Info) bool {
	return func(_ packet.Encap, in *packet.Info) bool { return acknowledged(in) && in.Opcode.Fn() == f }
}

func rcResponseFn(_ packet.Encap, in *packet.Info) bool {
	return in.Response && acknowledged(in)
}

// afterBTH is has for tests of what comes right after the BTH: on RD, that is another header.
func afterBTH(tests ...test) usually {
	return func(in *packet.Info) ([]test, bool) { return tests, in.Opcode.Service() != packet.RD }
}

func rcAETH(_ packet.Encap, in *packet.Info) bool {
	return in.Headers&packet.HasAETH != 0 && acknowledged(in)
}
