package packet

import (
	"encoding/binary"
	"slices"
)

// Append writes the packet after dst, verbatim from its fields: the headers of Has in their order on the wire, Payload,
// Pad, ICRC and VCRC. Nothing is computed and nothing is corrected, so that a packet with any fault can be written;
// Complete computes. Without an LRH the network header's addresses are Src and Dst; with one they are SGID and DGID.
//
// The fields do not hold IPv4 options and IPv6 extension headers: where a decoded packet had some, they are copied from Data.
func (p *Packet) Append(dst []byte) []byte {
	return p.appendTransport(p.appendNetwork(dst))
}

// appendTransport writes what follows the network headers.
func (p *Packet) appendTransport(dst []byte) []byte {
	if p.Has&HasRWH != 0 {
		dst = be16(dst, p.RWHRes)
		dst = be16(dst, p.EtherType)
	}
	if p.Has&HasBTH != 0 {
		dst = p.appendBTH(dst)
		dst = p.appendExtensions(dst)
	}
	dst = append(dst, p.Payload...)
	dst = append(dst, p.Pad...)
	if p.Has&HasICRC != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, p.ICRC)
	}
	if p.Has&HasVCRC != 0 {
		dst = binary.LittleEndian.AppendUint16(dst, p.VCRC)
	}
	return dst
}

// appendNetwork writes the headers before the BTH or RWH.
func (p *Packet) appendNetwork(dst []byte) []byte {
	if p.Has&HasLRH != 0 {
		dst = append(dst, p.VL<<4|p.LVer&0xF, p.SL<<4|p.LRHRes>>5&3<<2|p.LNH&3)
		dst = be16(dst, p.DLID)
		dst = be16(dst, uint16(p.LRHRes&0x1F)<<11|p.PktLen&0x7FF)
		dst = be16(dst, p.SLID)
	}
	switch {
	case p.Has&(HasGRH|HasIPv6) != 0:
		dst = p.appendIPv6(dst)
	case p.Has&HasIPv4 != 0:
		dst = p.appendIPv4(dst)
	}
	if p.Has&HasUDP != 0 {
		h := (*[udpSize]byte)(room(&dst, udpSize))
		binary.BigEndian.PutUint16(h[0:], p.SrcPort)
		binary.BigEndian.PutUint16(h[2:], p.DstPort)
		binary.BigEndian.PutUint16(h[4:], p.UDPLen)
		binary.BigEndian.PutUint16(h[6:], p.UDPSum)
	}
	return dst
}

// room makes dst longer by n bytes, and returns these.
func room(dst *[]byte, n int) []byte {
	at := len(*dst)
	*dst = slices.Grow(*dst, n)[:at+n]
	return (*dst)[at:]
}

const etherSize = 14

// AppendEthernet is Append with an Ethernet header before the packet. The frame check sequence is not written, as
// captures do not have it.
func (p *Packet) AppendEthernet(dst []byte, srcMAC, dstMAC [6]byte) []byte {
	kind := uint16(0x8915)
	switch {
	case p.Has&HasIPv4 != 0:
		kind = 0x0800
	case p.Has&HasIPv6 != 0:
		kind = 0x86DD
	}
	h := (*[etherSize]byte)(room(&dst, etherSize))
	*(*[6]byte)(h[0:]) = dstMAC
	*(*[6]byte)(h[6:]) = srcMAC
	binary.BigEndian.PutUint16(h[12:], kind)
	return p.Append(dst)
}

func be16(dst []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(dst, v) }
func be32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }
func be64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }

func (p *Packet) networkAddrs() (src, dst Addr) {
	if p.Has&HasLRH != 0 {
		return p.SGID, p.DGID
	}
	return p.Src, p.Dst
}

