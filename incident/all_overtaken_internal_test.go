package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestAllOvertaken: what a sender retransmitted follows from packets that came late where the capture holds each that it sent, also where of some rounds it is not known what they were for. Not where many were for what
// the tap had seen in order, of most that is not known, a timer ran out, or an identification is missing.
func TestAllOvertaken(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		before, after, timers uint32
		arrived, want         bool
	}{
		{"nearly half", 231, 5, 0, true, true},
		{"all", 473, 0, 0, true, true},
		{"hardly any is known", 100, 5, 0, true, false},
		{"many after the tap", 231, 100, 0, true, false},
		{"a timer", 231, 5, 1, true, false},
		{"one is missing", 231, 5, 0, false, false},
	} {
		a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 9})
		k := &qp.Trouble{Overtaking: &qp.Overtaking{Sum: qp.Overtaken{Packets: 20, Numbered: 20, Asked: 5}}}
		k.Sum.Rounds[qp.SequenceAsked], k.Sum.Rounds[qp.TimerExpired] = 473, tt.timers
		k.Asked.Before, k.Asked.After = tt.before, tt.after
		c := agent.Connection{Service: packet.RC, Ends: [2]agent.End{{Addr: a, QPN: 3, Packets: 900, Trouble: k}, {Addr: b, QPN: 7}}}
		r := &agent.Result{Connections: []agent.Connection{c}}
		if tt.arrived {
			r.Arrived = []packet.Addr{a}
		}
		if got := (&teller{run: r}).allOvertaken(&r.Connections[0], 0); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
