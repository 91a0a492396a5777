package header

import (
	"encoding/binary"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// roceHeaders are the rules of family ROC on the format of RoCE packets.
var roceHeaders = []header{
	{rule.ROCV2003, rule.Sender, onIPv4, func(p *packet.Packet) breach {
		return mismatch(p.IHL != 5 && p.Flaws&packet.FlawInserted == 0, "IHL 5: no options", "IHL %d", p.IHL)
	}, false, has(ipHeader.is(5))},
	{rule.ROCV2005, rule.Sender, onIP, func(p *packet.Packet) breach {
		return mismatch0(p.TClass&3 == 3, "ECN 00, 01 or 10 from the source", "ECN 11 (CE)")
	}, true, has(ipECN.not(3))},
	{rule.ROCV2006, rule.Sender, onIPv4, func(p *packet.Packet) breach {
		return mismatch(p.Flaws&packet.FlawIPLength != 0, "Total Length of the packet through the ICRC", "Total Length %d", p.PayLen)
	}, false, has(flaw(packet.FlawIPLength).is(0))},
	{rule.ROCV2007, rule.Sender, onIPv4, func(p *packet.Packet) breach {
		return mismatch(p.IPFrag>>13 != 2 && p.IPFrag&0x3FFF == 0, "flags 010: DF", "flags %03b", p.IPFrag>>13)
	}, false, has(ipFlags.is(1))},
	{rule.ROCV2008, rule.Sender, onIPv4, func(p *packet.Packet) breach {
		return mismatch2(p.IPFrag&0x3FFF != 0, "a packet that is not fragmented", "flags %03b, fragment offset %d", p.IPFrag>>13, p.IPFrag&0x1FFF)
	}, false, has(ipOffset.is(0))},
	{rule.ROCV2014, rule.Sender, onIPv6, func(p *packet.Packet) breach {
		switch {
		case p.Flaws&(packet.FlawExtension|packet.FlawInserted) == packet.FlawExtension:
			return mismatch0(true, "UDP right after the IPv6 header", "extension headers")
		case p.Flaws&packet.FlawIPLength != 0:
			return mismatch(true, "Payload Length of the packet through the ICRC", "Payload Length %d", p.PayLen)
		}
		return breach{}
	}, false, has(flaw(packet.FlawExtension | packet.FlawIPLength).is(0))},
	{rule.ROCV2016, rule.Sender, onIP, func(p *packet.Packet) breach {
		bad := p.Flaws&packet.FlawUDPLength != 0 && p.Flaws&packet.FlawIPLength == 0
		return mismatch(bad, "UDP length 8 + BTH through ICRC: the IP payload", "UDP length %d", p.UDPLen)
	}, false, has(flaw(packet.FlawUDPLength).is(0))},
	{rule.ROCV2010, rule.Sender, onIP, func(p *packet.Packet) breach {
		return mismatch(p.Flaws&packet.FlawProtocol != 0, "protocol 17, UDP", "protocol %d", p.NxtHdr)
	}, false, has(flaw(packet.FlawProtocol).is(0))},
	{rule.ROCV2015, rule.Sender, onIP, func(p *packet.Packet) breach {
		how := ""
		if p.SrcPort == packet.UDPPort {
			how = ", and 4791 as the source"
		}
		return mismatch2(p.Flaws&packet.FlawPort != 0, "UDP destination port 4791", "port %d%s", p.DstPort, how)
	}, false, has(flaw(packet.FlawPort).is(0))},
	{rule.ROCV2022, rule.Sender, onIP, func(p *packet.Packet) breach {
		return mismatch(p.Flaws&packet.FlawVersion != 0, "IP version 4 or 6", "version %d", p.IPVer)
	}, false, has(flaw(packet.FlawVersion).is(0))},
	{rule.ROCV2025, rule.Receiver, func(e packet.Encap, in *packet.Info) bool { return onRoCE(e, in) && of(packet.UD)(e, in) }, func(p *packet.Packet) breach {
		bad := p.SrcQP == 0 && p.Has&packet.HasDETH != 0 && len(p.Payload) > 3 && (mad.ClassOf(p.Payload) == 0x01 || mad.ClassOf(p.Payload) == 0x81) && p.Payload[3]&0x80 != 0
		return mismatch0(bad, "no response: a RoCE port drops packets to QP 0", "a response from QP 0")
	}, false, nil},
	{rule.ROCV2017, rule.Sender, onIP, func(p *packet.Packet) breach {
		if p.UDPSum == 0 || p.Cut || p.Flaws&^packet.FlawDiscard != 0 || p.UDPSum == folded(pseudoSum(p)) { // the last as the kernel leaves it for the adapter to complete
			return breach{}
		}
		want := udpSum(p)
		return mismatch2(p.UDPSum != want, "UDP checksum 0 or correct", "0x%04x, correct is 0x%04x", p.UDPSum, want)
	}, false, has(udpSum16.is(0))},
	{rule.ROCV2018, rule.Sender, onIP, func(p *packet.Packet) breach {
		return mismatch(p.SrcPort < leastPort, "UDP source port 49152 to 65535", "port %d", p.SrcPort)
	}, false, has(udpPort.is(3))},
}

// leastPort is the least UDP source port that carries entropy: the dynamic ones (A17.9.2, RFC 6335).
const leastPort = 0xC000

// udpSum computes the UDP checksum of a RoCEv2 packet, 0xFFFF in place of 0 (RFC 768).
func udpSum(p *packet.Packet) uint16 {
	udp := p.Data[p.BTHOff-8:]
	sum := pseudoSum(p) + sum16(udp[:min(len(udp), int(p.UDPLen))]) - uint64(p.UDPSum)
	if s := ^folded(sum); s != 0 {
		return s
	}
	return 0xFFFF
}

// pseudoSum adds up the pseudo-header that the UDP checksum begins with.
func pseudoSum(p *packet.Packet) uint64 {
	src, dst := p.Src.Bytes(), p.Dst.Bytes()
	from := 0
	if p.Encap == packet.RoCEv2IPv4 {
		from = 12
	}
	return sum16(src[from:]) + sum16(dst[from:]) + 17 + uint64(p.UDPLen)
}

// sum16 adds up the 16-bit words of b.
func sum16(b []byte) (sum uint64) {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint64(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	return sum
}

func folded(sum uint64) uint16 {
	for sum>>16 != 0 {
		sum = sum&0xFFFF + sum>>16
	}
	return uint16(sum)
}
