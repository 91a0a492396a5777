package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Ends returns the addresses that Decode finds in a frame: Src and Dst of its packet. It reads little more than the addresses, and knows only the
// formats of nearly every frame of a RoCE capture: RoCEv2 on IPv4 without options or fragments or on IPv6 without extension headers, or RoCEv1, on Ethernet with a VLAN tag or without,
// or as Linux captures it on all interfaces. Of all other frames the result is false: only Decode tells their addresses.
func Ends(f *Frame) (src, dst packet.Addr, ok bool) {
	const at = ipv4Size + udpSize + packet.BTHSize
	b := f.Data
	if f.Link != LinkEthernet || len(b) < etherSize+at || binary.BigEndian.Uint16(b[12:]) != etherIPv4 {
		return endsElse(f)
	}
	return endsIPv4((*[at]byte)(b[etherSize:]))
}

// endsIPv4 is Ends of an IPv4 packet that begins with h.
func endsIPv4(h *[ipv4Size + udpSize + packet.BTHSize]byte) (src, dst packet.Addr, ok bool) {
	const mapped = 0xFFFF << 32
	x := binary.BigEndian.Uint64(h[8:])
	src, dst = packet.Addr{Lo: mapped | x&0xFFFFFFFF}, packet.Addr{Lo: mapped | uint64(binary.BigEndian.Uint32(h[16:]))}
	return src, dst, h[0] == 0x45 && binary.BigEndian.Uint16(h[6:])&0x3FFF == 0 && h[9] == protoUDP && binary.BigEndian.Uint16(h[ipv4Size+2:]) == packet.UDPPort
}

// endsElse is Ends of what is not IPv4 on Ethernet.
func endsElse(f *Frame) (src, dst packet.Addr, ok bool) {
	kind, b := afterEther(f)
	const v4, v6 = ipv4Size + udpSize + packet.BTHSize, ipv6Size + udpSize + packet.BTHSize
	switch {
	case kind == etherIPv4 && len(b) >= v4:
		return endsIPv4((*[v4]byte)(b))
	case kind == etherIPv6 && len(b) >= v6:
		ok = b[0]>>4 == 6 && b[6] == protoUDP && binary.BigEndian.Uint16(b[ipv6Size+2:]) == packet.UDPPort
	case kind == etherRoCE && len(b) >= v6:
		ok = true
	}
	if !ok {
		return packet.Addr{}, packet.Addr{}, false
	}
	return packet.GIDAddr(b[8:24]), packet.GIDAddr(b[24:40]), true
}

// cookedType is the EtherType of a frame as Linux captures it on all interfaces, and what follows it; 0 where it is none.
func cookedType(f *Frame) (kind uint16, after []byte) {
	switch b := f.Data; {
	case f.Link == LinkLinuxSLL && len(b) > sllSize:
		return binary.BigEndian.Uint16(b[14:]), b[sllSize:]
	case f.Link == LinkLinuxSLL2 && len(b) > sll2Size:
		return binary.BigEndian.Uint16(b), b[sll2Size:]
	}
	return 0, nil
}
