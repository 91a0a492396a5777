package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
)

// TestOtherKind: queue pairs that lost packets, and send far larger messages than those that did not, differ by that: paths are not spoken of.
func TestOtherKind(t *testing.T) {
	for _, k := range []struct {
		name string
		size uint64 // of the messages of those that lost packets, where others send 4096 bytes
		want bool
	}{
		{"the same", 4096, true},
		{"smaller", 64, true},
		{"bulk", 128 << 10, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 8 {
			s := lossScene{from: 1, to: 2, packets: 9000}
			if n < 2 {
				s.after = 12
			}
			c := s.connection(n)
			c.Ends[1].Messages = 0
			c.Ends[0].Bytes = 4096 * c.Ends[0].Messages
			if n < 2 {
				c.Ends[0].Bytes = k.size * c.Ends[0].Messages
			}
			r.Connections = append(r.Connections, c)
		}
		if i := Of(r)[0]; i.says("paths") != k.want || (i.FitsWith[0] == onePath) != k.want {
			t.Errorf("%s: %+v", k.name, i)
		}
	}
}
