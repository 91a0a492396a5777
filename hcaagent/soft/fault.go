package soft

import (
	"maps"
	"slices"

	"ibwitness/packet"
)

// Fault is a way in which a device can be at fault.
type Fault struct {
	Text string // what it does, in one line
	Rule string // id of the rule that must catch it

	before func(h *HCA, q *queuePair, p *packet.Packet) bool // spoils a packet that is not complete; false: not this one
	after  func(h *HCA, q *queuePair, p *packet.Packet) bool // spoils a packet that is complete
}

// FaultNames returns the names of all faults, in order.
func FaultNames() []string { return slices.Sorted(maps.Keys(Faults)) }

// faultState is how far the device's fault has come.
type faultState struct {
	is   *Fault
	left int // occasions to pass by
	done bool
}

// spoil applies a fault to a packet, if it is its turn.
func (h *HCA) spoil(q *queuePair, p *packet.Packet, f func(*HCA, *queuePair, *packet.Packet) bool) bool {
	if h.fault.done {
		return false
	}
	was := *p
	if !f(h, q, p) {
		return false
	}
	if h.fault.left > 0 {
		h.fault.left--
		*p = was
		return false
	}
	h.fault.done = !h.opt.FaultAll
	return true
}

// breaks reports whether the device has a fault and this is the occasion on which it shows it.
func (h *HCA) breaks(name string, _ *queuePair) bool {
	if h.fault.is == nil || h.fault.done || h.opt.Fault != name {
		return false
	}
	if h.fault.left > 0 {
		h.fault.left--
		return false
	}
	h.fault.done = !h.opt.FaultAll
	return true
}

const (
	faultTooManyReads = "too-many-reads"
	faultRetryForever = "retry-forever"
	faultEarlyRetry   = "early-retry"
	faultRNRForever   = "rnr-forever"
	faultRNREarly     = "rnr-early"
)

// Faults are the faults that a device can have, by name.
var Faults = map[string]*Fault{}
