package fabricagent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/link"
	"ibwitness/packet"
)

func TestDecodePause(t *testing.T) {
	from := [6]byte{2, 0, 0, 0, 0, 7}
	control := func(b ...byte) []byte {
		f := ether(etherControl, append(b, make([]byte, 46-len(b))...))
		copy(f[6:], from[:])
		return f
	}
	tests := []struct {
		name string
		data []byte
		want Outcome
		is   link.Pause
	}{
		{"all traffic", control(0, 1, 0x12, 0x34), Paused, link.Pause{All: true, Quanta: [8]uint16{0x1234}}},
		{"two priorities", control(1, 1, 0, 0x88, 0, 1, 0, 2, 0, 3, 0xFF, 0xFF, 0, 5, 0, 6, 0, 7, 0, 0), Paused, link.Pause{Classes: 0x88, Quanta: [8]uint16{1, 2, 3, 0xFFFF, 5, 6, 7, 0}}},
		{"another operation", control(0, 2, 0x12, 0x34), NotRDMA, link.Pause{}},
		{"cut off", control(1, 1, 0, 0x88)[:30], NotRDMA, link.Pause{}},
	}
	for _, tt := range tests {
		f := Frame{Time: 5, Number: 6, Tap: 7, Link: LinkEthernet, Len: 60, Data: tt.data}
		var m link.Pause
		out := Decode(&f, new(packet.Packet))
		if ok := DecodePause(&f, &m); out != tt.want || ok != (out == Paused) {
			t.Errorf("%s: %v, %t", tt.name, out, ok)
		} else if !ok {
			continue
		}
		tt.is.Time, tt.is.Frame, tt.is.Tap, tt.is.From = 5, 6, 7, from
		if d := cmp.Diff(tt.is, m); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
	var m link.Pause
	if f := (Frame{Link: LinkLinuxSLL, Data: control(0, 1, 1, 1)}); DecodePause(&f, &m) {
		t.Error("a pause frame where there is no Ethernet")
	}
}

func TestDecodeSent(t *testing.T) {
	tests := []struct {
		name     string
		data     []byte
		tagged   bool
		priority uint8
	}{
		{"no tag", ether(etherIPv4, roce()), false, 0},
		{"priority 5", ether(etherVLAN, vlan(0xA007, etherIPv4, roce())), true, 5},
		{"two tags", ether(etherQinQ, vlan(0x6001, etherVLAN, vlan(0xE002, etherIPv4, roce()))), true, 3},
	}
	for _, tt := range tests {
		copy(tt.data, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2})
		f := Frame{Link: LinkEthernet, Len: uint32(len(tt.data)), Data: tt.data}
		s := link.Sent{Packet: new(packet.Packet)}
		if !DecodeSent(&f, &s) || s.Tagged != tt.tagged || s.Priority != tt.priority || s.To[5] != 1 || s.From[5] != 2 || s.Size != len(tt.data) {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
	if f := (Frame{Link: LinkEthernet, Data: ether(etherIPv4, ipv4(protoIPv4, roce())), Len: 82}); DecodeSent(&f, &link.Sent{Packet: new(packet.Packet)}) {
		t.Error("a packet in a tunnel")
	}
}
