package fabricagent

import "testing"

// TestOtherOf: what a frame without RDMA holds is told by EtherType, group, protocol and port, in a VLAN and without; of others and of frames that
// end early nothing is.
func TestOtherOf(t *testing.T) {
	ether := func(kind uint16, after ...byte) []byte {
		return append([]byte{1, 0x80, 0xC2, 0, 0, 0, 8, 0, 0, 0, 0, 9, byte(kind >> 8), byte(kind)}, after...)
	}
	ip := func(protocol byte, after ...byte) []byte {
		return append(ether(etherIPv4, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 9, 10, 0, 0, 7), after...)
	}
	v6 := func(next byte) []byte {
		return ether(etherIPv6, append([]byte{0x60, 0, 0, 0, 0, 8, next, 255}, make([]byte, 40)...)...)
	}
	stp := ether(39, 0x42, 0x42, 3)
	elsewhere := append([]byte{}, stp...)
	elsewhere[5] = 0x0E
	for name, k := range map[string]struct {
		data []byte
		want Other
	}{
		"PTP":            {ether(etherPTP, 0), PTP},
		"PTP in a VLAN":  {ether(etherVLAN, 0, 5, 0x88, 0xF7, 0), PTP},
		"PTP over UDP":   {ip(protoUDP, 1, 63, 1, 63, 0, 8, 0, 0), PTP},
		"STP":            {stp, STP},
		"another group":  {elsewhere, Unnamed},
		"LLDP":           {ether(etherLLDP, 0), LLDP},
		"LACP":           {ether(etherSlow, 1), LACP},
		"ARP":            {ether(etherARP, 0), ARP},
		"TCP":            {ip(protoTCP), TCP},
		"TCP over IPv6":  {v6(protoTCP), TCP},
		"ping":           {ip(protoICMP), ICMP},
		"listeners":      {v6(0), ICMP},
		"UDP":            {ip(protoUDP, 0, 53, 0, 53), UDP},
		"UDP, cut":       {ip(protoUDP), UDP},
		"IGMP":           {ip(2), OtherIP},
		"an unknown one": {ether(0x88B5, 0), Unnamed},
		"cut":            {[]byte{1, 0x80, 0xC2}, Unnamed},
	} {
		if o, from := OtherOf(&Frame{Data: k.data, Link: LinkEthernet, Len: uint32(len(k.data))}); o != k.want || len(k.data) >= etherSize && from != 0x080000000009 {
			t.Errorf("%s: %v of %x, want %v", name, o, from, k.want)
		}
	}
}
