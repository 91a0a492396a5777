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
	sq := unsafe.Offsetof(q.SQ)
	messages, history := sq+unsafe.Offsetof(q.SQ.Messages), sq+unsafe.Offsetof(q.SQ.History)
	at := map[string]uintptr{}
	for name, offset := range map[string]uintptr{
		"Pair": 0, "Pair.Stranger": unsafe.Offsetof(c.Stranger),
		"QP": unsafe.Offsetof(c.Ends), "RQ": unsafe.Offsetof(q.RQ), "RQ.LastTime": unsafe.Offsetof(q.RQ) + unsafe.Offsetof(q.RQ.LastTime),
		"Sums.Packets": unsafe.Offsetof(q.Sums) + unsafe.Offsetof(q.Sums.Packets), "Flow.GIDs": unsafe.Offsetof(q.Flow) + unsafe.Offsetof(q.Flow.GIDs),
		"History.more": history + unsafe.Offsetof(q.SQ.History.more), "SQ.Excused": sq + unsafe.Offsetof(q.SQ.Excused),
		"SQ.First": sq + unsafe.Offsetof(q.SQ.First), "SQ.Stray": sq + unsafe.Offsetof(q.SQ.Stray), "Messages.more": messages + unsafe.Offsetof(q.SQ.Messages.more),
	} {
		at[name] = offset / line
	}
	for _, same := range [][2]string{
		{"Pair", "Pair.Stranger"},
		{"Sums.Packets", "Flow.GIDs"},
		{"RQ", "RQ.LastTime"},
		{"History.more", "SQ.Excused"},
		{"SQ.First", "Messages.more"},
		{"SQ.Stray", "Messages.more"},
	} {
		if at[same[0]] != at[same[1]] {
			t.Errorf("%s and %s are in different lines", same[0], same[1])
		}
	}
	for name, offset := range map[string]uintptr{"message": messages + unsafe.Offsetof(q.SQ.Messages.few), "history": history + unsafe.Offsetof(q.SQ.History.few)} {
		if offset%line != 0 {
			t.Errorf("the first %s does not begin with a line", name)
		}
	}
	if n := unsafe.Sizeof(q); n%line != 0 || unsafe.Offsetof(c.Ends)%line != 0 {
		t.Errorf("a QP of %d bytes does not begin with a line", n)
	}
}
