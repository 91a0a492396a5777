package fabricagent

import (
	"encoding/binary"

	"ibwitness/packet"
)

// Outcome is what Decode made of a frame.
type Outcome uint8

// The outcomes.
const (
	NotRDMA       Outcome = iota // other traffic
	RDMA                         // the packet is filled in
	Encapsulated                 // RDMA inside a tunnel: the packet is the inner one
	TooShort                     // cut off before its BTH, or before it can be told what it is
	UnknownLink                  // no frame of this link type can be decoded
	LinkLevel                    // of a link tap, and no data packet: DecodeLink tells what
	Paused                       // a pause frame on Ethernet: DecodePause tells of what
	Refused                      // an ICMP message: the packet, a RoCEv2 one that it quotes, was too big for the path
	UltraEthernet                // of Ultra Ethernet, an RDMA transport of its own
	ESP                          // encrypted by IPsec: what it holds nobody can tell
	PSP                          // encrypted by PSP, which adapters do for RDMA
	NumOutcomes
)

func (o Outcome) String() string {
	return [...]string{"not RDMA", "RDMA", "encapsulated RDMA", "too short", "unknown link type", "link level", "pause", "refused", "Ultra Ethernet", "ESP", "PSP"}[o]
}

// IsRDMA reports whether the packet was filled in: RDMA or Encapsulated.
func (o Outcome) IsRDMA() bool { return o == RDMA || o == Encapsulated }

// The EtherTypes that matter (IEEE 802).
const (
	etherIPv4   = 0x0800
	etherIPv6   = 0x86dd
	etherRoCE   = 0x8915 // RoCEv1 (A16)
	etherVLAN   = 0x8100
	etherQinQ   = 0x88a8
	etherOldQQ  = 0x9100
	etherMPLS   = 0x8847
	etherMPLSMC = 0x8848
	etherPPPoE  = 0x8864
	etherBridge = 0x6558 // a whole Ethernet frame, in GRE and Geneve

	etherSize = 14
	vlanSize  = 4
	maxVLANs  = 4
	sllSize   = 16
	sll2Size  = 20
)

// unlimited is the wire length of a packet of which only a beginning was on the wire: a truncated mirror copy, or the
// first fragment of a tunnel packet. The rest then counts as cut off.
const unlimited = 1 << 17

// Decode finds the RDMA packet in a frame and decodes it into p, whose Payload, Pad and Data are views on f.Data. Where
// the outcome is neither RDMA nor Encapsulated, nor Refused, only Time, Frame, Tap and Way of p mean anything. It does not allocate.
func Decode(f *Frame, p *packet.Packet) Outcome {
	p.Time, p.Frame, p.Tap, p.Way, p.Station, p.Source = f.Time, f.Number, f.Tap, f.Way, 0, 0
	b, wire := f.Data, int(f.Len)
	switch f.Link {
	case LinkEthernet:
		// Nearly every frame of a RoCE capture: the rest of this file in one step.
		if len(b) > etherSize {
			station, source := binary.BigEndian.Uint64(b)>>16, binary.BigEndian.Uint64(b[6:])>>16
			if t := binary.BigEndian.Uint16(b[12:]); t == etherIPv4 || t == etherIPv6 {
				b, wire = b[etherSize:], wire-etherSize
				if !packet.DecodeIP(p, b, wire) {
					return tunnel(p, b, wire, 0)
				}
				p.Station, p.Source = station, source
				if p.Cut || (p.DestQP+1)&packet.PSNMask <= 2 { // of QP0, QP1 or a group
					group(p, f.Data)
					cameFrom(p, f.Data)
					return judge(p, true, 0)
				}
				return RDMA
			}
		}
		return ethernet(p, b, wire, 0)
	case LinkInfiniBand:
		return judge(p, packet.DecodeInfiniBand(p, b, wire), 0)
	case LinkTap:
		return tapped(p, b, wire)
	case LinkRaw, LinkIPv4, LinkIPv6, LinkRawBSD, LinkRawOpenBSD:
		return network(p, b, wire, 0)
	case LinkLinuxSLL:
		return cooked(p, b, wire)
	case LinkLinuxSLL2:
		return cooked2(p, b, wire)
	}
	return UnknownLink
}

// cooked decodes a frame as Linux captures it on all interfaces (LINKTYPE_LINUX_SLL).
func cooked(p *packet.Packet, b []byte, wire int) Outcome {
	if len(b) < sllSize {
		return short(b, wire)
	}
	if p.Way == packet.WayUnknown && b[0] == 0 {
		p.Way = cookedWay(b[1])
	}
	return etherType(p, b[sllSize:], wire-sllSize, binary.BigEndian.Uint16(b[14:]), 0)
}

// cooked2 is cooked for the newer header (LINKTYPE_LINUX_SLL2).
func cooked2(p *packet.Packet, b []byte, wire int) Outcome {
	if len(b) < sll2Size {
		return short(b, wire)
	}
	if p.Way == packet.WayUnknown {
		p.Way = cookedWay(b[10])
	}
	return etherType(p, b[sll2Size:], wire-sll2Size, binary.BigEndian.Uint16(b), 0)
}

