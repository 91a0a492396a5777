package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestExhaustedBeside: where a receiver refused others while it refused the request of one that gave up, that is one incident, and what it served meanwhile is not these; not where it
// refused them long before or after, one of them still waits, or it is another receiver.
func TestExhaustedBeside(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) Party {
		return Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: uint32(n), QPNKnown: true}
	}
	for name, k := range map[string]struct {
		receiver   byte
		begin, end int64
		waits      bool
		one        bool
	}{
		"meanwhile":               {9, 98 * ms, 150 * ms, false, true},
		"from its last refusal":   {9, 103 * ms, 150 * ms, false, true},
		"until its first refusal": {9, 50 * ms, 100 * ms, false, true},
		"after it":                {9, 104 * ms, 150 * ms, false, false},
		"before it":               {9, 50 * ms, 99 * ms, false, false},
		"and one still waits":     {9, 98 * ms, 150 * ms, true, false},
		"another receiver":        {8, 98 * ms, 150 * ms, false, false},
	} {
		gaveUp := Incident{Kind: Exhausted, Local: host(1), Peer: host(9), What: "10.0.0.9 was not ready, after which 10.0.0.1 gave up.", Begin: 100 * ms, End: 900 * ms, Connections: 1}
		gaveUp.exhausted.last = 103 * ms
		gaveUp.fact("served", "10.0.0.9 went on sending messages to 10.0.0.2")
		others := Incident{Kind: NotReady, Local: host(2), Peer: host(k.receiver), Begin: k.begin, End: k.end, Connections: 2, Also: []packet.Addr{host(3).Addr}}
		others.short = shortage{pairs: 2, naks: 52, worst: 26, waits: k.waits}
		got := newTeller(&agent.Result{First: 1, Last: 1000 * ms, RDMA: 1}).exhaustedBeside([]Incident{gaveUp, others})
		told := got[0].says("meanwhile") && !got[0].says("served") && got[0].Connections == 3 && len(got[0].Also) == 2
		if (len(got) == 1) != k.one || told != k.one || k.one && got[0].What != "10.0.0.9 was not ready, after which 10.0.0.1 gave up. Meanwhile it refused requests of 10.0.0.2 and 10.0.0.3 52 times, in "+span(k.end-k.begin)+", and these went on when it was ready again." {
			t.Errorf("%s: %d incidents, %+v", name, len(got), got[0])
		}
	}
}
