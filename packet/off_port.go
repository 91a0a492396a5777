package packet

import (
	"bytes"
	"encoding/binary"
)

// DecodeOffPort decodes a packet on IP that no receiver takes for RoCEv2, since its version, protocol or UDP destination port is another one, but
// whose ICRC shows that it was sent as such. b begins with the IP header; p.Data is a copy. The result is true where b is such a packet: then FlawVersion,
// FlawProtocol or FlawPort is set.
func DecodeOffPort(p *Packet, b []byte, wireLen int) bool {
	if len(b) < ipv4Size+udpSize+bthSize+icrcSize || len(b) < wireLen {
		return false
	}
	switch version := b[0] >> 4; {
	case version == 4:
		return b[0] == 0x45 && offPort(p, b, wireLen, 4)
	case version == 6:
		return offPort(p, b, wireLen, 6)
	}
	return b[0]&0xF == 5 && offPort(p, b, wireLen, 4) || offPort(p, b, wireLen, 6)
}

// offPort decodes a packet as one of an IP version.
func offPort(p *Packet, b []byte, wireLen int, version byte) bool {
	next, ports := 9, ipv4Size
	if version == 6 {
		if next, ports = 6, ipv6Size; len(b) < ipv6Size+udpSize+bthSize+icrcSize {
			return false
		}
	}
	flaw := offPortFlaw(b, next, ports, version)
	if flaw == 0 {
		return false
	}
	to := binary.BigEndian.Uint16(b[ports+2:])
	c := bytes.Clone(b)
	if flaw == FlawVersion {
		c[0] = version<<4 | c[0]&0xF
	}
	c[next] = protoUDP
	binary.BigEndian.PutUint16(c[ports+2:], UDPPort)
	if !DecodeIP(p, c, wireLen) || p.Flaws&^FlawDiscard != 0 || p.Cut {
		return false
	}
	p.Flaws = 0 // nobody takes it whatever its checksum
	c[0], c[next] = b[0], b[next]
	binary.BigEndian.PutUint16(c[ports+2:], to)
	p.Usual, p.IPVer, p.NxtHdr, p.DstPort = false, b[0]>>4, b[next], to
	if p.CheckICRC(); p.ICRCState != CRCGood || p.Flaws != 0 {
		return false
	}
	p.Flaws |= flaw
	return true
}

// offPortFlaw is what keeps a receiver from taking a packet for RoCEv2, if that is one thing only; 0 where it is none, or more. next is where the protocol is.
func offPortFlaw(b []byte, next, ports int, version byte) Flaw {
	udp := b[next] == protoUDP
	from, to := binary.BigEndian.Uint16(b[ports:]), binary.BigEndian.Uint16(b[ports+2:])
	switch {
	case b[0]>>4 != version:
		if udp && to == UDPPort {
			return FlawVersion
		}
	case udp && to == UDPPort:
	case to == UDPPort:
		return FlawProtocol
	case udp && (from == UDPPort || plausible(b, ports, version)):
		return FlawPort
	}
	return 0
}

// plausible reports whether what follows the UDP header at ports may be a BTH, so that it is worth while to compute the ICRC: random bytes are
// in one of some ten thousand packets.
func plausible(b []byte, ports int, version byte) bool {
	end := int(binary.BigEndian.Uint16(b[2:]))
	if version == 6 {
		end = ipv6Size + int(binary.BigEndian.Uint16(b[4:]))
	}
	h := b[ports+udpSize : ports+udpSize+bthSize]
	const tVer, resv7 = 0xF, 0x7F
	return int(binary.BigEndian.Uint16(b[ports+4:])) == end-ports && end&3 == 0 && end <= len(b) && infos[h[0]].Defined && h[1]&tVer == 0 && h[8]&resv7 == 0 &&
		binary.BigEndian.Uint16(h[2:])&0x7FFF != 0 && !tunnelPort(binary.BigEndian.Uint16(b[ports+2:]))
}

// tunnelPort reports whether a UDP port is one of VXLAN or Geneve, whose headers look like a BTH.
func tunnelPort(port uint16) bool { return port == 4789 || port == 8472 || port == 6081 }
