package qp

import (
	"testing"

	"ibwitness/packet"
)

// TestSentNothing: an answer that acknowledges more than the newest copy has reached is not to that: the responder had the request before.
func TestSentNothing(t *testing.T) {
	k := &Stall{Since: 0, Last: 1000}
	k.Rounds[TimerExpired] = 1
	p := &packet.Packet{PSN: 20, Opcode: 0x11, Time: 1010}
	p.Encap, p.IPID = packet.RoCEv2IPv4, 8
	for _, tt := range []struct {
		name   string
		before uint16
		newest packet.PSN
		want   bool
	}{
		{"the copy is whole", 7, 20, true},
		{"it has not come so far", 7, 16, false},
		{"another packet left between", 6, 20, false},
	} {
		if got := k.sentNothing(tt.before, tt.newest, p); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
