package wqe

import "ibwitness/packet"

// QP names a queue pair: the address of its port and its number.
type QP struct {
	Addr packet.Addr
	QPN  uint32
}

// Objects of a device, by numbers that the device gives. Zero names none.
type (
	CQ   uint32 // completion queue
	SRQ  uint32 // shared receive queue
	XRCD uint32 // domain of XRC
	PD   uint32 // protection domain
	MR   uint32 // memory region
	MW   uint32 // memory window
	AH   uint32 // address handle
)

// MulticastQPN is the number that datagrams to a group go to.
const MulticastQPN = 0xFFFFFF
