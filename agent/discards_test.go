package agent

import (
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestDiscards: what two have counted of a way and reason adds up, whoever counted it; of too many nothing is known.
func TestDiscards(t *testing.T) {
	of := func(n byte, at int64) *Discards {
		return &Discards{fabricagent.Discard{By: packet.IPv4Addr([]byte{10, 0, n, 1})}, 0, 1, at, at, uint64(at)}
	}
	var a, b discards
	a.add(of(1, 4))
	a.add(of(2, 5))
	b.add(of(2, 3))
	b.add(of(2, 9))
	a.addAll(&b)
	if got := a.all(); len(got) != 2 || got[0] != (Discards{of(2, 0).Discard, 0, 3, 3, 9, 3}) || got[1] != *of(1, 4) {
		t.Errorf("%+v", got)
	}
	for n := range byte(mostDiscards) {
		b.add(of(10+n, 9))
	}
	if a.addAll(&b); b.all() != nil || a.all() != nil {
		t.Error("some, of too many")
	}
}
