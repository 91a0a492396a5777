package congestion

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/verifier"
)

// TestMarkedBounded: the QPs of a sender do not add up, and that one was given up is known.
func TestMarkedBounded(t *testing.T) {
	var m Marks
	for n := range uint32(3 * mostQPs) {
		q := m.qp(n)
		q.due, q.at = 1, int64(n)
	}
	kept := 0
	for n := range uint32(3 * mostQPs) {
		if m.find(n) != nil {
			kept++
		}
	}
	if kept != mostQPs || len(m.order) != mostQPs {
		t.Errorf("%d QPs are kept, %d in order", kept, len(m.order))
	}
	if m.find(3*mostQPs-1) == nil || m.find(2*mostQPs) == nil || m.find(2*mostQPs-1) != nil || m.lost != 2*mostQPs-1 {
		t.Errorf("not the oldest made room, the newest of them marked at %d", m.lost)
	}
}

// TestPortsBounded: nor do the ports that send CNPs.
func TestPortsBounded(t *testing.T) {
	var g state
	for n := range 3*mostPorts + 1 {
		g.paced(verifier.PacedByPort, packet.LIDAddr(uint16(n)), notified{time: 1})
	}
	if len(g.ports) != 1 {
		t.Errorf("%d ports are kept", len(g.ports))
	}
}
