package agent_test

import (
	"context"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// TestOpen: the result says which requests have no answer when the capture ends.
func TestOpen(t *testing.T) {
	for name, want := range map[string]struct {
		open  int
		frame uint64
	}{
		"rnr_retry_exceeded.pcap": {4, 1},
		"cm_rping_ipv6.pcap":      {},
	} {
		src, err := fabricagent.Open([]string{"../testdata/captures/" + name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := agent.Run(context.Background(), src, agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		open, frame := 0, uint64(0)
		for _, c := range r.Connections {
			for _, e := range c.Ends {
				open, frame = open+e.Open, max(frame, e.OpenFrame)
			}
		}
		if open != want.open || frame != want.frame {
			t.Errorf("%s: %d requests open, the oldest at frame %d; want %d, %d", name, open, frame, want.open, want.frame)
		}
	}
}
