package wqe

import "ibwitness/packet"

// AddressVector says how datagrams reach a port (section 11.2.2.1).
type AddressVector struct {
	Dest     packet.Addr
	SL       uint8
	TClass   uint8
	HopLimit uint8
	GRH      bool

	Source    GID         // on RoCE: the entry of the port's table that packets come from; the zero value is the first that suits Dest
	DestGID   packet.Addr // of the peer, where a native link has a GRH
	FlowLabel uint32      // 20 bits, where there is a GRH or an IPv6 header
}

// GID is an entry of the table of GIDs of a port.
type GID struct {
	Addr   packet.Addr
	RoCEv1 bool // its type, on Ethernet; false: RoCEv2
}
