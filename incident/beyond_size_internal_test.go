package incident

import "testing"

// TestBeyondSize: a refused access that goes beyond a power of two from the lowest accepted address, where nearly all up to there was accepted, is told so; not one within that, nor where little was.
func TestBeyondSize(t *testing.T) {
	const low = 0x7f00c05d3000
	for _, k := range []struct {
		high, end uint64
		want      string
	}{
		{low + 1048184, low + 1049392, ": it goes 816 bytes beyond 1,048,576 bytes from the lowest address that was accepted"},
		{low + 1<<20, low + 1<<20 + 1, ": it goes 1 byte beyond 1,048,576 bytes from the lowest address that was accepted"},
		{low + 1048184, low + 1<<20, ""},
		{low + 900000, low + 1049392, ""},
		{low + 4000, low + 5000, ""},
		{low + 1048184, low - 5000, ""},
	} {
		if got := beyondSize(low, k.high, k.end); got != k.want {
			t.Errorf("%d %d: %q", k.high-low, k.end-low, got)
		}
	}
}
