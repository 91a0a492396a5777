package fabricagent

import (
	"encoding/binary"
	"testing"

	"ibwitness/packet"
)

// TestDiscardOf: an ICMP message of which packet to RoCEv2 was discarded, and why, is told from all others.
func TestDiscardOf(t *testing.T) {
	quoted := roce()
	quoted6 := ipv6(protoUDP, udp(packet.UDPPort, roce()[28:]))
	v4 := func(kind, code byte, quote []byte) []byte {
		b := append(make([]byte, 12), 8, 0)
		return append(b, ipv4(protoICMP, append([]byte{kind, code, 0, 0, 0, 0, 0, 0}, quote...))...)
	}
	v6 := func(kind, code byte, quote []byte) []byte {
		b := append(make([]byte, 12), 0x86, 0xDD)
		return append(b, ipv6(protoICMPv6, append([]byte{kind, code, 0, 0, 0, 0, 0, 0}, quote...))...)
	}
	other := append([]byte(nil), quoted...)
	binary.BigEndian.PutUint16(other[22:], 53)
	fragment := v4(11, 0, quoted)
	fragment[14+7] = 3
	for _, tt := range []struct {
		name string
		data []byte
		want Reason
		ok   bool
	}{
		{"time exceeded", v4(11, 0, quoted), NoHopsLeft, true},
		{"the UDP ports only", v4(11, 0, quoted[:24]), NoHopsLeft, true},
		{"no route", v4(3, 0, quoted), NoRoute, true},
		{"host unreachable", v4(3, 1, quoted), NoHost, true},
		{"port unreachable", v4(3, 3, quoted), NoPort, true},
		{"prohibited", v4(3, 13, quoted), Prohibited, true},
		{"time exceeded of IPv6", v6(3, 0, quoted6), NoHopsLeft, true},
		{"no route of IPv6", v6(1, 0, quoted6), NoRoute, true},
		{"address unreachable of IPv6", v6(1, 3, quoted6), NoHost, true},
		{"port unreachable of IPv6", v6(1, 4, quoted6), NoPort, true},
		{"prohibited of IPv6", v6(1, 1, quoted6), Prohibited, true},
		{"reassembly", v4(11, 1, quoted), 0, false},
		{"too big", v4(3, 4, quoted), 0, false},
		{"an echo reply", v4(0, 0, quoted), 0, false},
		{"of DNS", v4(11, 0, other), 0, false},
		{"without the ports", v4(11, 0, quoted[:22]), 0, false},
		{"a later fragment", fragment, 0, false},
		{"no packet", v4(11, 0, nil), 0, false},
	} {
		d, ok := DiscardOf(&Frame{Link: LinkEthernet, Len: uint32(len(tt.data)), Data: tt.data})
		if ok != tt.ok || ok && (d.Reason != tt.want || d.By.IsZero() || d.From.IsZero() || d.To.IsZero()) {
			t.Errorf("%s: %+v %t", tt.name, d, ok)
		}
		for n := range tt.data {
			DiscardOf(&Frame{Link: LinkEthernet, Len: uint32(len(tt.data)), Data: tt.data[:n]})
		}
	}
}
