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
	widths := []bool{false}
	if wide {
		widths = append(widths, true)
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
		for _, wide = range widths {
			if got := icrcIPv4(&data[0], n); got != want {
				t.Fatalf("%d bytes, wide %v: %08x, want %08x", n, wide, got, want)
			}
		}
	}
}
