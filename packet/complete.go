package packet

import (
	"encoding/binary"
	"sync"
)

var zeroPad [3]byte

// Complete fills in what a correct sender would: which headers there are, from Encap and Opcode; the fixed fields of LRH,
// GRH, IP and UDP; all lengths; PadCnt and Pad from Payload; the IPv4 header checksum, the ICRC and the VCRC.
// The caller has set Encap, Opcode, Src and Dst, the fields of BTH and of its extension headers, and Payload.
//
// A native packet gets a GRH where Has says HasGRH; its LIDs are SLID and DLID or, where these are 0, those of Src and Dst. Hop
// limit 0 becomes 64. On IPv4 the don't-fragment flag is set (CA17-7). The 16 reserved bytes of a CNP become its Payload. Raw packets are not
// completed: their lengths are not the transport's. Time, Frame, Tap and Way are unchanged, and Data, Cut and Flaws are cleared.
func (p *Packet) Complete() {
	p.complete()
	p.SealICRC()
}

// CompleteEthernet is Complete and AppendEthernet in one step, which writes the packet once.
func (p *Packet) CompleteEthernet(dst []byte, srcMAC, dstMAC [6]byte) []byte {
	p.complete()
	at := len(dst) + etherSize
	dst = p.AppendEthernet(dst, srcMAC, dstMAC)
	p.seal(dst[at:])
	return dst
}

// complete is Complete without ICRC and VCRC.
func (p *Packet) complete() {
	l := layouts[p.Opcode]
	if l.body != 0 && len(p.Payload) == 0 {
		p.Payload = make([]byte, l.body)
	}
	p.Data, p.Cut, p.Flaws = nil, false, 0
	p.PayloadLen = len(p.Payload)
	p.PadCnt = uint8(-len(p.Payload) & 3)
	p.Pad = zeroPad[:p.PadCnt:p.PadCnt]
	n := bthSize + int(l.size) + len(p.Payload) + len(p.Pad) + icrcSize
	grh := p.Has & HasGRH
	p.Has = HasBTH | HasICRC | l.has
	if p.Encap != Native {
		p.SGID, p.DGID = p.Src, p.Dst
	}
	switch p.Encap {
	case Native:
		p.completeNative(grh, n)
	case RoCEv1:
		p.Has |= HasGRH
		p.completeGRH(n)
		p.BTHOff = grhSize
	case RoCEv2IPv4:
		p.completeIPv4(n)
	case RoCEv2IPv6:
		p.completeIPv6(n)
	default:
		p.BTHOff = 0
	}
}

func (p *Packet) completeNative(grh Has, n int) {
	p.Has |= HasLRH | HasVCRC | grh
	p.LVer, p.LRHRes, p.LNH = 0, 0, LNHLocal
	if p.SLID == 0 && p.Src.IsLID() {
		p.SLID = uint16(p.Src.Lo)
	}
	if p.DLID == 0 && p.Dst.IsLID() {
		p.DLID = uint16(p.Dst.Lo)
	}
	p.Src, p.Dst = LIDAddr(p.SLID), LIDAddr(p.DLID)
	p.BTHOff = lrhSize
	if grh != 0 {
		p.LNH = LNHGlobal
		p.completeGRH(n)
		p.BTHOff += grhSize
	}
	p.PktLen = uint16((p.BTHOff+n)/4) & 0x7FF
}

func (p *Packet) completeGRH(n int) {
	p.IPVer, p.NxtHdr, p.PayLen = 6, nextHeaderIBA, uint16(n)
	p.hopLimit()
}

func (p *Packet) hopLimit() {
	if p.HopLmt == 0 {
		p.HopLmt = 64
	}
}

func (p *Packet) completeIPv4(n int) {
	p.Has |= HasIPv4
	p.IPVer, p.IHL, p.NxtHdr, p.IPFrag = 4, ipv4Size/4, protoUDP, 0x4000
	p.hopLimit()
	p.PayLen = uint16(ipv4Size + udpSize + n)
	p.SealIPv4()
	p.completeUDP(ipv4Size, n)
}

func (p *Packet) completeIPv6(n int) {
	p.Has |= HasIPv6
	p.IPVer, p.NxtHdr = 6, protoUDP
	p.hopLimit()
	p.PayLen = uint16(udpSize + n)
	p.completeUDP(ipv6Size, n)
}

func (p *Packet) completeUDP(off, n int) {
	p.Has |= HasUDP
	p.DstPort, p.UDPSum, p.UDPLen = UDPPort, 0, uint16(udpSize+n)
	p.BTHOff = off + udpSize
}

// SealIPv4 recomputes the IPv4 header checksum, and nothing else.
func (p *Packet) SealIPv4() {
	if p.Has&HasIPv4 == 0 {
		return
	}
	if p.IHL <= ipv4Size/4 {
		s, d := p.networkAddrs()
		p.IPSum = folded(uint32(p.IPVer<<4|p.IHL&0xF)<<8 + uint32(p.TClass) + uint32(p.PayLen) + uint32(p.IPID) + uint32(p.IPFrag) +
			uint32(p.HopLmt)<<8 + uint32(p.NxtHdr) + uint32(s.Lo)>>16 + uint32(s.Lo)&0xFFFF + uint32(d.Lo)>>16 + uint32(d.Lo)&0xFFFF)
		return
	}
	p.IPSum = 0
	var buf [60]byte
	sum := uint32(0)
	for h := p.appendIPv4(buf[:0]); len(h) >= 2; h = h[2:] {
		sum += uint32(binary.BigEndian.Uint16(h))
	}
	p.IPSum = folded(sum)
}

// folded is the checksum of the Internet for a sum of 16-bit words.
func folded(sum uint32) uint16 {
	sum = sum>>16 + sum&0xFFFF
	return ^uint16(sum>>16 + sum)
}

var sealBuffers = sync.Pool{New: func() any { return new([]byte) }}

// SealICRC recomputes ICRC and VCRC of the packet that Append writes, where it has them, and nothing else: a packet with
// a fault planted in any other field thus stays one that its receiver takes for undamaged.
func (p *Packet) SealICRC() {
	buf := sealBuffers.Get().(*[]byte)
	b := p.appendNetwork((*buf)[:0])
	bth := len(b)
	b = p.appendTransport(b)
	p.sealAt(b, bth)
	*buf = b
	sealBuffers.Put(buf)
}

// seal computes ICRC and VCRC of a packet as Append has written it, and writes them into it.
func (p *Packet) seal(b []byte) { p.sealAt(b, p.BTHOff) }

// sealAt is seal for a packet whose BTH is at bth.
func (p *Packet) sealAt(b []byte, bth int) {
	end := len(b)
	if p.Has&HasVCRC != 0 {
		end -= vcrcSize
	}
	if p.Has&HasICRC != 0 && p.Has&HasBTH != 0 {
		if off := end - icrcSize; direct && bth == ipv4Size+udpSize && p.Has&(HasLRH|HasIPv4) == HasIPv4 && off >= bth+bthSize {
			p.ICRC = directly(&b[0], off)
		} else {
			q := Packet{Has: p.Has, BTHOff: bth}
			c := checkers.Get().(*Checker)
			p.ICRC = c.compute(&q, b, off)
			checkers.Put(c)
		}
		binary.LittleEndian.PutUint32(b[end-icrcSize:], p.ICRC)
	}
	if p.Has&HasVCRC != 0 {
		p.VCRC = vcrcOf(b[:end])
		binary.LittleEndian.PutUint16(b[end:], p.VCRC)
	}
}
