package rc

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/coverage"
	"ibwitness/packet"
)

// TestWraps: wherever in a stream its PSNs wrap, that is counted once for requests and once for responses, and within the READ only where it is; with the fast path
// and without.
func TestWraps(t *testing.T) {
	const requests, psns = 6, 7 // of newGround
	for back := range packet.PSN(psns + 2) {
		var counts [2]coverage.Counts
		for i, thorough := range []bool{false, true} {
			g := groundFrom((0 - back) & packet.PSNMask)
			g.Thorough = thorough
			g.respond(requests)
			g.request(packet.SendOnly, 8, 0)
			g.Cover()
			counts[i] = *g.Shown
		}
		if d := cmp.Diff(counts[1], counts[0]); d != "" {
			t.Errorf("%d before PSN 0: without the fast path (-) and with it (+):\n%s", back, d)
		}
		want := [coverage.NumWraps]uint64{}
		if back > 0 && back <= psns {
			want[coverage.RequestWrap] = 1
		}
		if back > 0 && back < psns {
			want[coverage.ResponseWrap] = 1
		}
		if back == 3 {
			want[coverage.ReadWrap] = 1
		}
		if got := counts[0].Wraps[packet.RC]; got != want {
			t.Errorf("%d before PSN 0: wraps %v, not %v", back, got, want)
		}
	}
}
