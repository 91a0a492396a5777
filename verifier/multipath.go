package verifier

import (
	"encoding/binary"

	"ibwitness/packet"
)

// The opcodes of MRC, the Multipath Reliable Connection of the Open Compute Project (OCP MRC 1.0, section 6.2.2), which the InfiniBand specification leaves to manufacturers.
const (
	mrcWriteFirst      = packet.Opcode(0xC6)
	mrcWriteMiddle     = packet.Opcode(0xC7)
	mrcWriteLast       = packet.Opcode(0xC8)
	mrcWriteLastImm    = packet.Opcode(0xC9)
	mrcWriteOnly       = packet.Opcode(0xCA)
	mrcWriteOnlyImm    = packet.Opcode(0xCB)
	mrcAck             = packet.Opcode(0xD1)
	mrcEndpointRequest = packet.Opcode(0xD8)
	mrcEndpointAnswer  = packet.Opcode(0xD9)
	mrcSACK            = packet.Opcode(0xDC)
	mrcNACK            = packet.Opcode(0xDD)
	mrcProbe           = packet.Opcode(0xDE)
)

// Sizes of the headers that follow the BTH (tables 6-6 to 6-9 and 7-12 to 7-22), in bytes.
const (
	methSize, tsethSize, rethSize, immDtSize = 4, 4, 16, 4
	aethSize                                 = 4
	sackSize                                 = 28 + 8 // SETH and CC_STATE
	nethSize, pethSize, erthSize, eethSize   = 20, 16, 16, 36

	mrcTimestamp  = 0x10 // in the reserved bits beside AckReq: there is a TSETH
	mrcEndpointQP = 2    // endpoint requests and responses belong to no connection
)

// Multipath tells what a packet with an opcode of MRC counts as, where its headers fit MRC, too; NumSkips: they do not, or are not captured. Other manufacturers may give
// these opcodes another meaning. sure says that the lengths would hardly fit by chance: those of an ACK are those of RC.
func Multipath(p *packet.Packet) (what Skip, sure bool) {
	if p.Opcode < mrcWriteFirst || p.Opcode > mrcProbe || !p.Encap.OnIP() || p.Flaws&packet.FlawShort != 0 {
		return NumSkips, false
	}
	b, n := p.Payload, p.PayloadLen
	fits := false
	switch p.Opcode {
	case mrcWriteFirst, mrcWriteMiddle, mrcWriteLast, mrcWriteLastImm, mrcWriteOnly, mrcWriteOnlyImm:
		what, fits = SkipMRCWrite, fitsMRCWrite(p)
	case mrcAck:
		return where(SkipMRCAck, n == aethSize && len(b) > 0 && !packet.Syndrome(b[0]).Reserved()), false
	case mrcSACK:
		what, fits = SkipMRCSACK, n == sackSize && zeroAt(b, 12)
	case mrcNACK:
		what, fits = SkipMRCNACK, n == nethSize && zeroAt(b, 12, 17)
	case mrcProbe:
		what, fits = SkipMRCProbe, n == pethSize && zeroAt(b, 2, 6, 7)
	case mrcEndpointRequest:
		what, fits = SkipMRCEndpoint, n == erthSize && p.DestQP == mrcEndpointQP && zeroAt(b, 2, 8, 9, 10, 11)
	case mrcEndpointAnswer:
		what, fits = SkipMRCEndpoint, n == eethSize && p.DestQP == mrcEndpointQP && zeroAt(b, 2, 3)
	}
	return where(what, fits), fits
}

// where is a reason where it holds.
func where(what Skip, fits bool) Skip {
	if !fits {
		return NumSkips
	}
	return what
}

// zeroAt reports whether reserved bytes of a header were captured and are 0.
func zeroAt(b []byte, at ...int) bool {
	for _, i := range at {
		if i >= len(b) || b[i] != 0 {
			return false
		}
	}
	return true
}

// fitsMRCWrite reports whether a WRITE has the headers of MRC: a METH, a TSETH where the BTH says so, and a RETH in each packet, whose address, key and length can be those of
// what follows. A First or Middle is as long as a path MTU, a power of two.
func fitsMRCWrite(p *packet.Packet) bool {
	at, size := methSize, 0
	if p.Resv7&mrcTimestamp != 0 {
		at += tsethSize
	}
	if size = at + rethSize; p.Opcode == mrcWriteLastImm || p.Opcode == mrcWriteOnlyImm {
		size += immDtSize
	}
	data := p.PayloadLen - size
	if data < 0 || len(p.Payload) < at+rethSize {
		return false
	}
	reth := p.Payload[at:]
	canonical := int16(binary.BigEndian.Uint16(reth)) // of 64-bit addresses, the upper 16 bits are alike
	length := binary.BigEndian.Uint32(reth[12:])
	if canonical != 0 && canonical != -1 || length > 1<<31 || uint32(data) > length {
		return false
	}
	switch p.Opcode {
	case mrcWriteFirst, mrcWriteMiddle:
		return data >= 256 && data&(data-1) == 0
	case mrcWriteOnly, mrcWriteOnlyImm:
		return uint32(data) == length
	}
	return data > 0
}
