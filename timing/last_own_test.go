package timing

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLastAtOwnPace: of hosts that send at their own pace, each after times of its own, none is told that others wait for, though one sends less often,
// on one connection or two; it is where they send no second message before it has begun.
func TestLastAtOwnPace(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, k := range map[string]struct {
		connections []int   // of each host
		every       []int64 // milliseconds between two messages of a connection, at least
		jitter      int64   // by how much longer, at most
	}{
		"as often, on one":        {[]int{2, 1, 2, 2}, []int64{26, 26, 26, 26}, 28},
		"as often":                {[]int{1, 1, 1, 1}, []int64{26, 26, 26, 26}, 28},
		"one less often":          {[]int{1, 1, 1, 1}, []int64{26, 40, 26, 26}, 20},
		"half as often":           {[]int{1, 1, 1, 1}, []int64{26, 52, 26, 26}, 2},
		"less often, of six":      {[]int{1, 1, 1, 1, 1, 1}, []int64{26, 32, 26, 26, 26, 26}, 8},
		"half as often, of six":   {[]int{1, 1, 1, 1, 1, 1}, []int64{26, 47, 26, 26, 26, 26}, 10},
		"half as often, of three": {[]int{1, 1, 1}, []int64{26, 47, 26}, 10},
	} {
		for _, ring := range []bool{false, true} {
			for seed := range uint64(8) {
				random, hosts := rand.New(rand.NewPCG(seed, 3)), len(k.connections)
				var list []Link
				for h, n := range k.connections {
					for range n {
						to := 1
						if h == 1 || ring {
							to = (h + 1) % hosts
						}
						l := Link{Hosts: [2]int{h, to}, Bytes: [2]uint64{1 << 15, 0}}
						at := int64(time.Second) + random.Int64N(30*ms)
						for range 120 {
							l.Sent[0] = append(l.Sent[0], Sent{Begin: at, End: at + ms/50})
							at += k.every[h]*ms + random.Int64N(k.jitter*ms)
						}
						list = append(list, l)
					}
				}
				if got, ok := LastOf(hosts, list); ok {
					t.Errorf("%s, ring %v, seed %d: %+v", name, ring, seed, got)
				}
			}
		}
	}
	if got, ok := LastOf(4, rounds(4, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false)); !ok || got.Host != 1 {
		t.Errorf("in rounds: %+v, %v", got, ok)
	}
}
