package connection

import (
	"testing"

	"ibwitness/packet"
)

// TestFirstHops: a small hop limit of the first packet is kept, through changes of state and of what the first packet is; none of a usual one, nor of InfiniBand.
func TestFirstHops(t *testing.T) {
	for _, k := range []struct {
		encap packet.Encap
		sent  uint8
		want  uint8
	}{{packet.RoCEv2IPv4, 1, 1}, {packet.RoCEv2IPv6, MostHops, MostHops}, {packet.RoCEv2IPv4, MostHops + 1, 0}, {packet.RoCEv2IPv4, 64, 0}, {packet.RoCEv1, 1, 0}} {
		var c, d Connection
		c.begins(&packet.Packet{Encap: k.encap, HopLmt: k.sent})
		c.Leave(true)
		d.beginsAs(&c)
		if c.FirstHops() != k.want || !c.Leaving() || d.FirstHops() != k.want || d.Leaving() {
			t.Errorf("%v with %d: %d, %d, and not %d", k.encap, k.sent, c.FirstHops(), d.FirstHops(), k.want)
		}
		if c.begins(&packet.Packet{Encap: packet.RoCEv2IPv4, HopLmt: 64}); c.FirstHops() != 0 || !c.Leaving() {
			t.Errorf("%d after a packet with 64", c.FirstHops())
		}
	}
}
