package report

import (
	"testing"

	"ibwitness/agent"
)

func TestNoRDMA(t *testing.T) {
	if s := NoRDMA(1, nil); s != "no InfiniBand or RoCE packet in 1 frame" {
		t.Error(s)
	}
	why := []agent.Note{{Reason: "of a", Count: 4000}, {Reason: "of b", Count: 3}, {Reason: "of c", Count: 2}, {Reason: "of d", Count: 1}}
	if s := NoRDMA(4006, why); s != "no InfiniBand or RoCE packet in 4,006 frames: 4,000 of a; 3 of b; 2 of c" {
		t.Error(s)
	}
}
