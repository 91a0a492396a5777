package verifier

import (
	"math"
	"testing"
	"time"
)

// TestBuckets: a time is counted in the bucket that it belongs to, and of many times the quantiles are near.
func TestBuckets(t *testing.T) {
	for i := range 4000 {
		ticks := uint32(math.Exp2(float64(i) / 4000 * 31))
		k, seconds := bucket(ticks), float64(ticks)*Tick/1e9
		if k < 0 || k >= NumBuckets {
			t.Fatalf("%d ticks: bucket %d", ticks, k)
		}
		exact := math.Log2(seconds)*(1<<Schema) - FirstIndex // one is at most its own bucket, and more than the one before
		if float64(k) < exact-0.2 || float64(k)-1 > exact+0.2 {
			t.Errorf("%d ticks are in bucket %d, not %v", ticks, k, exact)
		}
	}
	if a, b := bucket(0), bucket(longest); a < 0 || b >= NumBuckets {
		t.Error(a, b)
	}
	if End(-FirstIndex) != time.Second {
		t.Error(End(-FirstIndex))
	}
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for i := range 1000 {
		h.Observe(time.Duration(i+1) * time.Microsecond)
	}
	h.Observe(-1)
	var none Histogram
	if none.Observe(0); none.Count() != 1 {
		t.Error("no time at all is not counted")
	}
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond, 1: time.Millisecond, 0.001: time.Microsecond} {
		if got := h.Quantile(share); got < want*91/100 || got > want*110/100 {
			t.Errorf("quantile %v: %v, not %v", share, got, want)
		}
	}
	for d, want := range map[time.Duration]uint64{time.Millisecond: 0, 500 * time.Microsecond: 500, 0: 1000, time.Hour: 0} {
		if got := h.Above(d); got < want*91/100 || got > want*110/100 {
			t.Errorf("%d are above %v, not %d", got, d, want)
		}
	}
	if h.Count() != 1000 || h.Sum < 500_000_000 || h.Sum > 500_500_000 {
		t.Error(h.Count(), h.Sum)
	}
}

// TestAddLatencies: what was counted apart is what was counted together.
func TestAddLatencies(t *testing.T) {
	var apart [2]Latencies
	var together Latencies
	for i := range 100 {
		d := time.Duration(i*i) * time.Microsecond
		apart[i%2][i%int(NumIntervals)].Observe(d)
		together[i%int(NumIntervals)].Observe(d)
	}
	if apart[0].Add(&apart[1]); apart[0] != together {
		t.Error(apart[0], together)
	}
}
