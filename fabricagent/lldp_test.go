package fabricagent

import (
	"slices"
	"strings"
	"testing"
)

// TestNeighbor: a frame of LLDP names the port that sent it and its system; not one that is cut before the name, or whose name no terminal should be given.
func TestNeighbor(t *testing.T) {
	ether := []byte{1, 0x80, 0xC2, 0, 0, 0xE, 8, 0, 0, 0, 0, 9, etherLLDP >> 8, etherLLDP & 0xFF}
	tlv := func(kind byte, b ...byte) []byte { return append([]byte{kind << 1, byte(len(b))}, b...) }
	chassis, port := tlv(1, 4, 8, 0, 0, 0, 0, 9), tlv(2, append([]byte{5}, "Ethernet8"...)...)
	frame := func(list ...[]byte) []byte { return slices.Concat(append([][]byte{ether, chassis}, list...)...) }
	name := tlv(5, []byte("spine3")...)
	for what, k := range map[string]struct {
		data []byte
		want Neighbor
	}{
		"with a port":       {frame(port, tlv(3, 0, 120), name, tlv(0)), Neighbor{0x080000000009, "spine3", "Ethernet8"}},
		"port by address":   {frame(tlv(2, 3, 8, 0, 0, 0, 0, 9), name), Neighbor{0x080000000009, "spine3", ""}},
		"no name":           {frame(port, tlv(0), name), Neighbor{}},
		"cut":               {frame(port, name[:5]), Neighbor{}},
		"escapes":           {frame(port, tlv(5, 27, '[', '2', 'J')), Neighbor{}},
		"long":              {frame(port, tlv(5, []byte(strings.Repeat("x", 65))...)), Neighbor{}},
		"only an Ethernet":  {ether, Neighbor{}},
		"of another system": {append(slices.Clone(ether[:12]), 8, 0, 1, 2), Neighbor{}},
	} {
		got, ok := NeighborOf(&Frame{Link: LinkEthernet, Data: k.data, Len: uint32(len(k.data))})
		if want := k.want != (Neighbor{}); ok != want || want && got != k.want {
			t.Errorf("%s: %+v %v", what, got, ok)
		}
	}
}
