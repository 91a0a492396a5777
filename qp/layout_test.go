package qp

import (
	"testing"
	"unsafe"

	"ibwitness/wqe"
)

// TestLayout: the fields that a usual packet needs are in as few lines of the cache as their order means them to.
func TestLayout(t *testing.T) {
	const cacheLine = 64
	var c Pair
	var d Direction
	sq, rq := unsafe.Offsetof(d.SQ), unsafe.Offsetof(d.Peer)
	at := map[string]uintptr{}
	for name, offset := range map[string]uintptr{
		"Pair": 0, "Pair.WrongService": unsafe.Offsetof(c.WrongService), "Pair.Ways": unsafe.Offsetof(c.Ways) + unsafe.Sizeof(c.Ways) - 1,
		"Flow.PKey": unsafe.Offsetof(d.Flow) + unsafe.Offsetof(d.Flow.PKey), "Sums": unsafe.Offsetof(d.Sums), "SQ": sq, "SQ.Count": sq + unsafe.Offsetof(d.SQ.Count),
		"SQ.Next": sq + unsafe.Offsetof(d.SQ.Next), "SQ.Messages": sq + unsafe.Offsetof(d.SQ.Messages) + unsafe.Sizeof(d.SQ.Messages) - 1,
		"RQ.EPSN": rq + unsafe.Offsetof(d.Peer.EPSN), "RQ.Last": rq + unsafe.Offsetof(d.Peer.Last), "RQ.MSN": rq + unsafe.Offsetof(d.Peer.MSN), "RQ.Pending": rq + unsafe.Sizeof(d.Peer) - 1,
		"SQ.Gap": sq + unsafe.Offsetof(d.SQ.Gap), "SQ.LacksResponse": sq + unsafe.Offsetof(d.SQ.LacksResponse),
	} {
		at[name] = offset / cacheLine
	}
	for _, same := range [][2]string{
		{"Pair", "Pair.WrongService"},
		{"Pair", "Pair.Ways"},
		{"Flow.PKey", "Sums"},
		{"Flow.PKey", "SQ"},
		{"Flow.PKey", "SQ.Count"},
		{"SQ.Next", "SQ.Messages"},
		{"SQ.Gap", "SQ.LacksResponse"},
		{"RQ.EPSN", "RQ.Last"},
		{"RQ.EPSN", "RQ.MSN"},
		{"RQ.EPSN", "RQ.Pending"},
	} {
		if at[same[0]] != at[same[1]] {
			t.Errorf("%s and %s are in different lines", same[0], same[1])
		}
	}
	if unsafe.Sizeof(c.Ways[0].SQ.Messages) != 24 || unsafe.Sizeof(wqe.SendWQE{}) != 48 || unsafe.Sizeof(sent{}) != 16 {
		t.Errorf("a ring takes %d bytes, a message %d and a packet %d", unsafe.Sizeof(c.Ways[0].SQ.Messages), unsafe.Sizeof(wqe.SendWQE{}), unsafe.Sizeof(sent{}))
	}
	if n := unsafe.Sizeof(d); n%cacheLine != 0 {
		t.Errorf("a direction of %d bytes is no number of lines", n)
	}
	for range 4 {
		if allocated = new(Direction); uintptr(unsafe.Pointer(allocated))%cacheLine != 0 {
			t.Fatalf("a direction begins at byte %d of a line", uintptr(unsafe.Pointer(allocated))%cacheLine)
		}
	}
}

var allocated *Direction
