package fabricagent

import (
	"encoding/binary"
	"testing"

	"ibwitness/packet"
)

// TestNamed: what carries no RoCE that can be read is named, and similar traffic is not.
func TestNamed(t *testing.T) {
	body := make([]byte, 40)
	esp := cat([]byte{0xC0, 1, 2, 3, 0, 0, 0, 1}, body)
	psp := func(length, flags byte) []byte { return cat([]byte{17, length, 0, flags, 0x80, 0, 0, 1}, body) }
	from := func(port uint16, b []byte) []byte {
		binary.BigEndian.PutUint16(b, port)
		return b
	}
	on := func(b []byte) []byte { return ipv4(protoUDP, b) }
	tests := []struct {
		name string
		data []byte
		want Outcome
	}{
		{"Ultra Ethernet", ether(etherIPv4, on(udp(4793, body))), UltraEthernet},
		{"Ultra Ethernet on IPv6 in a VLAN", ether(etherVLAN, vlan(5, etherIPv6, ipv6(protoUDP, udp(4793, body)))), UltraEthernet},
		{"Ultra Ethernet in VXLAN", ether(etherIPv4, on(udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, ether(etherIPv4, on(udp(4793, body)))))), UltraEthernet},
		{"from the port of Ultra Ethernet", ether(etherIPv4, on(from(4793, udp(53, body)))), NotRDMA},
		{"TCP to the port of Ultra Ethernet", ether(etherIPv4, ipv4(6, udp(4793, body))), NotRDMA},
		{"ESP", ether(etherIPv4, ipv4(50, esp)), ESP},
		{"ESP on IPv6", ether(etherIPv6, ipv6(50, esp)), ESP},
		{"ESP after hop-by-hop options", ether(etherIPv6, ipv6(0, cat([]byte{50, 0, 1, 4, 0, 0, 0, 0}, esp))), ESP},
		{"ESP in UDP", ether(etherIPv4, on(udp(4500, esp))), ESP},
		{"ESP in UDP through a translator", ether(etherIPv4, on(from(4500, udp(61000, esp)))), ESP},
		{"IKE", ether(etherIPv4, on(udp(4500, []byte{0, 0, 0, 0}, body))), NotRDMA},
		{"keeps a translation alive", ether(etherIPv4, on(udp(4500, []byte{0xFF}))), NotRDMA},
		{"PSP", ether(etherIPv4, on(udp(1000, psp(1, 1)))), PSP},
		{"PSP of version 3 with a virtualization cookie", ether(etherIPv6, ipv6(protoUDP, udp(1000, psp(2, 3<<2|3)))), PSP},
		{"PSP without the bit that is always set", ether(etherIPv4, on(udp(1000, psp(1, 0)))), NotRDMA},
		{"PSP of an unknown version", ether(etherIPv4, on(udp(1000, psp(1, 4<<2|1)))), NotRDMA},
		{"PSP with a header that is too short", ether(etherIPv4, on(udp(1000, psp(0, 1)))), NotRDMA},
		{"PSP cut off", ether(etherIPv4, on(udp(1000, psp(1, 1)[:15]))), NotRDMA},
		{"authentication header", ether(etherIPv4, ipv4(51, esp)), NotRDMA},
	}
	for _, tt := range tests {
		f := Frame{Link: LinkEthernet, Len: uint32(len(tt.data)), Data: tt.data}
		if got := Decode(&f, new(packet.Packet)); got != tt.want || got.IsRDMA() {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	for o := range NumOutcomes {
		if o.String() == "" {
			t.Errorf("outcome %d has no name", o)
		}
	}
}
