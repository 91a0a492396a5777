package layers

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"ibwitness/packet"
)

// Seal computes the ICRC, and for a native packet the VCRC, of a serialized packet and writes them into b. first is the
// layer that b begins with: layers.LayerTypeEthernet (VLAN tags may follow), layers.LayerTypeIPv4, layers.LayerTypeIPv6, LayerTypeGRH or
// LayerTypeLRH. The lengths of the headers must be right; FixLengths sees to that.
func Seal(b []byte, first gopacket.LayerType) error {
	body := b
	if first == layers.LayerTypeEthernet {
		at := 12
		for at+6 <= len(b) && isVLAN(binary.BigEndian.Uint16(b[at:])) {
			at += 4
		}
		if at+2 > len(b) {
			return fmt.Errorf("layers: %d bytes are no Ethernet frame to seal", len(b))
		}
		first = layers.LayerTypeIPv4 // DecodeIP reads the version itself
		if layers.EthernetType(binary.BigEndian.Uint16(b[at:])) == EtherTypeRoCEv1 {
			first = LayerTypeGRH
		}
		body = b[at+2:]
	}
	var p packet.Packet
	var ok bool
	switch first {
	case layers.LayerTypeIPv4, layers.LayerTypeIPv6:
		ok = packet.DecodeIP(&p, body, len(body))
	case LayerTypeGRH:
		ok = packet.DecodeGRH(&p, body, len(body))
	case LayerTypeLRH:
		ok = packet.DecodeInfiniBand(&p, body, len(body))
	default:
		return fmt.Errorf("layers: cannot seal a packet that begins with %v: give Ethernet, IPv4, IPv6, GRH or LRH", first)
	}
	if !ok || p.Flaws&^packet.FlawDiscard != 0 {
		return fmt.Errorf("layers: nothing to seal: the packet is not RDMA or its lengths are wrong (flaws %#x): serialize with FixLengths", p.Flaws)
	}
	p.SealICRC()
	end := len(p.Data)
	if p.Has&packet.HasVCRC != 0 {
		end -= 2
		binary.LittleEndian.PutUint16(p.Data[end:], p.VCRC)
	}
	if p.Has&packet.HasICRC != 0 {
		binary.LittleEndian.PutUint32(p.Data[end-4:], p.ICRC)
	}
	return nil
}

func isVLAN(t uint16) bool { return t == 0x8100 || t == 0x88A8 }
