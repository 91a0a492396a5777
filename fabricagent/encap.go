package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	// maxTunnels is how deep tunnels inside tunnels are followed.
	maxTunnels = 4

	protoIPv4 = 4
	protoUDP  = 17
	protoIPv6 = 41
	protoGRE  = 47
	protoESP  = 50
	protoMPLS = 137

	portVXLAN      = 4789
	portVXLANLinux = 8472 // what Linux used before the port was assigned, and still does unless told
	portGeneve     = 6081

	ipv4Size   = 20
	ipv6Size   = 40
	udpSize    = 8
	vxlanSize  = 8
	geneveSize = 8
)

// tunnel looks into an IP packet that is not RoCEv2 itself: for one inside a tunnel, or quoted. For most traffic its protocol number is enough.
func tunnel(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if packet.DecodeOffPort(p, b, wire) {
		return judge(p, true, depth)
	}
	if len(b) < ipv4Size {
		return short(b, wire)
	}
	switch b[0] >> 4 {
	case 4:
		switch b[9] {
		case protoUDP, protoGRE, protoESP, protoIPv4, protoIPv6, protoMPLS:
			return tunnelIPv4(p, b, wire, depth)
		case protoICMP:
			return refused(p, b, wire, int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:])))
		}
	case 6:
		switch b[6] {
		case protoUDP, protoGRE, protoESP, protoIPv4, protoIPv6, protoMPLS, 0, 43, 60:
			return tunnelIPv6(p, b, wire, depth)
		case protoICMPv6:
			return refused(p, b, wire, ipv6Size, ipv6Size+int(binary.BigEndian.Uint16(b[4:])))
		}
	}
	return NotRDMA
}

func tunnelIPv4(p *packet.Packet, b []byte, wire, depth int) Outcome {
	at, end := int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:]))
	frag := binary.BigEndian.Uint16(b[6:])
	if frag&0x1fff != 0 || at < ipv4Size {
		return NotRDMA
	}
	if len(b) < at {
		return short(b, wire)
	}
	b, wire = trim(b, wire, end)
	if frag&0x2000 != 0 {
		wire = max(wire, unlimited)
	}
	o := tunnelled(p, b[min(at, len(b)):], wire-at, b[9], depth)
	if o == Encapsulated {
		marked(p, b[1])
	}
	return o
}

// marked notes the mark of a switch on the outer IP header of a tunnel, which the end of the tunnel hands to the packet inside (RFC 6040).
// Where the tunnel brings a copy from a mirror it was not the packet that was marked.
func marked(p *packet.Packet, outer uint8) {
	const ce = 3
	if outer&ce == ce && p.TClass&ce != 0 && p.Has&(packet.HasIPv4|packet.HasIPv6) != 0 {
		p.Flaws, p.Usual = p.Flaws|packet.FlawOuterMark, false
	}
}

func tunnelIPv6(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if len(b) < ipv6Size {
		return short(b, wire)
	}
	at, end := ipv6Size, 0
	if n := int(binary.BigEndian.Uint16(b[4:])); n != 0 {
		end = ipv6Size + n
	}
	b, wire = trim(b, wire, end)
	next := b[6]
	for next == 0 || next == 43 || next == 60 { // hop-by-hop options, routing, destination options
		if len(b) < at+8 {
			return short(b, wire)
		}
		next, at = b[at], at+8+8*int(b[at+1])
	}
	if len(b) < at {
		return short(b, wire)
	}
	o := tunnelled(p, b[at:], wire-at, next, depth)
	if o == Encapsulated {
		marked(p, b[0]<<4|b[1]>>4)
	}
	return o
}

// trim drops what follows the end of a packet by its IP header: padding and FCS. Segmentation offload leaves the
// length 0.
func trim(b []byte, wire, end int) ([]byte, int) {
	if end >= ipv4Size && end < wire {
		wire = end
	}
	if len(b) > wire && wire >= ipv4Size {
		b = b[:wire]
	}
	return b, wire
}

// tunnelled decodes the payload of an IP packet by its protocol.
func tunnelled(p *packet.Packet, b []byte, wire int, proto uint8, depth int) Outcome {
	if proto == protoUDP && len(b) < 4 {
		return short(b, wire) // cut off before the port that would tell
	}
	if depth == maxTunnels {
		return NotRDMA
	}
	switch proto {
	case protoUDP:
		return tunnelUDP(p, b, wire, depth)
	case protoGRE:
		return gre(p, b, wire, depth+1)
	case protoIPv4, protoIPv6:
		return network(p, b, wire, depth+1)
	case protoMPLS:
		return mpls(p, b, wire, depth)
	case protoESP:
		return ESP
	}
	return NotRDMA
}

// tunnelUDP decodes a UDP packet, at least its ports, by its destination port.
func tunnelUDP(p *packet.Packet, b []byte, wire, depth int) Outcome {
	switch binary.BigEndian.Uint16(b[2:]) {
	case portVXLAN, portVXLANLinux:
		if len(b) < udpSize+vxlanSize {
			return short(b, wire)
		}
		return vxlan(p, b[udpSize:], wire-udpSize, depth+1)
	case portGeneve:
		if len(b) < udpSize+geneveSize {
			return short(b, wire)
		}
		return geneve(p, b[udpSize:], wire-udpSize, depth+1)
	}
	return named(b)
}

// vxlan decodes an Ethernet frame after a VXLAN header (RFC 7348), whose network identifier is valid.
func vxlan(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if b[0]&0x08 == 0 {
		return NotRDMA
	}
	return ethernet(p, b[vxlanSize:], wire-vxlanSize, depth)
}

// geneve decodes what follows a Geneve header (RFC 8926).
func geneve(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if b[0]>>6 != 0 {
		return NotRDMA
	}
	size := geneveSize + int(b[0]&0x3f)*4
	if len(b) < size {
		return short(b, wire)
	}
	return carried(p, b[size:], wire-size, binary.BigEndian.Uint16(b[2:]), depth)
}

// carried decodes the payload of a tunnel that names it by an EtherType.
func carried(p *packet.Packet, b []byte, wire int, t uint16, depth int) Outcome {
	if t == etherBridge {
		return ethernet(p, b, wire, depth)
	}
	return etherType(p, b, wire, t, depth)
}

// mpls decodes what follows a stack of labels (RFC 3032). Nothing names it: the first half byte distinguishes IPv4, IPv6
// or a pseudowire control word (RFC 4385); all else is taken for an Ethernet frame.
func mpls(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if depth == maxTunnels {
		return NotRDMA
	}
	for bottom := false; !bottom; b, wire = b[4:], wire-4 {
		if len(b) < 4 {
			return short(b, wire)
		}
		bottom = b[2]&1 != 0
	}
	if len(b) == 0 {
		return short(b, wire)
	}
	switch b[0] >> 4 {
	case 4, 6:
		return network(p, b, wire, depth+1)
	case 0:
		if len(b) < 4 {
			return short(b, wire)
		}
		return ethernet(p, b[4:], wire-4, depth+1)
	}
	return ethernet(p, b, wire, depth+1)
}

// pppoe decodes an IP packet of a PPPoE session (RFC 2516): six bytes of header, two of PPP protocol.
func pppoe(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if depth == maxTunnels {
		return NotRDMA
	}
	if len(b) < 8 {
		return short(b, wire)
	}
	if proto := binary.BigEndian.Uint16(b[6:]); b[0] != 0x11 || b[1] != 0 || proto != 0x0021 && proto != 0x0057 {
		return NotRDMA
	}
	return network(p, b[8:], wire-8, depth+1)
}
