package live

import (
	"slices"
	"testing"

	"golang.org/x/net/bpf"
)

// ethernet builds a frame: the types of its tags and of what it holds, and that.
func ethernet(payload []byte, types ...uint16) []byte {
	f := make([]byte, 12, 12+len(payload))
	for i, t := range types {
		f = append(f, byte(t>>8), byte(t))
		if i < len(types)-1 {
			f = append(f, 0, 7)
		}
	}
	return append(f, payload...)
}

// ipv4 builds an IPv4 packet with so many words of options.
func ipv4(proto byte, port uint16, options, fragment int) []byte {
	b := make([]byte, 20+4*options, 100)
	b[0], b[6], b[7], b[9] = byte(0x45+options), byte(fragment>>8), byte(fragment), proto
	return append(b, 0xc0, 0, byte(port>>8), byte(port), 0, 8, 0, 0)
}

// ipv6 builds an IPv6 packet.
func ipv6(next byte, port uint16) []byte {
	b := make([]byte, 40, 100)
	b[0], b[6] = 0x60, next
	return append(b, 0xc0, 0, byte(port>>8), byte(port), 0, 8, 0, 0)
}

// extended builds an IPv6 packet with an extension header of so many times 8 bytes more than 8.
func extended(kind, more, next byte, port uint16) []byte {
	b := ipv6(kind, port)
	header := make([]byte, 8+8*int(more))
	header[0], header[1] = next, more
	return slices.Insert(b, ipv6Size, header...)
}

func TestFilter(t *testing.T) {
	code, err := roce(1000, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, ok := bpf.Disassemble(code)
	if !ok {
		t.Fatal("the program has unknown instructions")
	}
	vm, err := bpf.NewVM(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		frame []byte
		pass  bool
	}{
		{"RoCEv1", ethernet(make([]byte, 60), etherRoCE), true},
		{"RoCEv1 in a VLAN", ethernet(make([]byte, 60), etherVLAN, etherRoCE), true},
		{"RoCEv2", ethernet(ipv4(protoUDP, portRoCE, 0, 0), etherIPv4), true},
		{"RoCEv2 not to be fragmented", ethernet(ipv4(protoUDP, portRoCE, 0, 0x4000), etherIPv4), true},
		{"RoCEv2 after options", ethernet(ipv4(protoUDP, portRoCE, 3, 0), etherIPv4), true},
		{"RoCEv2 in a VLAN", ethernet(ipv4(protoUDP, portRoCE, 0, 0), etherVLAN, etherIPv4), true},
		{"RoCEv2 in two VLANs", ethernet(ipv4(protoUDP, portRoCE, 1, 0), etherQinQ, etherVLAN, etherIPv4), true},
		{"RoCEv2 in three VLANs", ethernet(ipv4(protoUDP, portRoCE, 0, 0), etherQinQ, etherVLAN, etherVLAN, etherIPv4), true},
		{"RoCEv2 over IPv6", ethernet(ipv6(protoUDP, portRoCE), etherIPv6), true},
		{"RoCEv2 over IPv6 in a VLAN", ethernet(ipv6(protoUDP, portRoCE), etherVLAN, etherIPv6), true},
		{"RoCEv2 after hop-by-hop options", ethernet(extended(headerHopByHop, 1, protoUDP, portRoCE), etherIPv6), true},
		{"RoCEv2 after a fragment header", ethernet(extended(headerFragment, 0, protoUDP, portRoCE), etherIPv6), true},
		{"a multicast report", ethernet(extended(headerHopByHop, 0, 58, portRoCE), etherIPv6), false},
		{"DNS after hop-by-hop options", ethernet(extended(headerHopByHop, 0, protoUDP, 53), etherIPv6), false},
		{"a fragment of ICMPv6", ethernet(extended(headerFragment, 0, 58, portRoCE), etherIPv6), false},
		{"DNS", ethernet(ipv4(protoUDP, 53, 0, 0), etherIPv4), false},
		{"TCP to the same port", ethernet(ipv4(6, portRoCE, 0, 0), etherIPv4), false},
		{"a later fragment", ethernet(ipv4(protoUDP, portRoCE, 0, 185), etherIPv4), false},
		{"TCP over IPv6", ethernet(ipv6(6, portRoCE), etherIPv6), false},
		{"DNS over IPv6", ethernet(ipv6(protoUDP, 53), etherIPv6), false},
		{"pause", ethernet([]byte{0, 1, 0xFF, 0xFF}, etherCtrl), true},
		{"pause of priorities", ethernet(append([]byte{1, 1, 0, 8}, make([]byte, 42)...), etherCtrl), true},
		{"other MAC control", ethernet([]byte{0, 2, 0, 0}, etherCtrl), false},
		{"MAC control that ends early", ethernet([]byte{0}, etherCtrl), false},
		{"ARP", ethernet(make([]byte, 28), 0x0806), false},
		{"ARP in a VLAN", ethernet(make([]byte, 28), etherVLAN, 0x0806), false},
		{"four tags", ethernet(ipv4(protoUDP, portRoCE, 0, 0), etherVLAN, etherVLAN, etherVLAN, etherVLAN, etherIPv4), false},
		{"a frame that ends early", ethernet(ipv4(protoUDP, portRoCE, 0, 0), etherIPv4)[:30], false},
	} {
		n, err := vm.Run(c.frame)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if n > 0 != c.pass || c.pass && n != 1000 {
			t.Errorf("%s: %d bytes pass", c.name, n)
		}
	}
}
