package fabricagent

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"ibwitness/packet"
)

// serialize has gopacket write the headers in front of body.
func serialize(t *testing.T, body []byte, ls ...gopacket.SerializableLayer) []byte {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true}, append(ls, gopacket.Payload(body))...); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func outer(proto layers.IPProtocol) []gopacket.SerializableLayer {
	mac := []byte{2, 0, 0, 0, 0, 1}
	return []gopacket.SerializableLayer{
		&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4},
		&layers.IPv4{Version: 4, TTL: 9, Protocol: proto, SrcIP: []byte{192, 0, 2, 1}, DstIP: []byte{192, 0, 2, 2}},
	}
}

func TestEncapsulated(t *testing.T) {
	inner := ether(etherIPv4, roce())
	padded := append(ether(etherIPv4, roce()), 0, 0, 0, 0)
	erspan3 := func(frameType, o uint16) []byte {
		last := frameType<<10 | o
		b := append([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1}, 0x20, 5, 0, 9, 1, 2, 3, 4, 0, 0, byte(last>>8), byte(last))
		if o != 0 {
			b = append(b, make([]byte, 8)...)
		}
		return b
	}
	geneve := func(options int, proto uint16) []byte {
		return append([]byte{byte(options / 4), 0, byte(proto >> 8), byte(proto), 0, 0, 7, 0}, make([]byte, options)...)
	}
	deep := func(n int) []byte {
		b := roce()
		for range n {
			b = ipv4(protoIPv4, b)
		}
		return ether(etherIPv4, b)
	}
	udpv4 := func(port uint16, parts ...[]byte) []byte {
		return ether(etherIPv4, ipv4(protoUDP, udp(port, parts...)))
	}
	tests := []struct {
		name string
		data []byte
		want Outcome
	}{
		{"vxlan by gopacket", serialize(t, inner, append(outer(layers.IPProtocolUDP),
			&layers.UDP{SrcPort: 5, DstPort: 4789}, &layers.VXLAN{ValidIDFlag: true, VNI: 77})...), Encapsulated},
		{"vxlan, padded", udpv4(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, padded), Encapsulated},
		{"vxlan on the port of linux", udpv4(portVXLANLinux, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner), Encapsulated},
		{"vxlan without its flag", udpv4(portVXLAN, []byte{0, 0, 0, 0, 0, 0, 1, 0}, inner), NotRDMA},
		{"vxlan in ipv6", ether(etherIPv6, ipv6(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner))), Encapsulated},
		{"vxlan after hop-by-hop", ether(etherIPv6, ipv6(0, cat([]byte{protoUDP, 0, 1, 4, 0, 0, 0, 0}, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, inner)))), Encapsulated},
		{"geneve", udpv4(portGeneve, geneve(0, etherBridge), inner), Encapsulated},
		{"geneve, ip", udpv4(portGeneve, geneve(16, etherIPv4), roce()), Encapsulated},
		{"geneve, all options", udpv4(portGeneve, geneve(252, etherBridge), inner), Encapsulated},
		{"geneve, version 1", udpv4(portGeneve, []byte{0x40, 0, 0x65, 0x58, 0, 0, 7, 0}, inner), NotRDMA},
		{"gre by gopacket", serialize(t, roce(), append(outer(layers.IPProtocolGRE),
			&layers.GRE{Protocol: layers.EthernetTypeIPv4, KeyPresent: true, SeqPresent: true, ChecksumPresent: true})...), Encapsulated},
		{"gre, ethernet", ether(etherIPv4, ipv4(protoGRE, cat([]byte{0, 0, 0x65, 0x58}, inner))), Encapsulated},
		{"gre, rocev1", ether(etherIPv4, ipv4(protoGRE, cat([]byte{0, 0, 0x89, 0x15}, rocev1()))), Encapsulated},
		{"gre, source route", ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x40, 0, 8, 0, 0, 0, 0, 0}, roce()))), NotRDMA},
		{"pptp", ether(etherIPv4, ipv4(protoGRE, cat([]byte{0x20, 1, 0x88, 0x0b, 0, 0, 0, 0}, roce()))), NotRDMA},
		{"erspan I", ether(etherIPv4, ipv4(protoGRE, cat([]byte{0, 0, 0x88, 0xbe}, inner))), Encapsulated},
		{"erspan II by gopacket", serialize(t, inner, append(outer(layers.IPProtocolGRE),
			&layers.GRE{Protocol: layers.EthernetTypeERSPAN, SeqPresent: true}, &layers.ERSPANII{Version: 1, SessionID: 3})...), Encapsulated},
		{"erspan III", ether(etherIPv4, ipv4(protoGRE, cat(erspan3(0, 0), inner))), Encapsulated},
		{"erspan III, subheader", ether(etherIPv4, ipv4(protoGRE, cat(erspan3(0, 1), inner))), Encapsulated},
		{"erspan III, ip", ether(etherIPv4, ipv4(protoGRE, cat(erspan3(2, 0), roce()))), Encapsulated},
		{"erspan III, infiniband frame type", ether(etherIPv4, ipv4(protoGRE, cat(erspan3(3, 0), roce()))), NotRDMA},
		{"ip in ip", ether(etherIPv4, ipv4(protoIPv4, roce())), Encapsulated},
		{"ipv6 in ipv4", ether(etherIPv4, ipv4(protoIPv6, ipv6(protoUDP, roce()[20:]))), Encapsulated},
		{"ipv4 in ipv6", ether(etherIPv6, ipv6(protoIPv4, roce())), Encapsulated},
		{"mpls by gopacket", serialize(t, roce(), &layers.MPLS{Label: 5}, &layers.MPLS{Label: 6, StackBottom: true}), Encapsulated},
		{"mpls, pseudowire", ether(etherMPLS, cat([]byte{0, 1, 1, 9}, []byte{0, 0, 0, 0}, inner)), Encapsulated},
		{"mpls, no control word", ether(etherMPLSMC, cat([]byte{0, 1, 1, 9}, append([]byte{0x12}, inner[1:]...))), Encapsulated},
		{"mpls in ip", ether(etherIPv4, ipv4(protoMPLS, cat([]byte{0, 1, 1, 9}, roce()))), Encapsulated},
		{"mpls without bottom", ether(etherMPLS, make([]byte, 64)), NotRDMA},
		{"pppoe", ether(etherPPPoE, cat([]byte{0x11, 0, 0, 1, 0, byte(2 + len(roce())), 0, 0x21}, roce())), Encapsulated},
		{"pppoe discovery", ether(etherPPPoE, cat([]byte{0x11, 9, 0, 1, 0, 4, 0, 0x21}, roce())), NotRDMA},
		{"4 deep", deep(4), Encapsulated},
		{"5 deep", deep(5), NotRDMA},
		{"vxlan with tcp inside", udpv4(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 1, 0}, ether(etherIPv4, ipv4(6, make([]byte, 40)))), NotRDMA},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "mpls by gopacket" {
				test.data = ether(etherMPLS, test.data)
			}
			f := Frame{Link: LinkEthernet, Len: uint32(len(test.data)), Data: test.data}
			var p packet.Packet
			if got := Decode(&f, &p); got != test.want {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			if test.want == Encapsulated {
				checkPing(t, &p)
				cutDecode(t, f, Encapsulated)
			}
		})
	}
}

