package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	echoReply     = 0 // type of ICMP (RFC 792)
	echoRequest   = 8
	echoReplyv6   = 129 // of ICMPv6 (RFC 4443)
	echoRequestv6 = 128
)

// EchoReply returns who answers a ping with a frame, an Ethernet one perhaps with VLAN tags, and the hop limit (TTL) of the answer; ok is false for all others.
func EchoReply(f *Frame) (from packet.Addr, hops uint8, ok bool) {
	from, _, hops, ok = echo(f, echoReply, echoReplyv6)
	return from, hops, ok
}

// EchoRequest returns who pings whom with a frame; ok is false for all others.
func EchoRequest(f *Frame) (from, to packet.Addr, ok bool) {
	from, to, _, ok = echo(f, echoRequest, echoRequestv6)
	return from, to, ok
}

// echo returns who sends whom a message of a type of ICMP, or one of ICMPv6, with which hop limit.
func echo(f *Frame, kind, kindv6 byte) (from, to packet.Addr, hops uint8, ok bool) {
	b := f.Data
	if f.Link != LinkEthernet || len(b) < etherSize {
		return from, to, 0, false
	}
	t := binary.BigEndian.Uint16(b[etherSize-2:])
	b = b[etherSize:]
	for range maxVLANs {
		if t != etherVLAN && t != etherQinQ && t != etherOldQQ || len(b) < vlanSize {
			break
		}
		t, b = binary.BigEndian.Uint16(b[2:]), b[vlanSize:]
	}
	switch {
	case t == etherIPv4 && len(b) > ipv4Size && b[0] == 0x45 && b[9] == protoICMP && binary.BigEndian.Uint16(b[6:])&0x1FFF == 0 && b[ipv4Size] == kind:
		return packet.IPv4Addr(b[12:16]), packet.IPv4Addr(b[16:20]), b[8], true
	case t == etherIPv6 && len(b) > ipv6Size && b[0]>>4 == 6 && b[6] == protoICMPv6 && b[ipv6Size] == kindv6:
		return packet.GIDAddr(b[8:24]), packet.GIDAddr(b[24:40]), b[7], true
	}
	return from, to, 0, false
}
