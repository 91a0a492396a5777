package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestReorderedTrimmed: where packets came trimmed, a copy of one is the first of its PSN that came whole, and is not told to have come after later ones; one whose identification shows that it left first is, and so is one
// where none was trimmed.
func TestReorderedTrimmed(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 9})
	for _, tt := range []struct {
		name     string
		cut      way
		numbered uint32
		want     bool
	}{
		{"trimmed", way{a, b}, 0, false},
		{"trimmed, and some have no number", way{a, b}, 19, false},
		{"trimmed, and each left first", way{a, b}, 20, true},
		{"trimmed the other way", way{b, a}, 0, true},
	} {
		c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: 1}
		o := qp.Overtaken{Packets: 20, Numbered: tt.numbered, Depth: 3, First: 2, Last: 3, Frame: 10, Newest: 100, Asked: 5}
		c.Ends[0] = agent.End{Addr: a, QPN: 3, QPNKnown: true, Packets: 900, Retransmissions: 100, Last: 3, Trouble: &qp.Trouble{Overtaking: &qp.Overtaking{Sum: o}}}
		c.Ends[1] = agent.End{Addr: b, QPN: 7, QPNKnown: true, Packets: 90, Last: 3, NAKs: 5}
		tell := newTeller(&agent.Result{First: 1, Last: 4, RDMA: 1, Connections: []agent.Connection{c}})
		tell.cut = map[way]bool{tt.cut: true}
		tell.reordered(&tell.run.Connections[0], 0, o, requests)
		if got := len(tell.order) > 0; got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
