package agent

import (
	"slices"
	"testing"

	"ibwitness/agent/internal/connection"
	"ibwitness/link"
	"ibwitness/packet"
)

// TestReached: of several taps, a port that pauses is that of the host for which packets go to it there; a port that none go to, at a tap over which several hosts are reached, has these named, however the packets are
// shared among agents, and those of the least addresses only where they are many.
func TestReached(t *testing.T) {
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, shards := range []int{1, 3} {
		agents := make([]*Transport, shards)
		for k := range agents {
			agents[k] = &Transport{reached: reached{}}
		}
		for n := byte(200); n > 0; n-- {
			t := agents[int(n)%shards]
			t.reached.packet(&packet.Packet{Tap: 0, Station: 77, Dst: host(n)})
			if n == 9 {
				t.reached.packet(&packet.Packet{Tap: 1, Station: 0x20000000009, Dst: host(n)})
			}
		}
		ports := []link.Paused{{From: [6]byte{2, 0, 0, 0, 0, 9}, Tap: 1}, {From: [6]byte{2, 0, 0, 0, 0, 9}, Tap: 0}}
		namePorts(ports, []*connection.Host{}, agents)
		if p := &ports[0]; !slices.Equal(p.Hosts, []packet.Addr{host(9)}) || p.Unowned || len(p.Over) != 0 {
			t.Errorf("%d: at the host: %+v", shards, p)
		}
		if p := &ports[1]; len(p.Hosts) != 0 || !p.Unowned || len(p.Over) != 1 || len(p.Over[0]) != mostBehind || p.Over[0][mostBehind-1] != host(mostBehind) {
			t.Errorf("%d: before the switch: %+v", shards, p)
		}
	}
}
