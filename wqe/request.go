package wqe

import "strconv"

// SendOp is the operation of a send request (section 10.8.2 and 11.4.1.1).
type SendOp uint8

// The operations.
const (
	OpSend SendOp = iota
	OpSendImm
	OpSendInv
	OpWrite
	OpWriteImm
	OpRead
	OpCmpSwap
	OpFetchAdd
	OpLocalInv
	OpBindMW
	OpFlush
	OpAtomicWrite
)

var sendOpNames = [...]string{
	"SEND", "SEND with Immediate", "SEND with Invalidate", "RDMA WRITE", "RDMA WRITE with Immediate", "RDMA READ", "CmpSwap", "FetchAdd", "Local Invalidate",
	"Bind Window", "FLUSH", "ATOMIC WRITE",
}

func (o SendOp) String() string {
	if int(o) < len(sendOpNames) {
		return sendOpNames[o]
	}
	return "operation " + strconv.Itoa(int(o))
}

// SendFlags are the modifiers of a send request.
type SendFlags uint8

// The modifiers.
const (
	Signaled  SendFlags = 1 << iota // makes a completion on success too
	Solicited                       // sets SE in the last packet
	Fence                           // waits for earlier READs and atomics
	Inline                          // the data is taken when the request is posted
)

// SendRequest is a work request for a send queue.
type SendRequest struct {
	ID       uint64 // chosen by the consumer, comes back in the completion
	Op       SendOp
	Flags    SendFlags
	Imm      uint32 // immediate data, host byte order
	InvKey   uint32 // R_Key that SEND with Invalidate names; key that OpLocalInv invalidates
	RemoteVA uint64
	RKey     uint32
	Compare  uint64
	SwapAdd  uint64
	Segments []Segment

	// Datagrams only. Where AH is not zero it gives the address of Dest, of which only the QPN counts.
	Dest QP
	AH   AH
	QKey uint32

	Window *Bind        // OpBindMW only
	Flush  FlushRequest // OpFlush only
	XRCSRQ uint32       // XRC only: number of the SRQ that the message goes to
}

// Bind is what OpBindMW binds a window to (section 10.6.6).
type Bind struct {
	MW     MW
	MR     MR
	RKey   uint32 // new R_Key of a type 2 window; its upper 24 bits are the window's
	VA     uint64
	Length uint64
	Access Access
}

// FlushRequest is what OpFlush asks for (annex A19).
type FlushRequest struct {
	Length    uint32
	Placement uint8 // bit 0: global visibility, bit 1: persistence
	Whole     bool  // the whole region, whatever VA and Length
}

// ReceiveRequest is a work request for a receive queue.
type ReceiveRequest struct {
	ID       uint64
	Segments []Segment
}