// Glance is Decode for nearly every frame of a RoCE capture, of which it reads only what packet.Glance does. Where the result is false, p is undefined.
func Glance(f *Frame, p *packet.Packet) bool {
	b := f.Data
	if f.Link != LinkEthernet || len(b) < etherSize || binary.BigEndian.Uint16(b[12:]) != etherIPv4 || !packet.Glance(p, b[etherSize:]) || p.DestQP == packet.PSNMask {
		return false
	}
	p.Time, p.Frame, p.Tap, p.Way = f.Time, f.Number, f.Tap, f.Way
	p.Station, p.Source = binary.BigEndian.Uint64(b)>>16, binary.BigEndian.Uint64(b[6:])>>16
	return true
}

// judge tells the outcome for a frame that is RDMA by its headers. ok is whether package packet could decode it, depth how
// many tunnels were undone.
func judge(p *packet.Packet, ok bool, depth int) Outcome {
	if !ok {
		return TooShort
	}
	if p.Cut && p.Has&packet.HasBTH == 0 && (p.Encap != packet.Native || p.LNH >= packet.LNHLocal) {
		return TooShort
	}
	if depth > 0 {
		return Encapsulated
	}
	return RDMA
}

// short is the outcome for a frame that ends inside a header before it can be told what it is.
func short(b []byte, wire int) Outcome {
	if len(b) < wire {
		return TooShort
	}
	return NotRDMA
}

func ethernet(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if len(b) < etherSize {
		return short(b, wire)
	}
	out := etherType(p, b[etherSize:], wire-etherSize, binary.BigEndian.Uint16(b[12:]), depth)
	if out == RDMA || out == Encapsulated && depth > 0 && p.Station == 0 { // the innermost: the network handles the others
		p.Station, p.Source = binary.BigEndian.Uint64(b)>>16, binary.BigEndian.Uint64(b[6:])>>16
		cameFrom(p, b)
	}
	if out.IsRDMA() {
		group(p, b)
	}
	return out
}

// cameFrom notes from which Ethernet address a datagram to QP1 came. b is its frame, that of Station.
func cameFrom(p *packet.Packet, b []byte) {
	if p.DestQP == 1 && p.Has&packet.HasDETH != 0 {
		p.MAC = [6]byte(b[6:])
	}
}

// group notes where a datagram to a multicast group was sent. b is an Ethernet frame with a packet, perhaps inside a tunnel: then the address
// is that of another packet.
func group(p *packet.Packet, b []byte) {
	if p.DestQP != packet.PSNMask {
		return
	}
	at := etherSize - 2
	for range maxVLANs {
		if t := binary.BigEndian.Uint16(b[at:]); t != etherVLAN && t != etherQinQ && t != etherOldQQ || len(b) < at+vlanSize+2 {
			break
		}
		at += vlanSize
	}
	if at += 2; p.Has&(packet.HasUDP|packet.HasDETH) == packet.HasUDP|packet.HasDETH && p.Dst.IsMulticast() && len(p.Data) > 0 && len(b) > at && &b[at] == &p.Data[0] {
		p.MAC = [6]byte(b)
	}
}

// etherType decodes what follows an EtherType. A value below 0x600 is a length (802.3), which RDMA never has.
func etherType(p *packet.Packet, b []byte, wire int, t uint16, depth int) Outcome {
	tag := uint16(0)
	for tags := 0; ; tags++ {
		switch t {
		case etherIPv4, etherIPv6:
			return tagged(p, tag, network(p, b, wire, depth))
		case etherRoCE:
			return tagged(p, tag, judge(p, packet.DecodeGRH(p, b, wire), depth))
		case etherVLAN, etherQinQ, etherOldQQ:
			if tags == maxVLANs {
				return NotRDMA
			}
			if len(b) < vlanSize {
				return short(b, wire)
			}
			tag, t = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
			b, wire = b[vlanSize:], wire-vlanSize
		case etherMPLS, etherMPLSMC:
			return mpls(p, b, wire, depth)
		case etherPPPoE:
			return pppoe(p, b, wire, depth)
		case etherControl:
			return control(b, depth)
		default:
			return NotRDMA
		}
	}
}

// tagged notes the VLAN tag of a frame, where it is not that of a tunnel around another one.
func tagged(p *packet.Packet, tag uint16, out Outcome) Outcome {
	if tag != 0 && p.VLAN == 0 && out.IsRDMA() {
		p.VLAN = tag
	}
	return out
}

// network decodes what begins with an IPv4 or IPv6 header.
func network(p *packet.Packet, b []byte, wire, depth int) Outcome {
	if packet.DecodeIP(p, b, wire) {
		return judge(p, true, depth)
	}
	return tunnel(p, b, wire, depth)
}