// TestEncapsulatedTruncated accuses no inner packet of a length that only the mirror or the fragmentation cut.
func TestEncapsulatedTruncated(t *testing.T) {
	inner := ether(etherIPv4, roce())
	inner = inner[:len(inner)-6]
	fragment := ipv4(protoIPv4, roce()[:44])
	fragment[6] = 0x20
	for name, b := range map[string][]byte{
		"erspan II":      ipv4(protoGRE, cat([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 4, 1, 0, 0, 0, 0}, inner)),
		"erspan III":     ipv4(protoGRE, cat([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0}, inner)),
		"first fragment": fragment,
	} {
		f := Frame{Link: LinkRaw, Len: uint32(len(b)), Data: b}
		var p packet.Packet
		if got := Decode(&f, &p); got != Encapsulated || !p.Cut || p.Flaws != 0 || p.PSN != 0x123456 {
			t.Errorf("%s: %v, cut %v, flaws %#x", name, got, p.Cut, p.Flaws)
		}
	}
	rest := ipv4(protoIPv4, roce())
	rest[7] = 5 // a later fragment
	f := Frame{Link: LinkRaw, Len: uint32(len(rest)), Data: rest}
	var p packet.Packet
	if got := Decode(&f, &p); got != NotRDMA {
		t.Errorf("later fragment: %v", got)
	}
}
