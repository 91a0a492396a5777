package agent

import (
	"context"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/rule"
)

// TestRunForgets: where memory is short, connections are forgotten that have come and gone, and counted; nobody is accused for what they send later.
func TestRunForgets(t *testing.T) {
	for _, workers := range []int{2, 1}[:sample.Part(2, 2)] {
		src := &churning{rounds: 100, packets: 4096, shape: traffic.Small(100)}
		r, err := Run(context.Background(), src, Options{Workers: workers, Short: sometimes(3)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Class == rule.Violation {
				t.Errorf("%+v", f)
			}
		}
		f := r.Forgotten
		if f.Connections < 5000 || f.Unlisted > 0 || r.RDMA != src.frames {
			t.Errorf("%d workers: %+v of %d connections, %d packets", workers, f, len(r.Connections), r.RDMA)
		}
		for i := 1; i < len(r.Connections); i++ {
			if r.Connections[i].First < r.Connections[i-1].First {
				t.Fatal("connections are not listed in the order of their first packet")
			}
		}
		packets := uint64(0)
		for i := range r.Connections {
			packets += r.Connections[i].Ends[0].Packets + r.Connections[i].Ends[1].Packets
		}
		if packets != r.RDMA {
			t.Errorf("%d workers: the connections have %d packets of %d", workers, packets, r.RDMA)
		}
	}
}
