package packet

import "hash/crc32"

// Trace is what is kept of a packet to recognise it when it is retransmitted: 16 bytes instead of its content. The ICRC
// differs where a byte does that it covers.
type Trace struct {
	ICRC    uint32
	Len     uint16 // bytes of payload and pad
	IPID    uint16
	SrcPort uint16
	Opcode  Opcode
	Encap   Encap
	BTHOff  uint16
	Flags   TraceFlags
}

// TraceFlags are the bits of a trace.
type TraceFlags uint8

// The flags.
const (
	TraceAckReq TraceFlags = 1 << iota
	TraceMigReq
	TraceSealed // the ICRC was checked and is good; without it a trace tells nothing
)

// Trace returns the trace of the packet. CheckICRC comes first.
func (p *Packet) Trace() Trace {
	t := Trace{
		ICRC: p.ICRC, Len: uint16(p.PayloadLen) + uint16(p.PadCnt), IPID: p.IPID, SrcPort: p.SrcPort,
		Opcode: p.Opcode, Encap: p.Encap, BTHOff: uint16(p.BTHOff),
	}
	if p.AckReq {
		t.Flags = TraceAckReq
	}
	if p.MigReq {
		t.Flags |= TraceMigReq
	}
	if p.ICRCState == CRCGood {
		t.Flags |= TraceSealed
	}
	return t
}

// Sealed reports whether the trace can tell anything: it is that of a packet whose ICRC is good.
func (t Trace) Sealed() bool { return t.Flags&TraceSealed != 0 }

// zeros is what follows the BTH in the difference of two packets with equal content.
var zeros [4096]byte

// SameContent reports whether q can be the packet of an earlier trace retransmitted: all bytes under the ICRC are equal, payload
// included, apart from those that a sender may change, the IPv4 identification, the UDP source port, AckReq and MigReq.
// It needs none of the earlier bytes: the CRC is linear, so that the exclusive or of the two ICRCs is the CRC, from state zero
// and without complement, of the difference of the two packets. Where one of the two has no good ICRC, nothing can be
// told, and the result is true. A packet that differs passes for the same once in 2^32.
func SameContent(q *Packet, earlier Trace) bool {
	t := q.Trace()
	if !t.Sealed() || !earlier.Sealed() {
		return true
	}
	if t.Encap != earlier.Encap || t.Opcode != earlier.Opcode || t.Len != earlier.Len || t.BTHOff != earlier.BTHOff {
		return false
	}
	// Each byte that may differ counts by itself, as the CRC is linear: by what it is, and how many bytes of zeros follow it. The rest is zero in the difference, as
	// the payload is.
	id, port, flags := t.IPID^earlier.IPID, t.SrcPort^earlier.SrcPort, t.Flags^earlier.Flags
	crc := followed[10][bit(flags&TraceMigReq != 0, 0x40)] ^ followed[3][bit(flags&TraceAckReq != 0, 0x80)]
	if q.Has&HasUDP != 0 {
		crc ^= followed[bthSize+7][port>>8] ^ followed[bthSize+6][port&0xFF]
	}
	if after := q.BTHOff - 6 + bthSize; q.Has&HasIPv4 != 0 && after+1 < len(followed) {
		crc ^= followed[after+1][id>>8] ^ followed[after][id&0xFF]
	}
	if crc == 0 {
		return t.ICRC == earlier.ICRC
	}
	rest := int(layouts[q.Opcode].size) + int(t.Len)
	return zerosCRC(crc, rest) == t.ICRC^earlier.ICRC
}

// followed is, by how many bytes of zeros follow, the CRC of each byte, from state zero and without complement: up to the end of a BTH after the longest IPv4 header.
var followed = func() (t [60 + udpSize + bthSize][256]uint32) {
	t[0] = *crc32.IEEETable
	for n := 1; n < len(t); n++ {
		for x, crc := range t[n-1] {
			t[n][x] = crc32.IEEETable[uint8(crc)] ^ crc>>8
		}
	}
	return t
}()

// zerosCRC carries a CRC, from state zero and without complement, over n zero bytes: its own bytes are as if they were the first ones.
func zerosCRC(crc uint32, n int) uint32 {
	if n >= 4 && n <= len(followed) {
		return followed[n-1][crc&0xFF] ^ followed[n-2][crc>>8&0xFF] ^ followed[n-3][crc>>16&0xFF] ^ followed[n-4][crc>>24]
	}
	for n > 0 {
		k := min(n, len(zeros))
		crc = ^crc32.Update(^crc, crc32.IEEETable, zeros[:k])
		n -= k
	}
	return crc
}
