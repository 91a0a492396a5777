package traffic_test

import (
	"bytes"
	"context"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
)

// TestFloods: each flood is what it says, packets of InfiniBand all of which are read, and judging it ends with the same result on one core and on two.
func TestFloods(t *testing.T) {
	packets := sample.Part(3000, 10)
	for i := range traffic.Floods {
		f := &traffic.Floods[i]
		t.Run(f.Name, func(t *testing.T) {
			raw := f.Capture(packets)
			var results [2]*agent.Result
			for i := range results {
				src, err := fabricagent.OpenReader("flood", bytes.NewReader(raw))
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				if results[i], err = agent.Run(context.Background(), src, agent.Options{Workers: 1 + i}); err != nil {
					t.Fatal(err)
				}
			}
			a, b := results[0], results[1]
			if n := uint64(packets); a.Packets != n || a.RDMA != n {
				t.Errorf("%d packets, %d RDMA", a.Packets, a.RDMA)
			}
			if len(a.Findings) != len(b.Findings) || len(a.Connections) != len(b.Connections) || a.Cover != b.Cover {
				t.Errorf("one core: %d findings, %d connections; two: %d, %d", len(a.Findings), len(a.Connections), len(b.Findings), len(b.Connections))
			}
		})
	}
}
