package wqe

import "ibwitness/packet"

// Key is an R_Key or L_Key of the channel adapter with this address.
type Key struct {
	Addr  packet.Addr
	Key   uint32
	Local bool // an L_Key
}

// Segment is one element of a scatter or gather list (section 10.7.2.1).
type Segment struct {
	VA     uint64
	Length uint32 // bytes
	LKey   uint32
}

// Memory is a range of memory that a key opens.
type Memory struct {
	Key    Key
	VA     uint64
	Length uint64 // bytes
}
