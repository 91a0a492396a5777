package incident_test

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestOtherQKeys: datagrams with another Q_Key than those that a queue pair answers are told; such with the same one, or to a queue pair that answers both or nobody, are not.
func TestOtherQKeys(t *testing.T) {
	flow := func(from byte, qKey uint32, packets, back uint64) agent.Connection {
		c := agent.Connection{Service: packet.UD, First: second(1), FirstFrame: uint64(from)}
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, from}), QPN: 0x40, QPNKnown: true, Packets: packets, Last: second(2), Path: agent.Path{Known: true, QKey: qKey}}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 12}), QPN: 0x77, QPNKnown: true, Packets: back, Last: second(2), Path: agent.Path{Known: back > 0, QKey: qKey}}
		return c
	}
	const want = "10.0.0.12 QP 0x77 answered none of the 20 datagrams of 10.0.0.11 QP 0x40, whose Q_Key is 0x22222222; it answers those with Q_Key 0x11111111"
	for _, tt := range []struct {
		name string
		list []agent.Connection
		told bool
	}{
		{"another", []agent.Connection{flow(11, 0x22222222, 20, 0), flow(15, 0x11111111, 300, 300)}, true},
		{"the same", []agent.Connection{flow(11, 0x11111111, 20, 0), flow(15, 0x11111111, 300, 300)}, false},
		{"both are answered", []agent.Connection{flow(11, 0x22222222, 20, 9), flow(15, 0x11111111, 300, 300)}, false},
		{"none is answered", []agent.Connection{flow(11, 0x22222222, 20, 0), flow(15, 0x11111111, 300, 0)}, false},
		{"two datagrams", []agent.Connection{flow(11, 0x22222222, 2, 0), flow(15, 0x11111111, 300, 300)}, false},
	} {
		if got := toldOf(&agent.Result{Last: second(3), Connections: tt.list}); strings.Contains(got, want) != tt.told || strings.Contains(got, "datagrams-dropped") != tt.told {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
