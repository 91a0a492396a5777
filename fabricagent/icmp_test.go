package fabricagent

import (
	"encoding/binary"
	"testing"

	"ibwitness/packet"
)

func TestRefused(t *testing.T) {
	big := roce()
	binary.BigEndian.PutUint16(big[2:], 1068)
	binary.BigEndian.PutUint16(big[24:], 1048)
	big6 := ipv6(protoUDP, udp(packet.UDPPort, roce()[28:]))
	binary.BigEndian.PutUint16(big6[4:], 1048)
	binary.BigEndian.PutUint16(big6[44:], 1048)
	message := func(kind, code byte, mtu uint16, quote []byte) []byte {
		m := append([]byte{kind, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, quote...)
		if kind == icmpv6TooBig {
			b := ipv6(protoICMPv6, m)
			copy(b[24:], big6[8:24])
			s := ^sum(sum(uint32(len(m))+protoICMPv6, b[8:40]), m)
			b[42], b[43] = byte(s>>8), byte(s)
			return b
		}
		s := ^sum(0, m)
		m[2], m[3] = byte(s>>8), byte(s)
		b := ipv4(protoICMP, m)
		copy(b[16:], []byte{10, 0, 0, 1})
		return b
	}
	change := func(b []byte, at int) []byte { b[at] ^= 1; return b }
	tests := []struct {
		name string
		data []byte
		want Outcome
		mtu  uint16
	}{
		{"IPv4", message(3, 4, 1000, big), Refused, 1000},
		{"no MTU", message(3, 4, 0, big), Refused, 0},
		{"only a UDP header", message(3, 4, 1000, big[:28]), Refused, 1000},
		{"IPv6", message(2, 0, 1000, big6), Refused, 1000},
		{"port unreachable", message(3, 3, 1000, big), NotRDMA, 0},
		{"other traffic", message(3, 4, 1000, change(append([]byte(nil), big...), 23)), NotRDMA, 0},
		{"too short a quote", message(3, 4, 1000, big[:20]), NotRDMA, 0},
		{"wrong checksum", change(message(3, 4, 1000, big), 22), NotRDMA, 0},
		{"wrong checksum of IPv6", change(message(2, 0, 1000, big6), 42), NotRDMA, 0},
		{"to another host", change(message(3, 4, 1000, big), 19), NotRDMA, 0},
		{"fragment", change(message(3, 4, 1000, big), 7), NotRDMA, 0},
	}
	p := new(packet.Packet)
	for _, tt := range tests {
		if out := Decode(&Frame{Link: LinkRaw, Len: uint32(len(tt.data)), Data: tt.data}, p); out != tt.want {
			t.Errorf("%s: %v, not %v", tt.name, out, tt.want)
			continue
		} else if out == NotRDMA {
			continue
		}
		if p.MTU != tt.mtu || p.Has&packet.HasQuote == 0 || p.Cut || p.Usual || p.Opcode.Service() <= packet.XRC {
			t.Errorf("%s: MTU %d, has %b, cut %t, usual %t, opcode %v", tt.name, p.MTU, p.Has, p.Cut, p.Usual, p.Opcode)
		}
		for n := range tt.data {
			if out := Decode(&Frame{Link: LinkRaw, Len: uint32(len(tt.data)), Data: tt.data[:n]}, p); out.IsRDMA() || out == Refused && !p.Cut {
				t.Errorf("%s, the first %d bytes: %v", tt.name, n, out)
			}
		}
	}
}
