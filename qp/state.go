package qp

import "strconv"

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

// Life is what is known of whether a queue pair is there, and not in error.
type Life uint8

// The answers.
const (
	LifeUnknown Life = iota
	Alive
	Gone // or in error
)
