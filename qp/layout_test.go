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
		"Pair": 0, "Pair.seldom": unsafe.Offsetof(c.seldom), "Pair.oddPayload": unsafe.Offsetof(c.oddPayload),
		"Pair.Ends[1].Direction": unsafe.Offsetof(c.Ends) + unsafe.Sizeof(c.Ends[0]) + unsafe.Offsetof(c.Ends[0].Direction) + unsafe.Sizeof(c.Ends[0].Direction) - 1,
		"Flow":                   unsafe.Offsetof(d.Flow), "packets": unsafe.Offsetof(d.packets), "Assumed": unsafe.Offsetof(d.Assumed), "SQ": sq, "SQ.Count": sq + unsafe.Offsetof(d.SQ.Count),
		"SQ.Next": sq + unsafe.Offsetof(d.SQ.Next), "SQ.Messages": sq + unsafe.Offsetof(d.SQ.Messages) + unsafe.Sizeof(d.SQ.Messages) - 1,
		"RQ.EPSN": rq + unsafe.Offsetof(d.Peer.EPSN), "RQ.Last": rq + unsafe.Offsetof(d.Peer.Last), "RQ.MSN": rq + unsafe.Offsetof(d.Peer.MSN),
		"SQ.LacksResponse": sq + unsafe.Offsetof(d.SQ.LacksResponse),
	} {
		at[name] = offset / cacheLine
	}
	for _, same := range [][2]string{
		{"Pair", "Pair.seldom"},
		{"Pair", "Pair.oddPayload"},
		{"Pair", "Pair.Ends[1].Direction"},
		{"Flow", "packets"},
		{"Flow", "Assumed"},
		{"Flow", "SQ"},
		{"Flow", "SQ.Count"},
		{"SQ.Next", "SQ.Messages"},
		{"RQ.EPSN", "RQ.Last"},
		{"RQ.EPSN", "RQ.MSN"},
		{"RQ.EPSN", "SQ.LacksResponse"},
	} {
		if at[same[0]] != at[same[1]] {
			t.Errorf("%s and %s are in different lines", same[0], same[1])
		}
	}
	if unsafe.Sizeof(d.SQ.Messages) != 32 || unsafe.Sizeof(wqe.SendWQE{}) != 48 || unsafe.Sizeof(sent{}) != 16 {
		t.Errorf("a ring takes %d bytes, a message %d and a packet %d", unsafe.Sizeof(d.SQ.Messages), unsafe.Sizeof(wqe.SendWQE{}), unsafe.Sizeof(sent{}))
	}
	if n := unsafe.Sizeof(d); n != 3*cacheLine {
		t.Errorf("a direction takes %d bytes, and not three lines", n)
	}
	for range 4 {
		if allocated = new(Direction); uintptr(unsafe.Pointer(allocated))%cacheLine != 0 {
			t.Fatalf("a direction begins at byte %d of a line", uintptr(unsafe.Pointer(allocated))%cacheLine)
		}
	}
}

var allocated *Direction

// TestTroubleMemory: what is kept of a connection that had trouble is bounded, as docs/incidents.md says.
func TestTroubleMemory(t *testing.T) {
	of := unsafe.Sizeof(Trouble{}) + 2*unsafe.Sizeof(Overtaking{}) + unsafe.Sizeof(Storming{}) + unsafe.Sizeof(Notified{})
	if of*10 > 26<<10 {
		t.Errorf("trouble takes %d bytes", of)
	}
	if keys := unsafe.Sizeof(acceptedLog{}); keys > 101<<10 {
		t.Errorf("what R_Keys gave access to takes %d bytes", keys)
	}
}
