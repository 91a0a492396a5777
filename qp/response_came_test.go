package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestResponseCame: responses that come after later ones are missing no more; what comes twice, or was not missing, counts for nothing.
func TestResponseCame(t *testing.T) {
	m := MissingResponses{Gaps: 2, PSNs: 6, Newest: [4]MissingRun{{100, 4}, {200, 2}}}
	for _, k := range []struct {
		psn  packet.PSN
		gaps uint32
		psns uint32
	}{{99, 2, 6}, {104, 2, 6}, {100, 2, 5}, {100, 2, 5}, {101, 2, 4}, {102, 2, 3}, {103, 1, 2}, {103, 1, 2}, {200, 1, 1}, {201, 0, 0}} {
		if m.came(k.psn); m.Gaps != k.gaps || m.PSNs != k.psns {
			t.Errorf("after %v: %d gaps, %d PSNs; want %d, %d", k.psn, m.Gaps, m.PSNs, k.gaps, k.psns)
		}
	}
}
