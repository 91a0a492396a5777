package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	echoReply   = 0   // type of ICMP (RFC 792)
	echoReplyv6 = 129 // of ICMPv6 (RFC 4443)
)

// EchoReply returns who answers a ping with a frame, an Ethernet one perhaps with VLAN tags; ok is false for all others.
func EchoReply(f *Frame) (from packet.Addr, ok bool) {
	b := f.Data
	if f.Link != LinkEthernet || len(b) < etherSize {
		return from, false
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
	case t == etherIPv4 && len(b) > ipv4Size && b[0] == 0x45 && b[9] == protoICMP && binary.BigEndian.Uint16(b[6:])&0x1FFF == 0 && b[ipv4Size] == echoReply:
		return packet.IPv4Addr(b[12:16]), true
	case t == etherIPv6 && len(b) > ipv6Size && b[0]>>4 == 6 && b[6] == protoICMPv6 && b[ipv6Size] == echoReplyv6:
		return packet.GIDAddr(b[8:24]), true
	}
	return from, false
}
