package qp

import (
	"testing"
	"unsafe"
)

// TestLayout: the fields that a usual packet needs stand in as few lines of the cache as their order means them to.
func TestLayout(t *testing.T) {
	const line = 64
	var c Pair
	var q QP
	at := map[string]uintptr{}
	for name, offset := range map[string]uintptr{
		"Pair": 0, "Pair.Stranger": unsafe.Offsetof(c.Stranger),
		"QP": unsafe.Offsetof(c.Ends), "QP.RQ": unsafe.Offsetof(q.RQ), "RQ.LastTime": unsafe.Offsetof(q.RQ.LastTime),
		"SQ": unsafe.Offsetof(q.SQ), "SQ.Stray": unsafe.Offsetof(q.SQ) + unsafe.Offsetof(q.SQ.Stray),
		"SQ.LastTime": unsafe.Offsetof(q.SQ) + unsafe.Offsetof(q.SQ.LastTime), "SQ.Restart": unsafe.Offsetof(q.SQ) + unsafe.Offsetof(q.SQ.Restart),
		"SQ.History": unsafe.Offsetof(q.SQ) + unsafe.Offsetof(q.SQ.History), "Flow.Reported": unsafe.Offsetof(q.Flow) + unsafe.Offsetof(q.Flow.Reported),
		"Sums.Packets": unsafe.Offsetof(q.Sums) + unsafe.Offsetof(q.Sums.Packets), "Sums.Messages": unsafe.Offsetof(q.Sums) + unsafe.Offsetof(q.Sums.Messages),
	} {
		at[name] = offset / line
	}
	for _, same := range [][2]string{
		{"Pair", "Pair.Stranger"},
		{"QP.RQ", "RQ.LastTime"},
		{"SQ", "SQ.Stray"},
		{"SQ.LastTime", "SQ.Restart"},
		{"SQ.History", "Flow.Reported"},
		{"Sums.Packets", "Sums.Messages"},
	} {
		if at[same[0]] != at[same[1]] {
			t.Errorf("%s and %s stand in different lines", same[0], same[1])
		}
	}
	if n := unsafe.Sizeof(q); n%line != 0 || unsafe.Offsetof(c.Ends)%line != 0 {
		t.Errorf("a QP of %d bytes does not begin with a line", n)
	}
}
