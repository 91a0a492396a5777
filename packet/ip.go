package packet

import (
	"encoding/binary"
	"math/bits"
)

// UDPPort is the UDP destination port of RoCEv2 (CA17-20).
const UDPPort = 4791

const protoUDP = 17

// DecodeIP decodes a packet that begins with an IPv4 or IPv6 header. wireLen is how many bytes the frame had on the
// wire from b[0] on, more than len(b) where the snap length cut it. The result is false, and p undefined, where the
// packet is not RoCEv2: the UDP destination port decides. Payload, Pad and Data are views on b.
//
// Lengths come from the IP header, so padding and FCS after the packet do no harm. A packet cut off before the end of
// its UDP ports, and an IP fragment after the first, cannot be distinguished from other traffic and give false.
func DecodeIP(p *Packet, b []byte, wireLen int) bool {
	if len(b) < ipv4Size+udpSize+bthSize {
		return decodeCutIP(p, b, wireLen)
	}
	const bth, at = ipv4Size + udpSize, ipv4Size + udpSize + bthSize
	h := (*[at]byte)(b)
	if h[0] != 0x45 {
		return decodeOddIP(p, b, wireLen)
	}
	// What nearly every packet is: IPv4 without options or fragments, its lengths true.
	udp := binary.BigEndian.Uint64(h[ipv4Size:])
	if uint16(udp>>32) != UDPPort || h[9] != protoUDP {
		return false
	}
	p.begin()
	w := binary.BigEndian.Uint64(h[:])
	x := binary.BigEndian.Uint64(h[8:])
	y := binary.BigEndian.Uint32(h[16:])
	end := int(w >> 32 & 0xFFFF)
	l := &layouts[h[bth]]
	if w&0x3FFF != 0 || end > len(b) || int(udp>>16&0xFFFF) != end-ipv4Size ||
		at+int(l.least)+int(h[bth+1]>>4&3)+icrcSize > end {
		return p.ipv4(b, wireLen)
	}
	p.Encap, p.Usual = RoCEv2IPv4, true
	if uint16(x>>32) != 0 && !summed(w, x, uint64(y)) || x>>56 == 0 {
		p.Flaws, p.Usual = FlawDiscard, false
	}
	src, dst := Addr{0, 0xFFFF<<32 | x&0xFFFFFFFF}, Addr{0, 0xFFFF<<32 | uint64(y)}
	p.Src, p.Dst, p.SGID, p.DGID = src, dst, src, dst
	p.IPFrag = uint16(w)
	p.IPID = uint16(w >> 16)
	p.PayLen = uint16(w >> 32)
	p.TClass = uint8(w >> 48)
	p.IHL = ipv4Size / 4
	p.UDPSum = uint16(udp)
	p.UDPLen = uint16(udp >> 16)
	p.DstPort = uint16(udp >> 32)
	p.SrcPort = uint16(udp >> 48)
	p.network(uint32(x >> 32))
	p.IPVer = 4
	p.bth((*[bthSize]byte)(h[bth:]))
	p.Has = l.has | HasIPv4 | HasUDP | HasBTH | HasICRC
	p.BTHOff = bth
	p.afterBTH(b[at:end], l)
	p.Data = b[:end:len(b)]
	return true
}

// summed reports whether an IPv4 header, as numbers of 64 bits, has the checksum that belongs to it: the ones' complement sum of its words is 0,
// which says that they divide by 0xFFFF.
func summed(w, x, y uint64) bool {
	sum, carry := bits.Add64(w, x, 0)
	sum, carry = bits.Add64(sum, y, carry)
	return (sum+carry)%0xFFFF == 0
}

func decodeOddIP(p *Packet, b []byte, wireLen int) bool {
	switch b[0] >> 4 {
	case 4:
		return p.ipv4(b, wireLen)
	case 6:
		return p.ipv6(b, wireLen)
	}
	return false
}

// decodeCutIP knows a RoCEv2 packet of which the snap length left the UDP ports and little more.
func decodeCutIP(p *Packet, b []byte, wireLen int) bool {
	return len(b) >= ipv4Size+4 && decodeOddIP(p, b, wireLen)
}

func (p *Packet) ipv4(b []byte, wireLen int) bool {
	hl := int(b[0]&0xF) * 4
	w := binary.BigEndian.Uint64(b)
	x := binary.BigEndian.Uint64(b[8:])
	y := binary.BigEndian.Uint32(b[16:])
	if uint8(x>>48) != protoUDP || hl < ipv4Size || len(b) < hl+4 || binary.BigEndian.Uint16(b[hl+2:]) != UDPPort {
		return false
	}
	// A later fragment has no UDP header. Where the length of one is just the packet's, it is the offset that is wrong (ROC-V2-008).
	if w&0x1FFF != 0 && (w&0x2000 != 0 || len(b) < hl+udpSize || int(binary.BigEndian.Uint16(b[hl+4:])) != int(w>>32&0xFFFF)-hl) {
		return false
	}
	p.begin()
	p.Encap = RoCEv2IPv4
	p.Src = Addr{0, 0xFFFF<<32 | x&0xFFFFFFFF}
	p.Dst = Addr{0, 0xFFFF<<32 | uint64(y)}
	p.SGID = Addr{0, 0xFFFF<<32 | x&0xFFFFFFFF}
	p.DGID = Addr{0, 0xFFFF<<32 | uint64(y)}
	v := w & (1<<60 - 1)
	p.IPFrag = uint16(v)
	p.IPID = uint16(v >> 16)
	p.PayLen = uint16(v >> 32)
	p.TClass = uint8(v >> 48)
	p.IHL = uint8(v >> 56)
	p.network(uint32(x >> 32))
	p.IPVer = 4
	if p.HopLmt == 0 || p.IPSum != 0 && len(b) >= hl && !headerSummed(b[:hl]) {
		p.Flaws |= FlawDiscard
	}
	p.udp(b, hl, int(p.PayLen), wireLen, HasIPv4|HasUDP, w&0x2000 != 0)
	return true
}

