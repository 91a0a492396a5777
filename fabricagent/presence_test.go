package fabricagent

import (
	"testing"

	"ibwitness/packet"
)

// TestPresence: who sent a frame of ARP, LLDP, neighbor discovery or IP is known, in a VLAN and without; of probes without an address, cut ARP, other hardware and RoCE nobody is.
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
	ip := func(protocol byte, after ...byte) []byte {
		return append(append(ether(false, etherIPv4), 0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 9, 10, 0, 0, 7), after...)
	}
	tcp := func(flags byte) []byte { return ip(protoTCP, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, flags) }
	icmp := func(from byte, what ...byte) []byte {
		b := append(ether(true, etherIPv6), 0x60, 0, 0, 0, 0, 8, protoICMPv6, 255)
		if len(what) > 1 {
			b[len(b)-2] = 0 // hop-by-hop options
		}
		at := make([]byte, 32)
		if from > 0 {
			at[0], at[1], at[15] = 0xFE, 0x80, from
		}
		return append(append(b, at...), what...)
	}
	solicit := func(target ...byte) []byte { // after an empty header of options
		return append(append([]byte{protoICMPv6, 0, 5, 2, 0, 0, 1, 0, 135}, make([]byte, 7)...), target...)
	}
	v4 := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	local, report := packet.Addr{Hi: 0xFE80 << 48, Lo: 9}, []byte{protoICMPv6, 0, 5, 2, 0, 0, 1, 0, 143}
	const station = 0x080000000009
	with := func(by Means, ports ...uint16) Presence {
		p := Presence{Host: v4(9), To: v4(7), Station: station, By: by}
		copy(p.Ports[:], ports)
		return p
	}
	host, port := Presence{Host: v4(9), To: packet.IPv4Addr(make([]byte, 4)), Station: station}, Presence{Station: station, By: ByLLDP}
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
		"IPv4 of nobody":   {append(ether(false, etherIPv4), make([]byte, 28)...), Presence{}},
		"TCP":              {tcp(0x10), with(ByTCP, 0x100, 0x200)},
		"FIN":              {tcp(0x11), with(ByFIN, 0x100, 0x200)},
		"RST":              {tcp(0x14), with(ByRST, 0x100, 0x200)},
		"TCP that is cut":  {tcp(0x11)[:40], with(ByTCP)},
		"a ping":           {ip(protoICMP, 8, 0), with(ByICMP)},
		"UDP":              {ip(protoUDP, 1, 0, 2, 0), with(ByUDP, 256, 512)},
		"RoCE":             {ip(protoUDP, 1, 0, packet.UDPPort>>8, packet.UDPPort&0xFF), Presence{}},
		"OSPF":             {ip(89), with(ByIP)},
		"DAD":              {icmp(0, solicit(0xFE, 0x80)...), Presence{Station: station, By: ByDAD}},
		"of one address":   {icmp(0, solicit(0x20, 0x01)...), Presence{Station: station, By: ByND}},
		"a first report":   {icmp(0, report...), Presence{Station: station, By: ByDAD}},
		"a report":         {icmp(9, report...), Presence{Host: local, Station: station, By: ByND}},
		"solicitation":     {icmp(9, 133), Presence{Host: local, Station: station, By: ByND}},
		"of a router":      {icmp(9, 134), Presence{Host: local, Station: station, By: ByICMP}},
		"nobody's":         {icmp(0, 134), Presence{}},
		"only an Ethernet": {ether(false, etherLLDP), Presence{}},
	} {
		if got, ok := PresenceOf(&Frame{Link: LinkEthernet, Data: k.data, Len: uint32(len(k.data))}); got != k.want || ok != (k.want != Presence{}) {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
	}
}
