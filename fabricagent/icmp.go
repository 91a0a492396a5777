package fabricagent

import (
	"encoding/binary"
	"math"

	"ibwitness/packet"
)

const (
	protoICMP   = 1
	protoICMPv6 = 58

	icmpSize = 8 // type, code, checksum, and four bytes of the type

	icmpUnreachable, icmpFragmentation = 3, 4 // RFC 792, RFC 1191
	icmpv6TooBig                       = 2    // RFC 4443
)

// refused decodes an ICMP message of a router that a RoCEv2 packet was too big for the path: p is the packet that it quotes. b begins with the
// IP header, whose payload begins at offset at.
func refused(p *packet.Packet, b []byte, wire, at, end int) Outcome {
	if at < ipv4Size || len(b) < at+icmpSize || end < at+icmpSize || end > wire {
		return NotRDMA
	}
	whole := end <= len(b)
	b = b[:min(end, len(b))]
	m := b[at:]
	mtu, ok := tooBig(b, m, whole)
	if !ok || !packet.DecodeIP(p, m[icmpSize:], unlimited) || p.Src != destination(b) {
		return NotRDMA
	}
	p.MTU, p.Cut, p.Usual = uint16(min(mtu, math.MaxUint16)), !whole, false
	p.Has |= packet.HasQuote
	p.Opcode, p.LNH = 0xFF, uint8(p.Opcode) // of no service
	return Refused
}

// tooBig reports whether m is an ICMP message that a packet was too big for a path, which has the MTU that it returns. b is the IP packet with it; if it is whole, the checksum is checked.
func tooBig(b, m []byte, whole bool) (mtu uint32, ok bool) {
	if b[0]>>4 == 4 {
		fragment := binary.BigEndian.Uint16(b[6:])&0x3FFF != 0
		return uint32(binary.BigEndian.Uint16(m[6:])), !fragment && m[0] == icmpUnreachable && m[1] == icmpFragmentation && (!whole || sum(0, m) == 0xFFFF)
	}
	return binary.BigEndian.Uint32(m[4:]), m[0] == icmpv6TooBig && (!whole || sum(sum(uint32(len(m))+protoICMPv6, b[8:40]), m) == 0xFFFF)
}

// destination is where an IP packet goes.
func destination(b []byte) packet.Addr {
	if b[0]>>4 == 4 {
		return packet.IPv4Addr(b[16:20])
	}
	return packet.GIDAddr(b[24:40])
}

// sum adds to a checksum (RFC 1071): 0xFFFF over bytes that hold their own.
func sum(s uint32, b []byte) uint32 {
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return s
}
