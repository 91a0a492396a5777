package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

const (
	etherARP  = 0x0806
	etherLLDP = 0x88CC
)

// Presence is who shows to be up by a frame that holds no data: a host by ARP, or a port by LLDP.
type Presence struct {
	Host packet.Addr // of ARP: who sent it; the zero address of LLDP
	Port uint64      // of LLDP: the Ethernet address that sent it
}

// PresenceOf returns who shows to be up by a frame, an Ethernet one perhaps with VLAN tags; ok is false for all others.
func PresenceOf(f *Frame) (p Presence, ok bool) {
	const (
		forIPv4   = 1<<48 | etherIPv4<<32 | 6<<24 | 4<<16 // of Ethernet and IPv4, with addresses of 6 and 4 bytes
		sender    = 14
		arpLength = 28
	)
	if f.Link != LinkEthernet || len(f.Data) < etherSize {
		return p, false
	}
	switch kind, b := afterEther(f); {
	case kind == etherARP && len(b) >= arpLength && binary.BigEndian.Uint64(b)&^0xFFFF == forIPv4 && binary.BigEndian.Uint32(b[sender:]) != 0:
		return Presence{Host: packet.IPv4Addr(b[sender : sender+4])}, true
	case kind == etherLLDP:
		return Presence{Port: binary.BigEndian.Uint64(f.Data[4:]) & (1<<48 - 1)}, true
	}
	return p, false
}
