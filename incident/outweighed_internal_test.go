package incident

import (
	"testing"
	"time"

	"ibwitness/packet"
)

// TestAfterCostlier: a stall comes after losses between the same hosts that cost far more in all at the same time, and not after others.
func TestAfterCostlier(t *testing.T) {
	host := func(n uint64) packet.Addr { return packet.Addr{Lo: n} }
	at := func(kind Kind, peer uint64, begin, end, lost time.Duration) Incident {
		return Incident{Kind: kind, Local: Party{Addr: host(1)}, Peer: Party{Addr: host(peer)}, Connections: 1, Begin: int64(begin), End: int64(end), Lost: lost}
	}
	const ms = time.Millisecond
	stall := at(Interrupted, 2, 500*ms, 600*ms, 100*ms)
	for name, k := range map[string]struct {
		other Incident
		first bool
	}{
		"losses that cost far more": {at(Loss, 2, 0, 1000*ms, 700*ms), true},
		"a receiver not ready":      {at(NotReady, 2, 0, 1000*ms, 700*ms), true},
		"losses that cost no more":  {at(Loss, 2, 0, 1000*ms, 150*ms), false},
		"losses at another time":    {at(Loss, 2, 610*ms, 2000*ms, 700*ms), false},
		"losses to another host":    {at(Loss, 3, 0, 1000*ms, 700*ms), false},
		"marks":                     {at(Congestion, 2, 0, 1000*ms, 700*ms), false},
	} {
		if list := afterCostlier([]Incident{stall, k.other}); (list[0].Kind == k.other.Kind) != k.first {
			t.Errorf("%s: %v first", name, list[0].Kind)
		}
	}
}
