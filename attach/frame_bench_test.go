package attach_test

import (
	"encoding/binary"
	"testing"

	"ibwitness/attach"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
)

// BenchmarkFrame measures what a frame costs without the way from C and back. `make pgo` profiles it for the library.
func BenchmarkFrame(b *testing.B) {
	const frames = 300_000
	capture := traffic.Capture(traffic.Small(64), frames)
	for b.Loop() {
		r, err := attach.Open(nil)
		if err != nil {
			b.Fatal(err)
		}
		var first uint64
		for list := capture[24:]; len(list) > 0; {
			h := func(n int) uint64 { return uint64(binary.LittleEndian.Uint32(list[4*n:])) }
			at, n := h(0)*1e9+h(1), 16+int(h(2))
			if first == 0 {
				first = at
			}
			if _, err := r.Frame(0, packet.WayUnknown, (at-first)*1000, list[16:n], int(h(3))); err != nil {
				b.Fatal(err)
			}
			list = list[n:]
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/frames, "ns/frame")
}
