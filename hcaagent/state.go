package hcaagent

import (
	"strconv"

	"ibwitness/packet"
)

// State is the state of a queue pair (section 10.3.1).
type State uint8

// The states. The zero value is the state of a new queue pair.
const (
	Reset State = iota
	Init
	RTR // ready to receive
	RTS // ready to send
	SQD // send queue drain
	SQE // send queue error
	Err
)

var stateNames = [...]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state " + strconv.Itoa(int(s))
}

// PostReceive reports whether receive requests may be posted in the state (table T7b).
func (s State) PostReceive() bool { return s != Reset }

// PostSend reports whether send requests may be posted in the state (table T7b).
func (s State) PostSend() bool { return s >= RTS }

// Receives reports whether the state processes what arrives; otherwise it is dropped silently (table T7b).
func (s State) Receives() bool { return s >= RTR && s <= SQE }

// Sends reports whether the state sends requests. SQD finishes the work that it had begun; RTR sends responses only (table T7b).
func (s State) Sends() bool { return s == RTS || s == SQD }

// QPType is the type of a queue pair: its transport service and, on XRC, its half.
type QPType uint8

// The types.
const (
	TypeRC QPType = iota
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

func (t QPType) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Service returns the transport service that the opcodes of the type's packets name; false for raw packets.
func (t QPType) Service() (packet.Service, bool) {
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

// Life is what is known of whether a queue pair is there, and not in error.
type Life uint8

// The answers.
const (
	LifeUnknown Life = iota
	Alive
	Gone // or in error
)
