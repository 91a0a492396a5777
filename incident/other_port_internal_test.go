package incident

import (
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestToOtherPort: requests go to the Ethernet address from which another address sends, and only that; not where they go to their destination's, several addresses send from there, as from a router, or their destination
// sends from one that others have, too.
func TestToOtherPort(t *testing.T) {
	const own, other, router = 0xA1, 0xA2, 0xB0
	for _, k := range []struct {
		name     string
		to       uint64
		from     uint64 // of host 2, to which they go
		more     bool   // one more host sends from where they go
		together bool   // and one from where host 2 sends
		want     bool
	}{
		{"to the other port", other, own, false, false, true},
		{"to its own", own, own, false, false, false},
		{"to a router", other, own, true, false, false},
		{"from a router", other, router, false, true, false},
	} {
		r := &agent.Result{}
		add := func(from, to byte, hop *agent.Hop, back uint64) {
			s := lossScene{from: from, to: to, packets: 50}
			c := s.connection(len(r.Connections))
			c.Ends[0].Hop, c.Ends[1].Hop = hop, &agent.Hop{From: back, To: 0x11}
			r.Connections = append(r.Connections, c)
		}
		add(1, 2, &agent.Hop{From: 0x11, To: k.to}, k.from)
		add(1, 3, &agent.Hop{From: 0x11, To: other}, other)
		if k.more {
			add(1, 4, &agent.Hop{From: 0x11, To: other}, other)
		}
		if k.together {
			add(1, 5, &agent.Hop{From: 0x11, To: router}, router)
		}
		x := &teller{run: r}
		w, is := x.toOtherPort(&r.Connections[0], 0)
		if is != k.want || is && (w.of != packet.IPv4Addr([]byte{10, 0, 0, 3}) || w.from != own || w.to != other) {
			t.Errorf("%s: %t %+v", k.name, is, w)
		}
	}
}
