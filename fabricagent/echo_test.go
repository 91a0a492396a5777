package fabricagent

import (
	"strings"
	"testing"

	"ibwitness/packet"
)

// TestEchoReply: who answers a ping is known of IPv4 and IPv6, with VLAN tags and without; of requests, later fragments, cut frames and other traffic nobody is.
func TestEchoReply(t *testing.T) {
	ether := func(tag bool, t uint16) []byte {
		b := make([]byte, 12)
		if tag {
			b = append(b, 0x81, 0, 0, 7)
		}
		return append(b, byte(t>>8), byte(t))
	}
	v4 := func(proto, kind byte, fragment byte) []byte {
		b := make([]byte, 28)
		b[0], b[7], b[8], b[9], b[20] = 0x45, fragment, 63, proto, kind
		copy(b[12:], []byte{10, 0, 0, 9, 10, 0, 0, 7})
		return b
	}
	v6 := func(proto, kind byte) []byte {
		b := make([]byte, 48)
		b[0], b[6], b[7], b[8], b[23], b[39], b[40] = 0x60, proto, 63, 0x20, 9, 7, kind
		return b
	}
	a4, a6 := packet.IPv4Addr([]byte{10, 0, 0, 9}), packet.GIDAddr(v6(0, 0)[8:24])
	b4, b6 := packet.IPv4Addr([]byte{10, 0, 0, 7}), packet.GIDAddr(v6(0, 0)[24:40])
	for name, tt := range map[string]struct {
		data []byte
		want packet.Addr
	}{
		"IPv4":                {append(ether(false, etherIPv4), v4(1, 0, 0)...), a4},
		"IPv4 in a VLAN":      {append(ether(true, etherIPv4), v4(1, 0, 0)...), a4},
		"IPv6":                {append(ether(false, etherIPv6), v6(58, 129)...), a6},
		"an echo request":     {append(ether(false, etherIPv4), v4(1, 8, 0)...), packet.Addr{}},
		"an IPv6 request":     {append(ether(false, etherIPv6), v6(58, 128)...), packet.Addr{}},
		"a later fragment":    {append(ether(false, etherIPv4), v4(1, 0, 3)...), packet.Addr{}},
		"TCP":                 {append(ether(false, etherIPv4), v4(6, 0, 0)...), packet.Addr{}},
		"cut after IP":        {append(ether(false, etherIPv4), v4(1, 0, 0)[:20]...), packet.Addr{}},
		"cut within Ethernet": {ether(true, etherIPv4)[:13], packet.Addr{}},
		"ARP":                 {append(ether(false, 0x0806), make([]byte, 28)...), packet.Addr{}},
	} {
		if got, hops, ok := EchoReply(&Frame{Link: LinkEthernet, Data: tt.data, Len: uint32(len(tt.data))}); got != tt.want || ok != !tt.want.IsZero() || ok && hops != 63 {
			t.Errorf("%s: %v %v", name, got, ok)
		}
		from, to, ok := EchoRequest(&Frame{Link: LinkEthernet, Data: tt.data, Len: uint32(len(tt.data))})
		if is := strings.Contains(name, "request"); ok != is || is && (from != a4 && from != a6 || to != b4 && to != b6) {
			t.Errorf("%s: %v %v %v", name, from, to, ok)
		}
	}
	if _, _, ok := EchoReply(&Frame{Link: LinkInfiniBand, Data: append(ether(false, etherIPv4), v4(1, 0, 0)...)}); ok {
		t.Error("of another link")
	}
}
