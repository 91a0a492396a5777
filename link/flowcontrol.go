package link

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Size is how many bytes a flow control packet has, LPCRC included.
const Size = 6

// Op is the operand of a link packet.
type Op uint8

// The operands; all others are reserved.
const (
	Normal Op = iota // of a port in LinkArm or LinkActive
	Init             // of a port in LinkInitialize
)

func (o Op) String() string {
	switch o {
	case Normal:
		return "normal"
	case Init:
		return "init"
	}
	return "reserved"
}

// FlowControl is a flow control packet (7.9.4): Op in 4 bits, FCTBS in 12, VL in 4, FCCL in 12, then the LPCRC.
type FlowControl struct {
	Op    Op
	FCTBS uint16 // blocks that the sender has sent on the lane since the link came up, modulo Modulus
	VL    uint8
	FCCL  uint16 // up to which count of blocks the other port may send on the lane, modulo Modulus
	LPCRC uint16 // as it is on the wire, first byte in the low eight bits
	Good  bool   // the LPCRC is right
}

// Lanes is how many data lanes there are; VL 15 is not flow controlled.
const Lanes = 15

// Block is how many bytes a credit is for; Modulus is what credits are counted by, and Window the most that a receiver offers ahead.
const (
	Block   = 64
	Modulus = 4096
	Window  = 2048
)

// DecodeFlowControl decodes a link packet. The result is false where b has not Size bytes.
func DecodeFlowControl(b []byte) (f FlowControl, ok bool) {
	if len(b) != Size {
		return f, false
	}
	w := binary.BigEndian.Uint32(b)
	f.Op, f.FCTBS, f.VL, f.FCCL = Op(w>>28), uint16(w>>16&0xFFF), uint8(w>>12&0xF), uint16(w&0xFFF)
	f.LPCRC = binary.LittleEndian.Uint16(b[4:])
	f.Good = f.LPCRC == packet.VCRC(b[:4])
	return f, true
}

// Append appends the bytes of a flow control packet, with the right LPCRC.
func (f *FlowControl) Append(b []byte) []byte {
	at := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(f.Op&0xF)<<28|uint32(f.FCTBS&0xFFF)<<16|uint32(f.VL&0xF)<<12|uint32(f.FCCL&0xFFF))
	return binary.LittleEndian.AppendUint16(b, packet.VCRC(b[at:]))
}

// Blocks is how many blocks a packet of so many bytes takes, its last one rounded up.
func Blocks(bytes int) int { return (bytes + Block - 1) / Block }
