package passive

import (
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Kind is what a Fact says.
type Kind uint8

// The kinds.
const (
	// Connected: the REP was seen, and the REQ. Both ends are known.
	Connected Kind = iota + 1
	// Disconnected: the first DREQ was seen, or the DREP if the DREQ was missed. If the capture began after the REP, an end may have
	// QPN 0; when the peer's DREQ crosses and names it, a second Disconnected has both.
	Disconnected
	// Superseded: a QP of this connection is being connected again, or was resolved as a datagram QP, and the capture did not show
	// its disconnection. The Connected that caused it follows.
	Superseded
	// Rejected: a REJ ended the exchange, or took a reported connection back. Reason says why.
	Rejected
	// Resolved: a SIDR_REP named the datagram QP of Ends[1]. Ends[0] has QPN 0: the QP that will send is not said.
	Resolved
	// Unresolved: a SIDR_REP refused. Status says why.
	Unresolved
)

func (k Kind) String() string {
	switch k {
	case Connected:
		return "connected"
	case Disconnected:
		return "disconnected"
	case Superseded:
		return "superseded"
	case Rejected:
		return "rejected"
	case Resolved:
		return "resolved"
	case Unresolved:
		return "unresolved"
	}
	return "nothing"
}

// End is one side of an exchange and what is known of its queue pair.
type End struct {
	Addr packet.Addr
	QPN  uint32 // 0: not known; QP0 is never connected
	Attr qp.Attr
}

// Fact is something that a management packet taught.
type Fact struct {
	Kind  Kind
	Time  int64 // of the packet that taught it, nanoseconds since the Unix epoch
	Frame uint64
	Tap   uint16

	// Asked is the frame of the REQ or SIDR_REQ; 0 if it was missed. Then Service, ServiceID and which end is the active one are not
	// known, except of a SIDR_REP, which says all but the P_Key.
	Asked     uint64
	Service   packet.Service
	ServiceID mad.ServiceID
	Queue     mad.NVMeQueue // that the REQ asks for, if it is one of NVMe over RDMA

	Reason mad.RejReason
	Status mad.SIDRStatus

	Ends [2]End // Ends[0] is the active side, which sent the REQ or SIDR_REQ
	By   int    // of Disconnected and Rejected: the end that sent the DREQ, also where only the DREP was seen, or the REJ
}
