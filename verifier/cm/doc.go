// Package cm verifies the exchanges of the communication manager (chapter 12, annex A11): the format of each message, the state
// machines of the active and the passive side, and the traffic that an exchange allows. It is a pure state machine: time is that of the
// packets, and a deadline has passed when a later message, or the end of the capture, says so.
//
// It is the engine's own, without a promise to others.
package cm
