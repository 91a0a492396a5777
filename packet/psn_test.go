package packet_test

import (
	"testing"

	"pgregory.net/rapid"

	"ibwitness/packet"
)

var psns = rapid.Map(rapid.Uint32Range(0, packet.PSNMask), func(v uint32) packet.PSN { return packet.PSN(v) })

// TestPSN is rule BTH-017: arithmetic modulo 2^24, comparison by signed 24-bit difference.
func TestPSN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := psns.Draw(t, "p"), psns.Draw(t, "q")
		n := rapid.IntRange(-1<<23, 1<<23-1).Draw(t, "n")
		if got := p.Add(n); got > packet.PSNMask || got.Diff(p) != n {
			t.Fatalf("%v + %d = %v, which is %d after", p, n, got, got.Diff(p))
		}
		if p.Add(n).Add(-n) != p {
			t.Fatalf("%v + %d - %d", p, n, n)
		}
		d := p.Diff(q)
		if d < -1<<23 || d >= 1<<23 || q.Add(d) != p {
			t.Fatalf("%v - %v = %d", p, q, d)
		}
		if p.Before(q) != (d < 0) || p.After(q) != (d > 0) {
			t.Fatalf("%v, %v: before %v, after %v", p, q, p.Before(q), p.After(q))
		}
		if d != 0 && d != -1<<23 && p.Before(q) == q.Before(p) {
			t.Fatalf("%v and %v are each before the other, or neither", p, q)
		}
		if !p.In(p, q) || !q.In(p, q) {
			t.Fatalf("%v or %v outside of its own range", p, q)
		}
		r := psns.Draw(t, "r")
		if q != p && r.In(p, q) && r.In(q.Add(1), p.Add(-1)) && q.Add(1) != p {
			t.Fatalf("%v in %v … %v and in its complement", r, p, q)
		}
	})
}
