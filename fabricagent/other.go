package fabricagent

import "encoding/binary"

// Other is what a frame holds that has no RDMA packet, as far as its EtherType, the group that it goes to, and its protocol or port on IP tell.
type Other uint8

// The kinds.
const (
	Unnamed Other = iota // nothing that is told by name
	PTP
	STP
	LLDP
	LACP // slow protocols: LACP, markers, OAM
	ARP
	TCP
	ICMP
	UDP
	OtherIP
	NumOthers
)

func (o Other) String() string {
	return [...]string{"other", "PTP", "STP", "LLDP", "LACP", "ARP", "TCP", "ICMP", "UDP", "other IP"}[o]
}

// Usual reports whether nearly every network has such frames, and everybody knows them.
func (o Other) Usual() bool { return o >= ARP }

const (
	etherPTP   = 0x88F7
	etherSlow  = 0x8809
	etherLeast = 0x600 // a smaller value is a length

	groupSTP = 0x0180C2000000

	portPTP, portPTPGeneral = 319, 320
)

// OtherOf tells what a frame without an RDMA packet holds, and which Ethernet address sent it; 0: that is not known.
func OtherOf(f *Frame) (o Other, from uint64) {
	kind, b := afterEther(f)
	if f.Link == LinkEthernet && len(f.Data) >= etherSize {
		from = binary.BigEndian.Uint64(f.Data[4:]) & (1<<48 - 1)
	}
	switch {
	case kind == etherPTP:
		o = PTP
	case kind == etherLLDP:
		o = LLDP
	case kind == etherSlow:
		o = LACP
	case kind == etherARP:
		o = ARP
	case kind < etherLeast && from != 0 && binary.BigEndian.Uint64(f.Data)>>16 == groupSTP:
		o = STP
	case kind == etherIPv4 && len(b) >= ipv4Size:
		first := binary.BigEndian.Uint16(b[6:])&0x1FFF == 0
		o = overIP(b[9], b[min(len(b), int(b[0]&15)*4):], first)
	case kind == etherIPv6 && len(b) >= ipv6Size:
		o = overIP(b[6], b[ipv6Size:], true)
	}
	return o, from
}

// overIP tells what an IP packet holds; first says that it is the first fragment.
func overIP(protocol byte, b []byte, first bool) Other {
	switch {
	case protocol == protoTCP:
		return TCP
	case protocol == protoICMP, protocol == protoICMPv6, protocol == 0: // reports of multicast listeners follow hop-by-hop options
		return ICMP
	case protocol != protoUDP:
		return OtherIP
	case first && len(b) >= 4:
		if to := binary.BigEndian.Uint16(b[2:]); to == portPTP || to == portPTPGeneral {
			return PTP
		}
	}
	return UDP
}
