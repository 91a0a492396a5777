package fabricagent

import (
	"testing"

	"ibwitness/packet"
)

// TestPresence: who sent a frame of ARP or LLDP is known, in a VLAN and without; of probes without an address, cut frames, other hardware and other traffic nobody is.
func TestPresence(t *testing.T) {
	ether := func(tag bool, kind uint16) []byte {
		b := []byte{1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 0, 9}
		if tag {
			b = append(b, 0x81, 0, 0, 7)
		}
		return append(b, byte(kind>>8), byte(kind))
	}
	arp := func(hardware, last byte) []byte {
		b := make([]byte, 28)
		copy(b, []byte{0, hardware, 8, 0, 6, 4, 0, 1})
		if last > 0 {
			copy(b[14:], []byte{10, 0, 0, last})
		}
		return b
	}
	host, port := Presence{Host: packet.IPv4Addr([]byte{10, 0, 0, 9})}, Presence{Port: 0x080000000009}
	for name, k := range map[string]struct {
		data []byte
		want Presence
	}{
		"ARP":              {append(ether(false, etherARP), arp(1, 9)...), host},
		"ARP in a VLAN":    {append(ether(true, etherARP), arp(1, 9)...), host},
		"a probe":          {append(ether(false, etherARP), arp(1, 0)...), Presence{}},
		"other hardware":   {append(ether(false, etherARP), arp(32, 9)...), Presence{}},
		"ARP that is cut":  {append(ether(false, etherARP), arp(1, 9)[:20]...), Presence{}},
		"LLDP":             {append(ether(false, etherLLDP), 2, 7, 4), port},
		"IPv4":             {append(ether(false, etherIPv4), make([]byte, 28)...), Presence{}},
		"only an Ethernet": {ether(false, etherLLDP), Presence{}},
	} {
		if got, ok := PresenceOf(&Frame{Link: LinkEthernet, Data: k.data, Len: uint32(len(k.data))}); got != k.want || ok != (k.want != Presence{}) {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
	}
}
