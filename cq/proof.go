package cq

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// proven is the class of a finding that rests on what the capture does not hold.
func (a *Agent) proven(q *queuePair) rule.Class {
	if a.shows(q.addr()) || a.shows(q.attr.DestAddr) {
		return rule.Violation
	}
	return rule.Unproven
}

// shows reports whether the tap is near an endpoint and has missed nothing, and that what is judged now may rest on it.
func (a *Agent) shows(addr packet.Addr) bool {
	if a.Lossy || !a.near(addr) {
		return false
	}
	a.assumes = rule.AssumesNear | rule.AssumesWhole
	return true
}

// provenAt is that where it rests on what the queue pair itself did not send, or on what has come to it: on the way between it and a tap at the other end packets may be lost or changed.
func (a *Agent) provenAt(q *queuePair) rule.Class {
	if a.shows(q.addr()) {
		return rule.Violation
	}
	return rule.Unproven
}

const notShown = "the tap position is unknown: the capture may have missed a packet"

// unshown says why a finding that rests on what the capture does not hold is not proven.
func (v *verdict) unshown() {
	if v.Class == rule.Unproven {
		v.Detail += "; " + notShown
	}
}
