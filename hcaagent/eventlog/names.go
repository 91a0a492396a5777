package eventlog

import "ibwitness/hcaagent"

// Events and their names in a log.
var kinds = map[string]hcaagent.EventKind{
	"create_qp": hcaagent.EvCreateQP, "modify_qp": hcaagent.EvModifyQP, "destroy_qp": hcaagent.EvDestroyQP, "query_qp": hcaagent.EvQueryQP,
	"create_cq": hcaagent.EvCreateCQ, "destroy_cq": hcaagent.EvDestroyCQ,
	"create_srq": hcaagent.EvCreateSRQ, "destroy_srq": hcaagent.EvDestroySRQ,
	"reg_mr": hcaagent.EvRegisterMR, "dereg_mr": hcaagent.EvDeregisterMR,
	"alloc_mw": hcaagent.EvAllocateMW, "dealloc_mw": hcaagent.EvDeallocateMW,
	"post_send": hcaagent.EvPostSend, "post_recv": hcaagent.EvPostReceive, "bind_mw": hcaagent.EvPostSend,
	"device": hcaagent.EvDevice, "resize_cq": hcaagent.EvResizeCQ, "modify_srq": hcaagent.EvModifySRQ,
	"create_ah": hcaagent.EvCreateAH, "modify_ah": hcaagent.EvModifyAH, "destroy_ah": hcaagent.EvDestroyAH,
	"memory": hcaagent.EvMemory, "attach_mcast": hcaagent.EvAttachGroup, "detach_mcast": hcaagent.EvDetachGroup,
	"cqe": hcaagent.EvCompletion, "notify": hcaagent.EvNotify, "arm": hcaagent.EvArm, "async": hcaagent.EvAsync,
}

// remarks are lines that tell of no event of the device. That of the device itself is one unless it says what the device can do.
var remarks = map[string]bool{"start": true, "exchange": true, "die": true, "end": true}

var types = map[string]hcaagent.QPType{
	"rc": hcaagent.TypeRC, "uc": hcaagent.TypeUC, "rd": hcaagent.TypeRD, "ud": hcaagent.TypeUD, "xrc_ini": hcaagent.TypeXRCInitiator,
	"xrc_tgt": hcaagent.TypeXRCTarget, "smi": hcaagent.TypeSMI, "gsi": hcaagent.TypeGSI, "raw": hcaagent.TypeRawPacket,
}

var sendOps = map[string]hcaagent.SendOp{
	"SEND": hcaagent.OpSend, "SEND_WITH_IMM": hcaagent.OpSendImm, "SEND_WITH_INV": hcaagent.OpSendInv,
	"RDMA_WRITE": hcaagent.OpWrite, "RDMA_WRITE_WITH_IMM": hcaagent.OpWriteImm, "RDMA_READ": hcaagent.OpRead,
	"ATOMIC_CMP_AND_SWP": hcaagent.OpCmpSwap, "ATOMIC_FETCH_AND_ADD": hcaagent.OpFetchAdd,
	"LOCAL_INV": hcaagent.OpLocalInv, "BIND_MW": hcaagent.OpBindMW, "FLUSH": hcaagent.OpFlush, "ATOMIC_WRITE": hcaagent.OpAtomicWrite,
}

var doneOps = map[string]hcaagent.CompletionOp{
	"SEND": hcaagent.DoneSend, "RDMA_WRITE": hcaagent.DoneWrite, "RDMA_READ": hcaagent.DoneRead, "COMP_SWAP": hcaagent.DoneCmpSwap,
	"FETCH_ADD": hcaagent.DoneFetchAdd, "LOCAL_INV": hcaagent.DoneLocalInv, "BIND_MW": hcaagent.DoneBindMW, "FLUSH": hcaagent.DoneFlush,
	"ATOMIC_WRITE": hcaagent.DoneAtomicWrite, "RECV": hcaagent.DoneRecv, "RECV_RDMA_WITH_IMM": hcaagent.DoneRecvWriteImm,
}

var asyncs = map[string]hcaagent.Async{
	"comm_est": hcaagent.AsyncCommEstablished, "sq_drained": hcaagent.AsyncSQDrained, "last_wqe": hcaagent.AsyncLastWQE,
	"srq_limit": hcaagent.AsyncSRQLimit, "cq_err": hcaagent.AsyncCQError, "qp_fatal": hcaagent.AsyncQPFatal,
	"qp_request": hcaagent.AsyncQPRequest, "qp_access": hcaagent.AsyncQPAccess, "path_mig": hcaagent.AsyncPathMigrated,
}

var states = map[string]hcaagent.State{
	"RESET": hcaagent.Reset, "INIT": hcaagent.Init, "RTR": hcaagent.RTR, "RTS": hcaagent.RTS, "SQD": hcaagent.SQD, "SQE": hcaagent.SQE,
	"ERR": hcaagent.Err,
}

// name returns the name of v in a table of names.
func name[V comparable](table map[string]V, v V) string {
	for n, w := range table {
		if v == w && n != "bind_mw" {
			return n
		}
	}
	return "?"
}

// bits is a set of flags as libibverbs numbers them, and here.
type bits[T ~uint8] []struct {
	bit  uint32
	flag T
}

var accessBits = bits[hcaagent.Access]{
	{1, hcaagent.LocalWrite},
	{2, hcaagent.RemoteWrite},
	{4, hcaagent.RemoteRead},
	{8, hcaagent.RemoteAtomic},
	{16, hcaagent.BindWindow},
	{32, hcaagent.ZeroBased},
	{256, hcaagent.RemoteFlush},
	{512, hcaagent.RemotePersist},
}

var sendBits = bits[hcaagent.SendFlags]{{1, hcaagent.Fence}, {2, hcaagent.Signaled}, {4, hcaagent.Solicited}, {8, hcaagent.Inline}}

// read returns what the bits of a log say.
func (t bits[T]) read(set uint32) (flags T) {
	for _, b := range t {
		if set&b.bit != 0 {
			flags |= b.flag
		}
	}
	return flags
}

// write returns the bits for a log.
func (t bits[T]) write(flags T) (set uint32) {
	for _, b := range t {
		if flags&b.flag != 0 {
			set |= b.bit
		}
	}
	return set
}
