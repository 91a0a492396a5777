package fabricagent

import (
	"testing"

	"ibwitness/packet"
)

// TestGroupMAC: the address is that of the frame which the datagram is right in.
func TestGroupMAC(t *testing.T) {
	mac := [6]byte{0x01, 0x00, 0x5E, 0x01, 0x02, 0x03}
	to := func(frame []byte, mac [6]byte) []byte { copy(frame, mac[:]); return frame }
	other := [6]byte{2, 0, 0, 0, 0, 9}
	datagram := []byte{0x64, 0x40, 0xff, 0xff, 0, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0x12, 0x34, 0, 0, 0, 0x11, 'p', 'i', 'n', 'g', 1, 2, 3, 4}
	ip := ipv4(protoUDP, udp(packet.UDPPort, datagram))
	copy(ip[16:], []byte{239, 1, 2, 3})
	connected := roce()
	copy(connected[16:], ip[16:20])
	copy(connected[28+5:], []byte{0xff, 0xff, 0xff})
	tests := []struct {
		name string
		link LinkType
		data []byte
		want [6]byte
	}{
		{"Ethernet", LinkEthernet, to(ether(etherIPv4, ip), mac), mac},
		{"VLAN", LinkEthernet, to(ether(etherVLAN, vlan(5, etherIPv4, ip)), mac), mac},
		{"two VLANs", LinkEthernet, to(ether(etherQinQ, vlan(5, etherVLAN, vlan(6, etherIPv4, ip))), mac), mac},
		{"VXLAN", LinkEthernet, to(ether(etherIPv4, ipv4(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 7, 0}, to(ether(etherIPv4, ip), mac)))), other), mac},
		{"IP in IP", LinkEthernet, to(ether(etherIPv4, ipv4(protoIPv4, ip)), mac), [6]byte{}},
		{"MPLS", LinkEthernet, to(ether(etherMPLS, append([]byte{0, 1, 1, 64}, ip...)), mac), [6]byte{}},
		{"raw IP", LinkRaw, ip, [6]byte{}},
		{"connected", LinkEthernet, to(ether(etherIPv4, connected), mac), [6]byte{}},
		{"one station", LinkEthernet, to(ether(etherIPv4, roce()), mac), [6]byte{}},
	}
	p := new(packet.Packet)
	for _, tt := range tests {
		f := Frame{Link: tt.link, Len: uint32(len(tt.data)), Data: tt.data}
		if p.MAC = [6]byte{}; !Decode(&f, p).IsRDMA() || p.MAC != tt.want {
			t.Errorf("%s: %x, not %x", tt.name, p.MAC, tt.want)
		}
		if p.Opcode.Service() != packet.UD {
			continue
		}
		if p.MAC = other; !Decode(&f, p).IsRDMA() || p.MAC != tt.want {
			t.Errorf("%s: %x is left over of another packet", tt.name, p.MAC)
		}
	}
}

// TestCameFrom: wherever the Ethernet address that a datagram to QP1 went to is known, so is the one that it came from, of the same frame; it is not left
// over of another packet.
func TestCameFrom(t *testing.T) {
	mac := [6]byte{2, 0, 0, 0, 0, 7}
	from := func(frame []byte, mac [6]byte) []byte {
		copy(frame, []byte{2, 0, 0, 0, 0, 8})
		copy(frame[6:], mac[:])
		return frame
	}
	other := [6]byte{2, 0, 0, 0, 0, 9}
	datagram := []byte{0x64, 0x40, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0x80, 1, 0, 0, 0, 0, 0, 1, 'p', 'i', 'n', 'g', 1, 2, 3, 4}
	ip := ipv4(protoUDP, udp(packet.UDPPort, datagram))
	p := new(packet.Packet)
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"Ethernet", from(ether(etherIPv4, ip), mac)},
		{"VLAN", from(ether(etherVLAN, vlan(5, etherIPv4, ip)), mac)},
		{"VXLAN", from(ether(etherIPv4, ipv4(protoUDP, udp(portVXLAN, []byte{8, 0, 0, 0, 0, 0, 7, 0}, from(ether(etherIPv4, ip), mac)))), other)},
		{"IP in IP", from(ether(etherIPv4, ipv4(protoIPv4, ip)), other)},
	} {
		f := Frame{Link: LinkEthernet, Len: uint32(len(tt.data)), Data: tt.data}
		if p.MAC = other; !Decode(&f, p).IsRDMA() || p.DestQP != 1 || p.Station != 0 && p.MAC != mac {
			t.Errorf("%s: %x, to %x", tt.name, p.MAC, p.Station)
		}
	}
}
