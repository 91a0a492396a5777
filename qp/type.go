package qp

import (
	"strconv"

	"ibwitness/packet"
)

// Type is the type of a queue pair: its transport service and, on XRC, its half.
type Type uint8

// The types.
const (
	TypeRC Type = iota
	TypeUC
	TypeRD
	TypeUD
	TypeXRCInitiator
	TypeXRCTarget
	TypeSMI // QP0
	TypeGSI // QP1
	TypeRawPacket
	numTypes = iota
)

var typeNames = [numTypes]string{"RC", "UC", "RD", "UD", "XRC initiator", "XRC target", "SMI", "GSI", "raw packet"}

func (t Type) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Service returns the transport service that the opcodes of the type's packets name; false for raw packets.
func (t Type) Service() (packet.Service, bool) {
	switch t {
	case TypeRC:
		return packet.RC, true
	case TypeUC:
		return packet.UC, true
	case TypeRD:
		return packet.RD, true
	case TypeUD, TypeSMI, TypeGSI:
		return packet.UD, true
	case TypeXRCInitiator, TypeXRCTarget:
		return packet.XRC, true
	}
	return 0, false
}
