package wqe

import "ibwitness/packet"

// AddressVector says how datagrams reach a port (section 11.2.2.1).
type AddressVector struct {
	Dest     packet.Addr
	SL       uint8
	TClass   uint8
	HopLimit uint8
	GRH      bool
}
