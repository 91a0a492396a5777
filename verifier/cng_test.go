package verifier

import (
	"testing"
	"time"
)

// TestMarkedBounded: QPs that come and go between two hosts that do not fall silent do not add up.
func TestMarkedBounded(t *testing.T) {
	m := &marks{qps: map[uint32]*marked{}}
	for n := range uint32(20 * mostQPs) {
		now := int64(n) * int64(time.Millisecond)
		m.qp(n, now).at = now
		m.qp(0, now).newest.time = now
	}
	if len(m.qps) > mostQPs {
		t.Errorf("%d QPs are kept", len(m.qps))
	}
	if m.qps[0] == nil || m.qps[20*mostQPs-1] == nil {
		t.Error("one that is in use was forgotten")
	}
}
