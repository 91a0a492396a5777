package packet

import (
	"encoding/binary"
	"hash/crc32"
)

// Trace is what is kept of a packet to recognise it when it is retransmitted: 16 bytes instead of its content. The ICRC depends
// on all the bytes that it covers.
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
	// From the identification on the difference fits in a buffer of fixed size, but for IP options and extension headers: these
	// are zero in the difference as the payload is.
	crc := uint32(0)
	id, port, flags := t.IPID^earlier.IPID, t.SrcPort^earlier.SrcPort, t.Flags^earlier.Flags
	if id|port|uint16(flags&(TraceMigReq|TraceAckReq)) == 0 {
		return t.ICRC == earlier.ICRC
	}
	var b [2 + 64 + udpSize + bthSize]byte
	bth, rest := 0, int(layouts[q.Opcode].size)+int(t.Len)
	if q.Has&HasUDP != 0 {
		bth = udpSize
	}
	if options := q.BTHOff - udpSize - 6; q.Has&HasIPv4 != 0 && options >= 0 && options <= 64 {
		binary.BigEndian.PutUint16(b[:], id)
		bth += 2 + options
	}
	if q.Has&HasUDP != 0 {
		binary.BigEndian.PutUint16(b[bth-udpSize:], port)
	}
	b[bth+1] = bit(flags&TraceMigReq != 0, 0x40)
	b[bth+8] = bit(flags&TraceAckReq != 0, 0x80)
	for _, x := range b[:bth+bthSize] { // crc32.Update would have b allocated
		crc = crc32.IEEETable[uint8(crc)^x] ^ crc>>8
	}
	return ^zerosCRC(^crc, rest) == t.ICRC^earlier.ICRC
}

// zerosCRC carries a CRC over n zero bytes.
func zerosCRC(crc uint32, n int) uint32 {
	for n > 0 {
		k := min(n, len(zeros))
		crc = crc32.Update(crc, crc32.IEEETable, zeros[:k])
		n -= k
	}
	return crc
}
