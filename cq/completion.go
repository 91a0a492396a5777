package cq

import (
	"strconv"

	"ibwitness/wqe"
)

// Status is the status of a completion (section 11.6.2, table T16).
type Status uint8

// The statuses.
const (
	Success Status = iota
	LocLenErr
	LocQPOpErr
	LocEECOpErr
	LocProtErr
	WRFlushErr
	MWBindErr
	BadRespErr
	LocAccessErr
	RemInvReqErr
	RemAccessErr
	RemOpErr
	RetryExcErr
	RNRRetryExcErr
	LocRDDViolErr
	RemInvRDReqErr
	RemAbortErr
	InvEECNErr
	InvEECStateErr
	FatalErr
	RespTimeoutErr
	GeneralErr
)

var statusNames = [...]string{
	"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR", "BAD_RESP_ERR",
	"LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",
	"REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR", "FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR",
}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}

// CompletionOp is what a completion reports as done.
type CompletionOp uint8

// The operations of completions: those of the send queue, then those of the receive queue.
const (
	DoneSend CompletionOp = iota
	DoneWrite
	DoneRead
	DoneCmpSwap
	DoneFetchAdd
	DoneLocalInv
	DoneBindMW
	DoneFlush
	DoneAtomicWrite
	DoneRecv
	DoneRecvWriteImm
)

var doneNames = [...]string{
	"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD", "LOCAL_INV", "BIND_MW", "FLUSH", "ATOMIC_WRITE", "RECV",
	"RECV_RDMA_WITH_IMM",
}

func (o CompletionOp) String() string {
	if int(o) < len(doneNames) {
		return doneNames[o]
	}
	return "operation " + strconv.Itoa(int(o))
}

var doneOps = [...]CompletionOp{
	wqe.OpSend: DoneSend, wqe.OpSendImm: DoneSend, wqe.OpSendInv: DoneSend, wqe.OpWrite: DoneWrite, wqe.OpWriteImm: DoneWrite, wqe.OpRead: DoneRead,
	wqe.OpCmpSwap: DoneCmpSwap, wqe.OpFetchAdd: DoneFetchAdd, wqe.OpLocalInv: DoneLocalInv, wqe.OpBindMW: DoneBindMW, wqe.OpFlush: DoneFlush,
	wqe.OpAtomicWrite: DoneAtomicWrite,
}

// Done returns what the completion of a send request reports as done.
func Done(o wqe.SendOp) CompletionOp {
	if int(o) < len(doneOps) {
		return doneOps[o]
	}
	return ^CompletionOp(0)
}

// CompletionFlags say which fields of a receive completion are valid.
type CompletionFlags uint8

// The flags.
const (
	WithGRH CompletionFlags = 1 << iota
	WithImm
	WithInv
)

// Completion is one completion queue element. On any status but Success only ID, Status and QP are valid (rule CPL-STS-015).
type Completion struct {
	ID      uint64
	QP      wqe.QP
	Status  Status
	Op      CompletionOp
	Flags   CompletionFlags
	ByteLen uint32
	Imm     uint32 // host byte order
	InvKey  uint32 // R_Key that the message invalidated
	SrcQP   uint32 // datagrams: the sender
	SLID    uint16 // datagrams on InfiniBand
	SL      uint8
}

// sent reports whether a completion is of the send queue, and received whether it is of the receive queue. Of one with an error neither is known.
func (c *Completion) sent() bool     { return c.Status == Success && c.Op < DoneRecv }
func (c *Completion) received() bool { return c.Status == Success && c.Op >= DoneRecv }
