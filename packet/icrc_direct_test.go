package packet

import (
	"math/rand/v2"
	"testing"
)

// widths are the functions that compute an ICRC in assembly, whichever of them directly takes.
var widths = []struct {
	name  string
	works bool
	icrc  func(data *byte, n int) uint32
}{
	{"16 at a time", direct, icrcIPv4},
	{"32 at a time", pairwise, icrcPairs},
	{"64 at a time", wide, icrcWide},
}

// TestDirectICRC compares the assembly, in each of its widths, with hash/crc32, for every length and alignment.
func TestDirectICRC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 4300+64)
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	p := Packet{Has: HasIPv4 | HasUDP | HasBTH, BTHOff: ipv4Size + udpSize}
	var c Checker
	for _, w := range widths {
		t.Run(w.name, func(t *testing.T) {
			if !w.works {
				t.Skip("not on this processor")
			}
			for n := ipv4Size + udpSize + bthSize; n <= 4300; n++ {
				at := r.IntN(64)
				data := buf[at : at+n : at+n]
				if got, want := w.icrc(&data[0], n), c.viaTable(&p, data, p.BTHOff, afterOnes); got != want {
					t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
				}
			}
		})
	}
}