func (p *Packet) appendIPv6(dst []byte) []byte {
	s, d := p.networkAddrs()
	dst = be32(dst, uint32(p.IPVer&0xF)<<28|uint32(p.TClass)<<20|p.FlowLabel&0xFFFFF)
	dst = be16(dst, p.PayLen)
	dst = append(dst, p.NxtHdr, p.HopLmt)
	dst = be64(be64(dst, s.Hi), s.Lo)
	dst = be64(be64(dst, d.Hi), d.Lo)
	if p.Flaws&FlawExtension != 0 {
		dst = p.appendFromData(dst, ipv6Size, p.BTHOff-udpSize)
	}
	return dst
}

func (p *Packet) appendIPv4(dst []byte) []byte {
	s, d := p.networkAddrs()
	h := (*[ipv4Size]byte)(room(&dst, ipv4Size))
	h[0], h[1] = p.IPVer<<4|p.IHL&0xF, p.TClass
	binary.BigEndian.PutUint16(h[2:], p.PayLen)
	binary.BigEndian.PutUint16(h[4:], p.IPID)
	binary.BigEndian.PutUint16(h[6:], p.IPFrag)
	h[8], h[9] = p.HopLmt, p.NxtHdr
	binary.BigEndian.PutUint16(h[10:], p.IPSum)
	binary.BigEndian.PutUint32(h[12:], uint32(s.Lo))
	binary.BigEndian.PutUint32(h[16:], uint32(d.Lo))
	return p.appendFromData(dst, ipv4Size, int(p.IHL)*4)
}

func (p *Packet) appendFromData(dst []byte, from, to int) []byte {
	if from < to && to <= len(p.Data) {
		dst = append(dst, p.Data[from:to]...)
	}
	return dst
}

func (p *Packet) appendBTH(dst []byte) []byte {
	flags := p.PadCnt&3<<4 | p.TVer&0xF | bit(p.SE, 0x80) | bit(p.MigReq, 0x40)
	h := (*[bthSize]byte)(room(&dst, bthSize))
	h[0], h[1] = uint8(p.Opcode), flags
	binary.BigEndian.PutUint16(h[2:], p.PKey)
	binary.BigEndian.PutUint32(h[4:], uint32(p.Resv8a&0x3F|bit(p.FECN, 0x80)|bit(p.BECN, 0x40))<<24|p.DestQP&PSNMask)
	binary.BigEndian.PutUint32(h[8:], uint32(p.Resv7&0x7F|bit(p.AckReq, 0x80))<<24|uint32(p.PSN)&PSNMask)
	return dst
}

func bit(set bool, mask uint8) uint8 {
	if set {
		return mask
	}
	return 0
}

func (p *Packet) appendExtensions(dst []byte) []byte {
	if p.Has&HasRDETH != 0 {
		dst = be32(dst, uint32(p.RDETHRes)<<24|p.EEC&PSNMask)
	}
	if p.Has&HasDETH != 0 {
		dst = be32(dst, p.QKey)
		dst = be32(dst, uint32(p.DETHRes)<<24|p.SrcQP&PSNMask)
	}
	if p.Has&HasXRCETH != 0 {
		dst = be32(dst, uint32(p.XRCRes)<<24|p.XRCSRQ&PSNMask)
	}
	if p.Has&HasFETH != 0 {
		dst = be32(dst, p.FETH)
	}
	if p.Has&HasRETH != 0 {
		dst = be64(dst, p.VA)
		dst = be32(dst, p.RKey)
		dst = be32(dst, p.DMALen)
	}
	if p.Has&HasAtomicETH != 0 {
		dst = be64(dst, p.VA)
		dst = be32(dst, p.RKey)
		dst = be64(dst, p.SwapAdd)
		dst = be64(dst, p.Compare)
	}
	if p.Has&HasAETH != 0 {
		dst = be32(dst, uint32(p.Syndrome)<<24|p.MSN&PSNMask)
	}
	if p.Has&HasAtomicAckETH != 0 {
		dst = be64(dst, p.OrigData)
	}
	if p.Has&HasImmDt != 0 {
		dst = be32(dst, p.Imm)
	}
	if p.Has&HasIETH != 0 {
		dst = be32(dst, p.InvRKey)
	}
	return dst
}
