package coverage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// TestPlain: messages that are plain are counted alike one by one and together, on each path MTU, as one packet and as several.
func TestPlain(t *testing.T) {
	for _, pmtu := range []uint32{0, 256, 512, 1024, 2048, 4096} {
		plain := 0
		for length := range uint32(LargeSize + 3*4096) {
			if !Plain(length, pmtu) {
				continue
			}
			plain++
			o := packet.Op(packet.UC, packet.WriteOnly)
			if pmtu != 0 && length > pmtu {
				o = packet.Op(packet.UC, packet.WriteLast)
			}
			var one, together Counts
			one.Message(o, length, pmtu, 3)
			together.Plain(o, int(length&3), pmtu, 3)
			if one != together {
				t.Fatalf("%d bytes on %d:\n%s", length, pmtu, cmp.Diff(one, together))
			}
		}
		if want := map[uint32]int{0: 251, 256: LargeSize*253/256 - 2}[pmtu]; plain < want || plain == 0 {
			t.Errorf("path MTU %d: %d lengths are plain, not %d", pmtu, plain, want)
		}
	}
}

// TestSizeOf: the bounds of each class.
func TestSizeOf(t *testing.T) {
	for _, k := range []struct {
		length, pmtu uint32
		want         Size
		known        bool
	}{
		{0, 0, Empty, true},
		{1, 0, UnderWord, true},
		{3, 256, UnderWord, true},
		{4, 0, UnderPMTU, true},
		{254, 0, UnderPMTU, true},
		{255, 0, UnderPMTU, false},
		{5000, 0, UnderPMTU, false},
		{254, 256, UnderPMTU, true},
		{255, 256, PMTULess1, true},
		{256, 256, ExactlyPMTU, true},
		{257, 256, PMTUPlus1, true},
		{258, 256, Rest, true},
		{511, 256, Rest, true},
		{512, 256, Multiple, true},
		{513, 256, Rest, true},
		{4096, 4096, ExactlyPMTU, true},
		{LargeSize, 4096, Multiple, true},
		{LargeSize + 1, 4096, Large, true},
		{LargeSize + 1, 0, Large, true},
		{1 << 31, 4096, Large, true},
	} {
		if got, known := SizeOf(k.length, k.pmtu); known != k.known || known && got != k.want {
			t.Errorf("%d bytes on %d: %d, %t", k.length, k.pmtu, got, known)
		}
	}
}

// TestAdd: what two have counted is added up in every field.
func TestAdd(t *testing.T) {
	var a, b Counts
	for o := range 256 {
		o := packet.Opcode(o)
		b.Packet(&packet.Packet{Opcode: o, Has: o.Info().Headers, Syndrome: packet.Syndrome(o)})
		b.Message(o, uint32(o)*8, 256, 2)
	}
	for s := range Services {
		for w := range NumWraps {
			b.Wrap(s, w)
		}
		for p := range NumPaths {
			b.Recovered(s, p)
		}
	}
	a.Add(&b)
	if a != b {
		t.Error(cmp.Diff(b, a))
	}
	if a.Add(&b); a == b {
		t.Error("twice is once")
	}
}
