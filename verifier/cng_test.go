package verifier

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// TestMarkedBounded: QPs that come and go between two hosts that do not fall silent do not add up.
func TestMarkedBounded(t *testing.T) {
	m := &marks{qps: map[uint32]*marked{}}
	for n := range uint32(20 * mostQPs) {
		now := int64(n) * int64(time.Millisecond)
		m.qp(n, now).at = now
		m.qp(0, now).newest.time = now
	}
	if len(m.qps) > mostQPs {
		t.Errorf("%d QPs are kept", len(m.qps))
	}
	if m.qps[0] == nil || m.qps[20*mostQPs-1] == nil {
		t.Error("one that is in use was forgotten")
	}
}

// TestWaysBounded: pairs of hosts that come and go do not add up either, nor what they have sent, and what nothing happened on for a second at most stays.
func TestWaysBounded(t *testing.T) {
	var g congestion
	host := func(n int) packet.Addr { return packet.LIDAddr(uint16(n)) }
	const busy, second = 1, int64(time.Second)
	for n := range mostWays {
		at := int64(n) * second / mostWays
		g.way(host(2+n), host(0), at)
		g.ports[host(2+n)] = notified{time: at}
	}
	g.way(host(busy), host(0), second)
	if len(g.ways) != mostWays+1 || len(g.ports) != mostWays {
		t.Errorf("%d ways and %d ports are kept, all of the last second", len(g.ways), len(g.ports))
	}
	g.way(host(0), host(busy), second+second/2)
	if n := len(g.ways); n != mostWays/2+2 || len(g.ports) != mostWays/2 {
		t.Errorf("%d ways and %d ports are kept half a second later", n, len(g.ports))
	}
	if g.ways[way{host(busy), host(0)}] == nil {
		t.Error("one that is in use was forgotten")
	}
}
