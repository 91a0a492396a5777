package eventlog

import (
	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Events and their names in a log.
var kinds = map[string]cq.EventKind{
	"create_qp": cq.EvCreateQP, "modify_qp": cq.EvModifyQP, "destroy_qp": cq.EvDestroyQP, "query_qp": cq.EvQueryQP,
	"create_cq": cq.EvCreateCQ, "destroy_cq": cq.EvDestroyCQ,
	"create_srq": cq.EvCreateSRQ, "destroy_srq": cq.EvDestroySRQ,
	"reg_mr": cq.EvRegisterMR, "dereg_mr": cq.EvDeregisterMR,
	"alloc_mw": cq.EvAllocateMW, "dealloc_mw": cq.EvDeallocateMW,
	"post_send": cq.EvPostSend, "post_recv": cq.EvPostReceive, "bind_mw": cq.EvPostSend,
	"device": cq.EvDevice, "resize_cq": cq.EvResizeCQ, "modify_srq": cq.EvModifySRQ,
	"create_ah": cq.EvCreateAH, "modify_ah": cq.EvModifyAH, "destroy_ah": cq.EvDestroyAH,
	"memory": cq.EvMemory, "attach_mcast": cq.EvAttachGroup, "detach_mcast": cq.EvDetachGroup,
	"cqe": cq.EvCompletion, "notify": cq.EvNotify, "arm": cq.EvArm, "empty": cq.EvEmpty, "async": cq.EvAsync, "lost": cq.EvLost, "reset": cq.EvReset,
}

// remarks are lines that tell of no event of the device. That of the device itself is one unless it says what the device can do.
var remarks = map[string]bool{"start": true, "exchange": true, "die": true, "end": true}

// meaning is what a string means, where the format has it.
type meaning struct {
	kind           cq.EventKind // of an event
	isEvent        bool
	remark, tells  bool // it is a remark, and may say who the log is of
	device         bool // it is one unless it says what the device can do
	send           wqe.SendOp
	done           cq.CompletionOp
	isSend, isDone bool // it is an operation of a work request, of a completion
}

func meaningOf(s string) (m meaning) {
	m.kind, m.isEvent = kinds[s]
	m.send, m.isSend = sendOps[s]
	m.done, m.isDone = doneOps[s]
	m.device = s == "device"
	m.remark, m.tells = remarks[s], m.device || s == "exchange" || s == "start"
	return m
}

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

var doneOps = map[string]cq.CompletionOp{
	"SEND": cq.DoneSend, "RDMA_WRITE": cq.DoneWrite, "RDMA_READ": cq.DoneRead, "COMP_SWAP": cq.DoneCmpSwap,
	"FETCH_ADD": cq.DoneFetchAdd, "LOCAL_INV": cq.DoneLocalInv, "BIND_MW": cq.DoneBindMW, "FLUSH": cq.DoneFlush,
	"ATOMIC_WRITE": cq.DoneAtomicWrite, "RECV": cq.DoneRecv, "RECV_RDMA_WITH_IMM": cq.DoneRecvWriteImm,
}

var asyncs = map[string]cq.Async{
	"comm_est": cq.AsyncCommEstablished, "sq_drained": cq.AsyncSQDrained, "last_wqe": cq.AsyncLastWQE,
	"srq_limit": cq.AsyncSRQLimit, "cq_err": cq.AsyncCQError, "qp_fatal": cq.AsyncQPFatal,
	"qp_request": cq.AsyncQPRequest, "qp_access": cq.AsyncQPAccess, "path_mig": cq.AsyncPathMigrated,
}

var states = map[string]qp.State{
	"RESET": qp.Reset, "INIT": qp.Init, "RTR": qp.RTR, "RTS": qp.RTS, "SQD": qp.SQD, "SQE": qp.SQE,
	"ERR": qp.Err,
}

// names are the names of values.
type names[V ~uint8] [256]string

// namesOf are those of a table. A bind_mw is a post_send, too.
func namesOf[V ~uint8](table map[string]V) *names[V] {
	var t names[V]
	for n, v := range table {
		if n != "bind_mw" {
			t[v] = n
		}
	}
	return &t
}

// of returns the name of v.
func (t *names[V]) of(v V) string {
	if n := t[v]; n != "" {
		return n
	}
	return "?"
}

var (
	kindNames  = namesOf(kinds)
	typeNames  = namesOf(types)
	sendNames  = namesOf(sendOps)
	doneNames  = namesOf(doneOps)
	asyncNames = namesOf(asyncs)
	stateNames = namesOf(states)
)

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
