package agent

import (
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestPings: echo requests are known in the order of frames, whoever counted them, and none of too many; replies are none.
func TestPings(t *testing.T) {
	frame := func(kind byte, at int64) *fabricagent.Frame {
		b := make([]byte, 42)
		b[12], b[14], b[23], b[34] = 8, 0x45, 1, kind
		copy(b[26:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
		return &fabricagent.Frame{Link: fabricagent.LinkEthernet, Data: b, Len: uint32(len(b)), Time: at, Number: uint64(at)}
	}
	var a, b signs
	a.frame(frame(8, 30))
	a.frame(frame(0, 35))
	b.frame(frame(8, 20))
	a.addAll(&b)
	one, two := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	if got := a.pings.all(); len(got) != 2 || got[0].At != 20 || got[1].Frame != 30 || got[0].Host != one || got[0].To != two {
		t.Errorf("%+v", got)
	}
	for n := range int64(mostSigns) {
		b.frame(frame(8, n))
	}
	if a.addAll(&b); a.pings.all() != nil {
		t.Errorf("%d of too many", len(a.pings.all()))
	}
}
