package cq

// Arm says for which completion a queue is to tell of itself (section 11.4.2.2).
type Arm uint8

// The kinds of notification.
const (
	ArmNext      Arm = iota // the next completion
	ArmSolicited            // the next one of a message with SE, or with an error
)
