package upper

import (
	"encoding/binary"
	"testing"
)

// TestLowered: an end of an RPC connection that grants far fewer calls at once than before is known, with how many were open before and since; not where as many are open as before the
// grant fell would allow, where the client has fewer open than it may, or where the grant falls little.
func TestLowered(t *testing.T) {
	be := binary.BigEndian
	call := func(xid uint32) []byte {
		return bytesOf(be, xid, uint32(1), uint32(32), uint32(0), uint32(0), uint32(0), uint32(0), xid, uint32(0), uint32(2), uint32(programNFS), uint32(3), uint32(1), uint32(1), uint32(0), uint32(0), uint32(0), uint32(8), uint32(0x01000600), uint32(7))
	}
	reply := func(xid, credits uint32) []byte {
		return bytesOf(be, xid, uint32(1), credits, uint32(0), uint32(0), uint32(0), uint32(0), xid, uint32(1), uint32(0), uint32(0), uint32(0), uint32(0), uint32(0), uint32(1), uint32(2), uint32(3), uint32(4))
	}
	for _, c := range []struct {
		name            string
		was, now        uint32
		openWas, openIs int
		lowered         bool
	}{
		{"from 32 to 1", 32, 1, 6, 1, true},
		{"from 32 to 2", 32, 2, 6, 2, true},
		{"the client never has more open", 32, 1, 1, 1, false},
		{"the client has fewer open than it may", 32, 4, 6, 1, false},
		{"as many are open as before", 32, 4, 6, 6, false},
		{"it falls little", 32, 30, 31, 30, false},
	} {
		k, xid := &talk{TB: t}, uint32(100)
		round := func(open int, credits uint32) {
			for i := range open {
				k.send(0, call(xid+uint32(i)))
			}
			for i := range open {
				k.send(1, reply(xid+uint32(i), credits))
			}
			xid += uint32(open)
		}
		for range 40 {
			round(c.openWas, c.was)
		}
		at := k.now + int64(c.openWas) + 1
		round(c.openWas, c.now)
		for range 60 {
			round(c.openIs, c.now)
		}
		l, lowered := k.t.Lowered()
		if lowered != c.lowered || lowered && (l.By != 1 || l.Frame != uint64(at) || l.Was.Calls != c.was || l.Now.Calls != c.now || l.Was.Open != c.openWas || l.Now.Open != c.openIs) {
			t.Errorf("%s: %v, %+v", c.name, lowered, l)
		}
	}
}
