package view

import (
	"encoding/binary"
	"slices"

	"ibwitness/fabricagent"
)

// Wrap has the frames tagged or tunnelled.
func (v *View) Wrap() {
	v.wrap(pick(v, "VLAN", "two VLANs", "VXLAN", "one direction in a VLAN"))
}

// Tunnel has them tagged, tunnelled or mirrored by what there is.
func (v *View) Tunnel() {
	v.wrap(pick(v, "VLAN", "two VLANs", "VXLAN", "one direction in a VLAN", "Geneve", "GRE", "GRE with a key", "ERSPAN I", "ERSPAN II", "ERSPAN III", "one direction in VXLAN"))
}

func (v *View) wrap(how string) {
	v.Say("in %s", how)
	number := uint32(0)
	v.each(func(f *Frame) bool { return f.Link == fabricagent.LinkEthernet && len(f.Data) >= 14 }, func(f *Frame) {
		was, n := len(f.Data), int(f.Len)
		number++
		switch {
		case how == "VXLAN", how == "one direction in VXLAN" && f.End == 0:
			f.Data = overUDP(f.Data, n, 4789, []byte{8, 0, 0, 0, 0, 0, 1, 0})
		case how == "Geneve":
			f.Data = overUDP(f.Data, n, 6081, []byte{1, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 0, 0})
		case how == "GRE":
			f.Data = overGRE(f.Data, n, []byte{0, 0, 0x65, 0x58})
		case how == "GRE with a key":
			f.Data = overGRE(f.Data, n, []byte{0x20, 0, 0x65, 0x58, 0, 0, 0, 7})
		case how == "ERSPAN I":
			f.Data = overGRE(f.Data, n, []byte{0, 0, 0x88, 0xbe})
		case how == "ERSPAN II":
			head := binary.BigEndian.AppendUint32([]byte{0x10, 0, 0x88, 0xbe}, number)
			f.Data = overGRE(f.Data, n, append(head, 0x10, 1, 0x08, 1, 0, 0, 0, 0))
		case how == "ERSPAN III":
			head := binary.BigEndian.AppendUint32([]byte{0x10, 0, 0x22, 0xeb}, number)
			f.Data = overGRE(f.Data, n, append(head, 0x20, 1, 0x08, 1, 0, 0, 0, 0, 0, 0, 0, 0))
		case how == "two VLANs":
			f.Data = vlan(vlan(f.Data))
		case how == "VLAN", how == "one direction in a VLAN" && f.End == 0:
			f.Data = vlan(f.Data)
		}
		f.Len += uint32(len(f.Data) - was)
	})
}

func vlan(b []byte) []byte { return slices.Concat(b[:12], []byte{0x81, 0x00, 0x60, 0x05}, b[12:]) }

const (
	protoUDP = 17
	protoGRE = 47
)

// overIPv4 puts a frame of n bytes, of which there may be fewer, after Ethernet, IPv4 and a header of a tunnel.
func overIPv4(b []byte, n int, proto byte, head []byte) []byte {
	h := make([]byte, 14+20, 14+20+len(head)+len(b))
	copy(h, b[:12])
	h[12], h[14], h[22], h[23] = 0x08, 0x45, 64, proto
	binary.BigEndian.PutUint16(h[16:], uint16(20+len(head)+n))
	copy(h[26:], []byte{192, 168, 0, 1, 192, 168, 0, 2})
	return append(append(h, head...), b...)
}

func overUDP(b []byte, n int, port uint16, head []byte) []byte {
	udp := binary.BigEndian.AppendUint16(nil, 50000)
	udp = binary.BigEndian.AppendUint16(udp, port)
	udp = binary.BigEndian.AppendUint16(udp, uint16(8+len(head)+n))
	return overIPv4(b, n, protoUDP, slices.Concat(udp, []byte{0, 0}, head))
}

func overGRE(b []byte, n int, head []byte) []byte { return overIPv4(b, n, protoGRE, head) }
