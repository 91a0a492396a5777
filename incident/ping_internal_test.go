package incident

import (
	"strings"
	"testing"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestPing: the ping that is told is as large as the packet: payload is padded to 4 bytes on the wire.
func TestPing(t *testing.T) {
	for size, want := range map[uint32]string{2162: "-s 2180 ", 2164: "-s 2180 ", 2165: "-s 2184 "} {
		if got := checkMTU(packet.RoCEv2IPv4, &qp.StalledRequest{Op: wqe.Send}, size, "a", "b"); !strings.Contains(got, want) {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
}
