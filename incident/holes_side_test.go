package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// TestSidesOfHoles: where larger packets vanish between two hosts, and such go from one of them to others meanwhile, or from others to it, its own
// port is not where.
func TestSidesOfHoles(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	const (
		sender   = "side: packets as large of 10.0.0.1 to 10.0.0.3 were answered meanwhile: a smaller MTU would not be at the port of 10.0.0.1\n"
		receiver = "side: packets as large of 10.0.0.3 to 10.0.0.2 were answered meanwhile: a smaller MTU would not be at the port of 10.0.0.2\n"
	)
	for _, tt := range []struct {
		name      string
		from, to  byte
		pmtu      uint32
		a         timing.Answered
		read      bool
		want, not []string
	}{
		{"from the sender", 1, 3, 4096, timing.Answered{Count: 9, Most: 65536, BySize: [5]int64{4: at(9)}}, false, []string{sender}, []string{receiver}},
		{"its responses", 1, 3, 4096, timing.Answered{Count: 9, Most: 65536, BySize: [5]int64{4: at(9)}}, true, []string{sender}, []string{receiver}},
		{"to the receiver", 3, 2, 4096, timing.Answered{Count: 9, Most: 4096, BySize: [5]int64{4: at(9)}}, false, []string{receiver}, []string{sender}},
		{"to the sender", 3, 1, 4096, timing.Answered{Count: 9, Most: 4096, BySize: [5]int64{4: at(9)}}, false, nil, []string{"side"}},
		{"in smaller packets", 1, 3, 1024, timing.Answered{Count: 9, Most: 65536, BySize: [5]int64{4: at(9)}}, false, nil, []string{"side"}},
		{"of an unknown path MTU", 1, 3, 0, timing.Answered{Count: 9, Most: 65536, BySize: [5]int64{4: at(9)}}, false, nil, []string{"side"}},
		{"smaller ones", 1, 3, 4096, timing.Answered{Count: 9, Most: 1024, BySize: [5]int64{2: at(9)}}, false, nil, []string{"side"}},
		{"before", 1, 3, 4096, timing.Answered{Count: 9, Most: 4096, BySize: [5]int64{0: at(9), 4: at(1)}}, false, nil, []string{"side"}},
	} {
		c := agent.Connection{Service: packet.RC, PMTU: tt.pmtu, Timing: &timing.Connection{}}
		c.Ends[0].Addr, c.Ends[1].Addr = host(tt.from), host(tt.to)
		if c.Timing.Ends[0].Acked = tt.a; tt.read {
			c.Timing.Ends[0].Acked, c.Timing.Ends[1].Read = timing.Answered{}, tt.a
		}
		list := []Incident{{Kind: Unanswered, Begin: at(5), hole: hole{way: way{host(1), host(2)}, most: 1024, size: 4096}}}
		got := newTeller(&agent.Result{Connections: []agent.Connection{c}}).sidesOfHoles(list)
		says(t, tt.name, toldOf(got, Unanswered), tt.want, tt.not)
	}
}
