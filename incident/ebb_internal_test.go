package incident

import (
	"testing"

	"ibwitness/packet"
	"ibwitness/timing"
)

// TestEbb: how much comes in the first whole window with marks of bursts, and in the slowest after it, is told where that is half or less; not where it hardly is, and not of bursts that are too short to tell.
func TestEbb(t *testing.T) {
	const said = "up to 24 Gbit/s came in all in the first whole 256µs with marks of one, and about 4 Gbit/s or less in the slowest after it"
	for name, k := range map[string]struct {
		bytes []uint32 // of each of two hosts, by window
		want  string
	}{
		"falls":  {[]uint32{100, 384000, 384000, 64000, 200000, 100}, said},
		"hardly": {[]uint32{100, 384000, 384000, 200000, 384000, 100}, ""},
		"short":  {[]uint32{384000, 384000, 64000}, ""},
	} {
		b, x := &burstsTo{whole: map[packet.Addr][]timing.Window{}}, ebb{}
		for h := range byte(2) {
			for n, bytes := range k.bytes {
				marked := uint16(0)
				if n < 4 {
					marked = 9
				}
				a := packet.IPv4Addr([]byte{10, 0, 0, h})
				b.whole[a] = append(b.whole[a], timing.Window{At: int64(n), Bytes: bytes, Packets: 99, Marked: marked})
			}
		}
		x.add(b, timing.BusyWidth/2, int64(len(k.bytes))*timing.BusyWidth-timing.BusyWidth/2)
		if got := x.said(1); got != k.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
