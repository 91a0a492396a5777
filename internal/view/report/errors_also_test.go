package report

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/internal/errorlines"
	"ibwitness/packet"
)

// TestErrorsOfSeveralHosts: an incident of several hosts that lost a peer explains the errors of each of them, and of no other.
func TestErrorsOfSeveralHosts(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	x := &incident.Incident{Local: incident.Party{Addr: addr(1)}, Peer: incident.Party{Addr: addr(9)}, Also: []packet.Addr{addr(2)}}
	for host, want := range map[byte]bool{1: true, 2: true, 3: false} {
		c := &agent.Connection{Ends: [2]agent.End{{Addr: addr(9)}, {Addr: addr(host)}}}
		if got := about(&errorlines.Line{}, c, x); got != want {
			t.Errorf("a connection of host %d: %v", host, got)
		}
		if got := about(&errorlines.Line{Addrs: []packet.Addr{addr(host)}}, nil, x); got != want {
			t.Errorf("a line that names host %d: %v", host, got)
		}
	}
}
