package packet

import "encoding/binary"

// Values of LNH: what follows the LRH (rule LNK-LRH-004).
const (
	LNHRaw    uint8 = 0 // RWH
	LNHIPv6   uint8 = 1 // raw IPv6
	LNHLocal  uint8 = 2 // BTH
	LNHGlobal uint8 = 3 // GRH, BTH
)

// DecodeInfiniBand decodes a packet of a native InfiniBand link, which begins with its LRH. wireLen is how many bytes
// the frame had on the wire from b[0] on. The VCRC may or may not be captured: PktLen says where the packet ends, and
// two more bytes on the wire are the VCRC. The result is false, and p undefined, where not even the LRH was captured.
//
// A raw packet (LNH 0 and 1) has neither BTH nor ICRC: what follows its RWH or IPv6 header is payload.
func DecodeInfiniBand(p *Packet, b []byte, wireLen int) bool {
	if len(b) < lrhSize {
		return false
	}
	p.reset()
	p.Encap = Native
	w := binary.BigEndian.Uint64(b)
	p.VL = uint8(w >> 60)
	p.LVer = uint8(w>>56) & 0xF
	p.SL = uint8(w >> 52 & 0xF)
	p.LNH = uint8(w>>48) & 3
	p.LRHRes = uint8(w>>50)&3<<5 | uint8(w>>27)&0x1F
	p.DLID = uint16(w >> 32)
	p.PktLen = uint16(w>>16) & 0x7FF
	p.SLID = uint16(w)
	p.Src, p.Dst = LIDAddr(p.SLID), LIDAddr(p.DLID)
	end := int(p.PktLen) * 4
	if wireLen = max(wireLen, len(b)); end > wireLen {
		p.Flaws |= FlawLRHLength
		end = wireLen
	}
	switch p.LNH {
	case LNHLocal:
		p.transport(b, lrhSize, end, HasLRH)
	case LNHGlobal:
		p.global(b, end)
	default:
		p.raw(b, end)
	}
	if end >= lrhSize && end+vcrcSize <= len(b) {
		p.Has |= HasVCRC
		p.VCRC = binary.LittleEndian.Uint16(b[end:])
		p.Data = b[: end+vcrcSize : len(b)]
	}
	return true
}

func (p *Packet) global(b []byte, end int) {
	at, has := lrhSize+grhSize, HasLRH
	if at <= min(len(b), end) {
		has |= HasGRH
		p.grh(b[lrhSize:])
		if int(p.PktLen)*4 != at+int(p.PayLen) {
			p.Flaws |= FlawLRHLength
		}
	}
	p.transport(b, at, end, has)
}

func (p *Packet) raw(b []byte, end int) {
	at, has := lrhSize+rwhSize, HasRWH
	if p.LNH == LNHIPv6 {
		at, has = lrhSize+ipv6Size, HasIPv6
	}
	have := min(len(b), end)
	p.Has = HasLRH
	p.Cut = end > len(b)
	p.Data = b[:have:len(b)]
	if at > end {
		p.Flaws |= FlawShort
	}
	if at > have {
		return
	}
	p.Has |= has
	if has == HasRWH {
		w := binary.BigEndian.Uint32(b[lrhSize:])
		p.RWHRes, p.EtherType = uint16(w>>16), uint16(w)
	} else if p.ipv6Header(b[lrhSize:]); p.IPVer != 6 {
		p.Flaws |= FlawVersion
	}
	p.PayloadLen = end - at
	p.Payload = captured(b, at, end)
}