// headerSummed is summed of a header with options.
func headerSummed(h []byte) bool {
	sum := uint64(0)
	for ; len(h) >= 4; h = h[4:] {
		sum += uint64(binary.BigEndian.Uint32(h))
	}
	return summed(sum, 0, 0)
}

// network sets the last 16 bits of the first half of an IPv4 header and the two bytes before them.
func (p *Packet) network(x uint32) {
	p.IPSum = uint16(x)
	p.NxtHdr = uint8(x >> 16)
	p.HopLmt = uint8(x >> 24)
}

func (p *Packet) ipv6(b []byte, wireLen int) bool {
	if len(b) < ipv6Size+4 {
		return false
	}
	at, more, flaws, ok := ipv6Size, false, Flaw(0), true
	if b[6] != protoUDP {
		if at, more, ok = skipIPv6Extensions(b); !ok {
			return false
		}
		flaws = FlawExtension
	}
	if binary.BigEndian.Uint16(b[at+2:]) != UDPPort {
		return false
	}
	p.begin()
	p.Encap = RoCEv2IPv6
	p.Flaws = flaws
	p.ipv6Header(b)
	p.Src, p.Dst = p.SGID, p.DGID
	if p.HopLmt == 0 {
		p.Flaws |= FlawDiscard
	}
	p.udp(b, at, ipv6Size+int(p.PayLen), wireLen, HasIPv6|HasUDP, more)
	return true
}

// ipv6Header reads an IPv6 header or a GRH: they have one layout.
func (p *Packet) ipv6Header(b []byte) {
	w := binary.BigEndian.Uint64(b[:ipv6Size])
	p.IPFrag, p.IPID, p.IHL, p.IPSum = 0, 0, 0, 0
	p.IPVer = uint8(w >> 60)
	p.TClass = uint8(w >> 52)
	p.FlowLabel = uint32(w>>32) & 0xFFFFF
	p.PayLen = uint16(w >> 16)
	p.NxtHdr = uint8(w >> 8)
	p.HopLmt = uint8(w)
	p.SGID = GIDAddr(b[8:24])
	p.DGID = GIDAddr(b[24:40])
}

// skipIPv6Extensions returns the offset of the UDP header and whether more fragments follow. It is false where there is
// no UDP header, or not in this fragment, or its ports were cut off.
func skipIPv6Extensions(b []byte) (at int, more, ok bool) {
	next := b[6]
	at = ipv6Size
	for next != protoUDP {
		if len(b) < at+8 {
			return 0, false, false
		}
		size := 8 + 8*int(b[at+1])
		switch next {
		case 0, 43, 60: // hop-by-hop options, routing, destination options
		case 51: // authentication header: its length counts words
			size = 8 + 4*int(b[at+1])
		case 44: // fragment
			off := binary.BigEndian.Uint16(b[at+2:])
			if off&^7 != 0 {
				return 0, false, false
			}
			more, size = off&1 != 0, 8
		default:
			return 0, false, false
		}
		next = b[at]
		at += size
	}
	return at, more, len(b) >= at+4
}

// udp decodes the UDP header at off and what follows. end is the end of the packet by the IP header; more says that
// this is the first of several fragments.
func (p *Packet) udp(b []byte, off, end, wireLen int, has Has, more bool) {
	if off+udpSize > min(len(b), end) || end > len(b) && end > wireLen || more {
		p.udpOdd(b, off, end, max(wireLen, len(b)), has, more)
		return
	}
	w := binary.BigEndian.Uint64(b[off:])
	p.UDPSum = uint16(w)
	p.UDPLen = uint16(w >> 16)
	p.DstPort = uint16(w >> 32)
	p.SrcPort = uint16(w >> 48)
	if int(w>>16&0xFFFF) != end-off {
		p.Flaws |= FlawUDPLength
	}
	p.transport(b, off+udpSize, end, has)
}

// udpOdd is udp for a packet whose IP length lies, that is a first fragment, or that is cut off in the UDP header.
func (p *Packet) udpOdd(b []byte, off, end, wireLen int, has Has, more bool) {
	claimed := end
	if end > wireLen {
		p.Flaws |= FlawIPLength
		end = wireLen
	}
	p.SrcPort, p.DstPort, p.UDPLen, p.UDPSum = binary.BigEndian.Uint16(b[off:]), UDPPort, 0, 0
	if off+udpSize > min(len(b), end) {
		p.transportRest(b, off+udpSize, end, has&^HasUDP)
		return
	}
	p.UDPLen = binary.BigEndian.Uint16(b[off+4:])
	p.UDPSum = binary.BigEndian.Uint16(b[off+6:])
	if more {
		p.Flaws |= FlawFragment
		if whole := off + int(p.UDPLen); whole > end {
			// The UDP length counts all fragments, and so do PayloadLen and where the ICRC would be.
			b, end, claimed = b[:min(len(b), end)], whole, whole
		}
	}
	if int(p.UDPLen) != claimed-off {
		p.Flaws |= FlawUDPLength
	}
	p.transport(b, off+udpSize, end, has)
}
