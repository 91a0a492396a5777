package fabricagent

import (
	"bytes"
	"encoding/binary"
	"testing"

	"ibwitness/packet"
)

// roce is an RC SEND Only of PSN 0x123456 in UDP, with four bytes of payload, 48 bytes in all.
func roce() []byte {
	bth := []byte{0x04, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0x80, 0x12, 0x34, 0x56}
	return ipv4(protoUDP, udp(packet.UDPPort, bth, []byte("ping"), []byte{1, 2, 3, 4}))
}

// rocev1 is the same in a GRH.
func rocev1() []byte {
	bth := []byte{0x04, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0x80, 0x12, 0x34, 0x56}
	return ipv6(0x1b, bytes.Join([][]byte{bth, []byte("ping"), {1, 2, 3, 4}}, nil))
}

func udp(port uint16, body ...[]byte) []byte {
	b := bytes.Join(body, nil)
	h := binary.BigEndian.AppendUint16(nil, 49152)
	h = binary.BigEndian.AppendUint16(h, port)
	h = binary.BigEndian.AppendUint16(h, uint16(udpSize+len(b)))
	return append(append(h, 0, 0), b...)
}

func ipv4(proto byte, body []byte) []byte {
	h := []byte{0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2}
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(body)))
	return append(h, body...)
}

func ipv6(next byte, body []byte) []byte {
	h := make([]byte, ipv6Size)
	h[0], h[6], h[7], h[23], h[39] = 0x60, next, 64, 1, 2
	binary.BigEndian.PutUint16(h[4:], uint16(len(body)))
	return append(h, body...)
}

func ether(t uint16, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 12), t), body...)
}

func vlan(tag, inner uint16, body []byte) []byte {
	return append([]byte{byte(tag >> 8), byte(tag), byte(inner >> 8), byte(inner)}, body...)
}

func cat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// lrh is a native packet with the BTH of roce.
func lrh() []byte {
	r := roce()
	b := append([]byte{0, 2, 0, 5, 0, 7, 0, 6}, r[28:]...) // 8 + 12 + 4 + 4 = 28 bytes, 7 words
	return append(b, 0xaa, 0xbb)                           // VCRC
}

func TestDecode(t *testing.T) {
	sll := func(kind byte, proto uint16) []byte {
		b := make([]byte, sllSize)
		b[1], b[3], b[5] = kind, 1, 6
		binary.BigEndian.PutUint16(b[14:], proto)
		return b
	}
	sll2 := func(kind byte, proto uint16) []byte {
		b := make([]byte, sll2Size)
		binary.BigEndian.PutUint16(b, proto)
		b[7], b[10] = 3, kind
		return b
	}
	ports := func(n uint16) []byte { return ipv4(protoUDP, udp(n, make([]byte, 40))) }
	tests := []struct {
		name string
		link LinkType
		data []byte
		want Outcome
		way  packet.Way
	}{
		{"ipv4", LinkEthernet, ether(etherIPv4, roce()), RDMA, 0},
		{"padded", LinkEthernet, append(ether(etherIPv4, roce()), 0, 0, 0, 0, 0, 0, 0, 0), RDMA, 0},
		{"ipv6", LinkEthernet, ether(etherIPv6, ipv6(protoUDP, roce()[20:])), RDMA, 0},
		{"rocev1", LinkEthernet, ether(etherRoCE, rocev1()), RDMA, 0},
		{"vlan", LinkEthernet, ether(etherVLAN, vlan(5, etherIPv4, roce())), RDMA, 0},
		{"qinq", LinkEthernet, ether(etherQinQ, vlan(5, etherVLAN, vlan(6, etherRoCE, rocev1()))), RDMA, 0},
		{"4 tags", LinkEthernet, ether(etherOldQQ, vlan(1, etherVLAN, vlan(2, etherVLAN, vlan(3, etherVLAN, vlan(4, etherIPv4, roce()))))), RDMA, 0},
		{"5 tags", LinkEthernet, ether(etherVLAN, vlan(0, etherVLAN, vlan(1, etherVLAN, vlan(2, etherVLAN, vlan(3, etherVLAN, vlan(4, etherIPv4, roce())))))), NotRDMA, 0},
		{"arp", LinkEthernet, ether(0x0806, make([]byte, 46)), NotRDMA, 0},
		{"llc", LinkEthernet, ether(48, roce()), NotRDMA, 0},
		{"tcp", LinkEthernet, ether(etherIPv4, ipv4(6, make([]byte, 40))), NotRDMA, 0},
		{"dns", LinkEthernet, ether(etherIPv4, ports(53)), NotRDMA, 0},
		{"runt", LinkEthernet, []byte{1, 2, 3}, NotRDMA, 0},
		{"empty", LinkEthernet, nil, NotRDMA, 0},
		{"rocev1 runt", LinkEthernet, ether(etherRoCE, make([]byte, 20)), TooShort, 0},
		{"raw", LinkRaw, roce(), RDMA, 0},
		{"raw ipv6", LinkIPv6, ipv6(protoUDP, roce()[20:]), RDMA, 0},
		{"raw bsd", LinkRawBSD, roce(), RDMA, 0},
		{"raw openbsd", LinkRawOpenBSD, roce(), RDMA, 0},
		{"raw nonsense", LinkIPv4, make([]byte, 60), NotRDMA, 0},
		{"sll in", LinkLinuxSLL, cat(sll(0, etherIPv4), roce()), RDMA, packet.WayIn},
		{"sll out", LinkLinuxSLL, cat(sll(4, etherIPv4), roce()), RDMA, packet.WayOut},
		{"sll other", LinkLinuxSLL, cat(sll(3, etherIPv4), roce()), RDMA, packet.WayUnknown},
		{"sll vlan", LinkLinuxSLL, cat(sll(4, etherVLAN), vlan(3, etherRoCE, rocev1())), RDMA, packet.WayOut},
		{"sll llc", LinkLinuxSLL, cat(sll(0, 4), roce()), NotRDMA, packet.WayIn},
		{"sll2 in", LinkLinuxSLL2, cat(sll2(0, etherIPv4), roce()), RDMA, packet.WayIn},
		{"sll2 out", LinkLinuxSLL2, cat(sll2(4, etherIPv6), ipv6(protoUDP, roce()[20:])), RDMA, packet.WayOut},
		{"infiniband", LinkInfiniBand, lrh(), RDMA, 0},
		{"infiniband runt", LinkInfiniBand, lrh()[:7], TooShort, 0},
		{"wifi", 105, roce(), UnknownLink, 0},
		{"erf", LinkERF, roce(), UnknownLink, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Frame{Time: 5, Number: 6, Tap: 7, Link: test.link, Len: uint32(len(test.data)), Data: test.data}
			p := packet.Packet{PSN: 99, Way: packet.WayOut}
			if got := Decode(&f, &p); got != test.want {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			if p.Time != 5 || p.Frame != 6 || p.Tap != 7 || p.Way != test.way {
				t.Errorf("time %d, frame %d, tap %d, way %d", p.Time, p.Frame, p.Tap, p.Way)
			}
			if test.want == RDMA {
				checkPing(t, &p)
				cutDecode(t, f, RDMA)
			}
		})
	}
}

