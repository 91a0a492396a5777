package incident

import (
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestHopsOnce: only the first of incidents tells in full of the same next hop of a host that moved; of another one, or that of another host, each does.
func TestHopsOnce(t *testing.T) {
	tells := func(host byte, is uint64) Incident {
		h := &hopTold{was: 1, is: is, at: 5, of: Party{Addr: packet.IPv4Addr([]byte{10, 1, 0, host}), QPN: 9, QPNKnown: true}, said: "It kept sending.", next: "the failover of the router"}
		return Incident{What: "It kept sending. It waited.", Facts: []Fact{{"next hop", "10.1.0.9 is at another"}}, Next: []string{h.next + ": its log"}, hop: h}
	}
	for _, tt := range []struct {
		name  string
		other Incident
		full  bool
	}{
		{"the same", tells(1, 2), false},
		{"another address", tells(1, 3), true},
		{"another host", tells(2, 2), true},
		{"none", Incident{What: "It kept sending. It waited."}, true},
	} {
		list := hopsOnce([]Incident{tells(1, 2), tt.other})
		if first := list[0]; first.What != "It kept sending. It waited." || first.Facts[0].Text != "10.1.0.9 is at another" {
			t.Errorf("%s: first %q", tt.name, first.What)
		}
		second := &list[1]
		if strings.HasPrefix(second.What, "It kept sending.") != tt.full {
			t.Errorf("%s: %q", tt.name, second.What)
		}
		if !tt.full && (!strings.Contains(second.Facts[0].Text, "10.1.0.1 QP 0x9 sent to 00:00:00:00:00:01, from which its next hop had moved, see there") || second.Next[0] != "the failover of the router, see there") {
			t.Errorf("%s: %q, %q", tt.name, second.Facts, second.Next)
		}
	}
}
