package packet

import (
	"math/rand/v2"
	"testing"
)

// TestDirectICRC compares the assembly, in each of its widths, with hash/crc32, for every length and alignment.
func TestDirectICRC(t *testing.T) {
	if !direct {
		t.Skip("this processor takes only the way through hash/crc32")
	}
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 4300+64)
	for i := range buf {
		buf[i] = byte(r.Uint32())
	}
	p := Packet{Has: HasIPv4 | HasUDP | HasBTH, BTHOff: ipv4Size + udpSize}
	var c Checker
	for n := ipv4Size + udpSize + bthSize; n <= 4300; n++ {
		at := r.IntN(64)
		data := buf[at : at+n : at+n]
		want := c.viaTable(&p, data, p.BTHOff, afterOnes)
		if got := icrcIPv4(&data[0], n); got != want {
			t.Fatalf("%d bytes: %08x, want %08x", n, got, want)
		}
		if !wide {
			continue
		}
		if got := icrcWide(&data[0], n); got != want {
			t.Fatalf("%d bytes, 64 at a time: %08x, want %08x", n, got, want)
		}
	}
}