// checkPing wants the packet that roce builds.
func checkPing(t *testing.T, p *packet.Packet) {
	t.Helper()
	if p.PSN != 0x123456 || p.DestQP != 0x11 || string(p.Payload) != "ping" || p.Flaws != 0 || p.Cut || p.Has&packet.HasICRC == 0 {
		t.Errorf("PSN %v, QP %#x, payload %q, flaws %#x, cut %v", p.PSN, p.DestQP, p.Payload, p.Flaws, p.Cut)
	}
}

// cutDecode cuts a frame at every byte as a snap length would: it never passes for other traffic, nor for flawed.
func cutDecode(t *testing.T, f Frame, whole Outcome) {
	t.Helper()
	data := f.Data
	for n := range data {
		var p packet.Packet
		f.Data = data[:n:n]
		got := Decode(&f, &p)
		if got != TooShort && got != whole {
			t.Fatalf("cut at %d of %d: %v", n, len(data), got)
		}
		if got == whole && (p.PSN != 0x123456 || p.Flaws != 0) {
			t.Fatalf("cut at %d of %d: PSN %v, flaws %#x", n, len(data), p.PSN, p.Flaws)
		}
	}
}

// TestDecodeWay keeps the direction that the capture recorded over the one of the cooked header.
func TestDecodeWay(t *testing.T) {
	b := append(make([]byte, sllSize), roce()...)
	b[1], b[14], b[15] = 4, 8, 0
	f := Frame{Link: LinkLinuxSLL, Len: uint32(len(b)), Data: b, Way: packet.WayIn}
	var p packet.Packet
	if Decode(&f, &p) != RDMA || p.Way != packet.WayIn {
		t.Errorf("way %v", p.Way)
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	inner := ether(etherIPv4, roce())
	frames := map[string][]byte{
		"plain":  inner,
		"vxlan":  ether(etherIPv4, ipv4(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner))),
		"geneve": ether(etherIPv4, ipv4(protoUDP, udp(portGeneve, []byte{1, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 3, 0}, inner))),
		"erspan": ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1}, []byte{0x10, 0, 0, 1, 0, 0, 0, 0}, inner))),
		"tcp":    ether(etherIPv4, ipv4(6, make([]byte, 40))),
	}
	for name, b := range frames {
		f := Frame{Link: LinkEthernet, Len: uint32(len(b)), Data: b}
		var p packet.Packet
		if n := testing.AllocsPerRun(100, func() { Decode(&f, &p) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestVLAN: the tag of a frame is noted, the innermost of several, and forgotten with the next frame.
func TestVLAN(t *testing.T) {
	var p packet.Packet
	for _, x := range []struct {
		b    []byte
		want uint16
	}{
		{ether(etherVLAN, vlan(0x6064, etherIPv4, roce())), 0x6064},
		{ether(etherIPv4, roce()), 0},
		{ether(etherQinQ, vlan(5, etherVLAN, vlan(6, etherRoCE, rocev1()))), 6},
		{ether(etherRoCE, rocev1()), 0},
	} {
		f := Frame{Data: x.b, Len: uint32(len(x.b)), Link: LinkEthernet}
		if out := Decode(&f, &p); out != RDMA || p.VLAN != x.want {
			t.Errorf("%v with VLAN %#x, not %#x", out, p.VLAN, x.want)
		}
	}
}
