package eventlog

import (
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

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

var types = map[string]qp.Type{
	"rc": qp.TypeRC, "uc": qp.TypeUC, "rd": qp.TypeRD, "ud": qp.TypeUD, "xrc_ini": qp.TypeXRCInitiator,
	"xrc_tgt": qp.TypeXRCTarget, "smi": qp.TypeSMI, "gsi": qp.TypeGSI, "raw": qp.TypeRawPacket,
}

var sendOps = map[string]wqe.SendOp{
	"SEND": wqe.OpSend, "SEND_WITH_IMM": wqe.OpSendImm, "SEND_WITH_INV": wqe.OpSendInv,
	"RDMA_WRITE": wqe.OpWrite, "RDMA_WRITE_WITH_IMM": wqe.OpWriteImm, "RDMA_READ": wqe.OpRead,
	"ATOMIC_CMP_AND_SWP": wqe.OpCmpSwap, "ATOMIC_FETCH_AND_ADD": wqe.OpFetchAdd,
	"LOCAL_INV": wqe.OpLocalInv, "BIND_MW": wqe.OpBindMW, "FLUSH": wqe.OpFlush, "ATOMIC_WRITE": wqe.OpAtomicWrite,
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

var states = map[string]qp.State{
	"RESET": qp.Reset, "INIT": qp.Init, "RTR": qp.RTR, "RTS": qp.RTS, "SQD": qp.SQD, "SQE": qp.SQE,
	"ERR": qp.Err,
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

var accessBits = bits[wqe.Access]{
	{1, wqe.LocalWrite},
	{2, wqe.RemoteWrite},
	{4, wqe.RemoteRead},
	{8, wqe.RemoteAtomic},
	{16, wqe.BindWindow},
	{32, wqe.ZeroBased},
	{256, wqe.RemoteFlush},
	{512, wqe.RemotePersist},
}

var sendBits = bits[wqe.SendFlags]{{1, wqe.Fence}, {2, wqe.Signaled}, {4, wqe.Solicited}, {8, wqe.Inline}}

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
