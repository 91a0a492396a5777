package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Reason is why a router or host discarded a packet.
type Reason uint8

// The reasons. That a packet is too big is an outcome of decoding: see Refused.
const (
	NoHopsLeft Reason = iota
	NoRoute
	NoHost
	NoPort
	Prohibited
)

func (r Reason) String() string {
	return [...]string{"time exceeded", "network unreachable", "host unreachable", "port unreachable", "administratively prohibited"}[r]
}

// Discard is a RoCEv2 packet that a router or host discarded, as it tells the sender by ICMP.
type Discard struct {
	By       packet.Addr // who discarded it
	From, To packet.Addr // of the packet
	Reason   Reason
}

const (
	icmpTimeExceeded                  = 11 // RFC 792
	icmpv6Unreachable, icmpv6Exceeded = 1, 3

	inTransit = 0 // code of both that the hop limit ran out, and not the time for reassembly
)

// DiscardOf returns the RoCEv2 packet that an ICMP message quotes which says that it was discarded; ok is false for all other frames.
func DiscardOf(f *Frame) (d Discard, ok bool) {
	var quote []byte
	switch kind, b := afterEther(f); {
	case kind == etherIPv4 && len(b) > ipv4Size+icmpSize && b[0] == 0x45 && b[9] == protoICMP && binary.BigEndian.Uint16(b[6:])&0x3FFF == 0:
		d.By = packet.IPv4Addr(b[12:16])
		d.Reason, ok = reasonv4(b[ipv4Size], b[ipv4Size+1])
		quote = b[ipv4Size+icmpSize:]
		ok = ok && len(quote) >= ipv4Size+4 && quote[0]>>4 == 4
	case kind == etherIPv6 && len(b) > ipv6Size+icmpSize && b[0]>>4 == 6 && b[6] == protoICMPv6:
		d.By = packet.GIDAddr(b[8:24])
		d.Reason, ok = reasonv6(b[ipv6Size], b[ipv6Size+1])
		quote = b[ipv6Size+icmpSize:]
		ok = ok && len(quote) >= ipv6Size+4 && quote[0]>>4 == 6
	}
	if !ok || !d.of(quote) {
		return Discard{}, false
	}
	return d, true
}

// of takes the packet that is quoted, and reports whether it goes to RoCEv2.
func (d *Discard) of(b []byte) bool {
	protocol, udp := b[9], int(b[0]&15)*4
	if b[0]>>4 == 6 {
		protocol, udp = b[6], ipv6Size
		d.From, d.To = packet.GIDAddr(b[8:24]), packet.GIDAddr(b[24:40])
	} else {
		d.From, d.To = packet.IPv4Addr(b[12:16]), packet.IPv4Addr(b[16:20])
	}
	return protocol == protoUDP && len(b) >= udp+4 && binary.BigEndian.Uint16(b[udp+2:]) == packet.UDPPort
}

func reasonv4(kind, code byte) (Reason, bool) {
	switch {
	case kind == icmpTimeExceeded:
		return NoHopsLeft, code == inTransit
	case kind != icmpUnreachable:
		return 0, false
	}
	switch code {
	case 0, 6, 11: // of the network; unknown; for the type of service
		return NoRoute, true
	case 1, 7, 12: // of the host; unknown; for the type of service
		return NoHost, true
	case 3:
		return NoPort, true
	case 9, 10, 13: // the network, the host, communication
		return Prohibited, true
	}
	return 0, false
}

func reasonv6(kind, code byte) (Reason, bool) {
	switch {
	case kind == icmpv6Exceeded:
		return NoHopsLeft, code == inTransit
	case kind != icmpv6Unreachable:
		return 0, false
	}
	switch code {
	case 0:
		return NoRoute, true
	case 3:
		return NoHost, true
	case 4:
		return NoPort, true
	case 1, 5, 6: // prohibited; source address failed policy; route rejects
		return Prohibited, true
	}
	return 0, false
}
