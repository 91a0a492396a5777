package connection

import "testing"

// TestFlowsFrom: a search that begins where it began in a table of another size finds the flow or none, but no other one.
func TestFlowsFrom(t *testing.T) {
	var f flows
	const n = 1000
	for key := range uint64(n) {
		f.put(key, 0, uint32(key))
	}
	for _, size := range []int{2 * n, n} {
		began := map[uint64]int{}
		for key := range uint64(n) {
			began[key] = f.home(key+1, 0)
		}
		f.resize(size)
		for key, at := range began {
			if s := f.from(at, key+1, 0); s.key != 0 && (s.key != key+1 || s.way != uint32(key)) {
				t.Fatalf("flow %d: found that of key %d", key, s.key)
			}
			if s := f.from(f.home(key+1, 0), key+1, 0); s.key != key+1 || s.way != uint32(key) {
				t.Fatalf("flow %d is not found", key)
			}
			if s := f.from(f.home(key+1+n, 0), key+1+n, 0); s.key != 0 {
				t.Fatalf("a flow that there is not: found that of key %d", s.key)
			}
		}
	}
}
