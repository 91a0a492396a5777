package qp

import (
	"testing"
	"unsafe"
)

// TestLayout: the fields that a usual packet needs are in as few lines of the cache as their order means them to.
func TestLayout(t *testing.T) {
	const line = 64
	var c Pair
	var q QP
	sq, rq := unsafe.Offsetof(q.SQ), unsafe.Offsetof(q.RQ)
	at := map[string]uintptr{}
	for name, offset := range map[string]uintptr{
		"Pair": 0, "Pair.WrongService": unsafe.Offsetof(c.WrongService),
		"Flow.PKey": unsafe.Offsetof(q.Flow) + unsafe.Offsetof(q.Flow.PKey), "Sums": unsafe.Offsetof(q.Sums), "SQ": sq, "SQ.Count": sq + unsafe.Offsetof(q.SQ.Count),
		"SQ.Next": sq + unsafe.Offsetof(q.SQ.Next), "SQ.History": sq + unsafe.Offsetof(q.SQ.History) + unsafe.Sizeof(q.SQ.History) - 1,
		"RQ.EPSN": rq + unsafe.Offsetof(q.RQ.EPSN), "RQ.Last": rq + unsafe.Offsetof(q.RQ.Last), "RQ.MSN": rq + unsafe.Offsetof(q.RQ.MSN), "RQ.Pending": rq + unsafe.Sizeof(q.RQ) - 1,
		"SQ.Gap": sq + unsafe.Offsetof(q.SQ.Gap), "SQ.LacksResponse": sq + unsafe.Offsetof(q.SQ.LacksResponse),
	} {
		at[name] = offset / line
	}
	for _, same := range [][2]string{
		{"Pair", "Pair.WrongService"},
		{"Flow.PKey", "Sums"},
		{"Flow.PKey", "SQ"},
		{"Flow.PKey", "SQ.Count"},
		{"SQ.Next", "SQ.History"},
		{"SQ.Gap", "SQ.LacksResponse"},
		{"RQ.EPSN", "RQ.Last"},
		{"RQ.EPSN", "RQ.MSN"},
		{"RQ.EPSN", "RQ.Pending"},
	} {
		if at[same[0]] != at[same[1]] {
			t.Errorf("%s and %s are in different lines", same[0], same[1])
		}
	}
	if n := unsafe.Sizeof(q); n%line != 0 || unsafe.Offsetof(c.Ends)%line != 0 {
		t.Errorf("a QP of %d bytes does not begin with a line", n)
	}
}
