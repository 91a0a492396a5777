package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	etherARP  = 0x0806
	etherLLDP = 0x88CC
	protoTCP  = 6
)

// Means is by what kind of frame a host or a port shows to be up.
type Means uint8

// The means.
const (
	ByARP  Means = iota
	ByLLDP       // of a port
	ByND         // IPv6 neighbor discovery, or a report of multicast listeners, of a link-local address
	ByDAD        // the same of no address yet, for a link-local one or for multicast, as an interface sends that comes up
	ByFIN
	ByRST
	ByTCP
	ByICMP
	ByUDP
	ByIP // of another protocol
)

func (m Means) String() string {
	return [...]string{"ARP", "LLDP", "ICMPv6", "IPv6 duplicate address detection", "a TCP FIN", "a TCP RST", "TCP", "ICMP", "UDP", "IP"}[m]
}

// Closes reports whether it ends a TCP connection.
func (m Means) Closes() bool { return m == ByFIN || m == ByRST }

// Presence is who shows to be up by a frame that holds no RDMA packet: a host, or a port.
type Presence struct {
	Host    packet.Addr // who sent it; the zero address of LLDP and of what has no address yet
	To      packet.Addr // to whom; of ARP whom it asks for, and zero where it answers
	Station uint64      // the Ethernet address that sent it; 0: not known
	Ports   [2]uint16   // of TCP and UDP: source and destination
	By      Means
}

// PresenceOf returns who shows to be up by a frame, perhaps with VLAN tags; ok is false for all others.
func PresenceOf(f *Frame) (p Presence, ok bool) {
	if p.of(f) {
		return p, true
	}
	return Presence{}, false
}

func (p *Presence) of(f *Frame) bool {
	if f.Link == LinkEthernet {
		if len(f.Data) < etherSize {
			return false
		}
		p.Station = binary.BigEndian.Uint64(f.Data[4:]) & (1<<48 - 1)
	}
	switch kind, b := afterEther(f); {
	case kind == etherARP:
		return p.arp(b)
	case kind == etherLLDP && p.Station != 0:
		p.By = ByLLDP
		return true
	case kind == etherIPv4 && len(b) >= ipv4Size && b[0]>>4 == 4 && int(b[0]&15)*4 >= ipv4Size:
		p.Host, p.To = packet.IPv4Addr(b[12:16]), packet.IPv4Addr(b[16:20])
		return binary.BigEndian.Uint32(b[12:]) != 0 && p.protocol(b[9], b[min(len(b), int(b[0]&15)*4):], binary.BigEndian.Uint16(b[6:])&0x1FFF == 0)
	case kind == etherIPv6 && len(b) >= ipv6Size && b[0]>>4 == 6:
		p.Host, p.To = packet.GIDAddr(b[8:24]), packet.GIDAddr(b[24:40])
		return p.v6(b[6], b[ipv6Size:])
	}
	return false
}

func (p *Presence) arp(b []byte) bool {
	const (
		forIPv4 = 1<<48 | etherIPv4<<32 | 6<<24 | 4<<16 // of Ethernet and IPv4, with addresses of 6 and 4 bytes
		request = 1
		sender  = 14
		target  = 24
		length  = 28
	)
	if len(b) < length || p.Station == 0 || binary.BigEndian.Uint64(b)&^0xFFFF != forIPv4 || binary.BigEndian.Uint32(b[sender:]) == 0 {
		return false
	}
	p.Host = packet.IPv4Addr(b[sender : sender+4])
	if b[7] == request {
		p.To = packet.IPv4Addr(b[target : target+4])
	}
	return true
}

// v6 takes what follows an IPv6 header.
func (p *Presence) v6(next byte, b []byte) bool {
	const hopByHop, routerAlert = 0, 8 // the header that reports of multicast listeners have
	if next == hopByHop && len(b) >= routerAlert && b[1] == 0 {
		next, b = b[0], b[routerAlert:]
	}
	unspecified, local := p.Host.IsZero(), p.Host.Hi>>54 == 0xFE80>>6
	if next != protoICMPv6 || !unspecified && !local {
		return !unspecified && p.protocol(next, b, true)
	}
	const (
		report, done, solicit, neighbor, advertise, report2 = 131, 132, 133, 135, 136, 143

		target = 8
	)
	if len(b) == 0 {
		return false
	}
	switch b[0] {
	case report, done, solicit, neighbor, advertise, report2:
		if p.By = ByND; unspecified && (b[0] == report || b[0] == report2 || b[0] == neighbor && len(b) >= target+2 && binary.BigEndian.Uint16(b[target:])>>6 == 0xFE80>>6) {
			p.By = ByDAD
		}
		return true
	}
	p.By = ByICMP
	return !unspecified
}

// protocol takes what follows an IP header; first says that it is the first fragment.
func (p *Presence) protocol(n byte, b []byte, first bool) bool {
	const fin, rst = 1, 4
	p.By = ByIP
	switch {
	case n == protoICMP, n == protoICMPv6:
		p.By = ByICMP
	case n == protoUDP:
		if p.By = ByUDP; !first || len(b) < 4 {
			return true
		}
		p.Ports = [2]uint16{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}
		return p.Ports[1] != packet.UDPPort
	case n == protoTCP && first && len(b) >= 14:
		p.By, p.Ports = ByTCP, [2]uint16{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])}
		if b[13]&rst != 0 {
			p.By = ByRST
		} else if b[13]&fin != 0 {
			p.By = ByFIN
		}
	case n == protoTCP:
		p.By = ByTCP
	}
	return true
}
