package qp

import (
	"fmt"
	"math"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// InvalidError says why a device must refuse a verb.
type InvalidError struct {
	Rule   rule.ID // that is broken by a device which accepts it
	Reason string  // what is invalid, and what would be valid
}

func (e *InvalidError) Error() string { return "qp: " + e.Reason }

func invalid(id rule.ID, format string, args ...any) error {
	return &InvalidError{id, fmt.Sprintf(format, args...)}
}

// Limits are the attributes of a device that bound those of its queue pairs. Zero: not known.
type Limits struct {
	MaxRdAtomic     uint8 // initiator depth
	MaxDestRdAtomic uint8 // responder resources
	PKeys           int   // entries of the P_Key table
	Ports           uint8
}

// ValidValues checks the values of the attributes that a.Known names, for a queue pair in state from (section 11.2.5.2, rules QPS-ATT-001 to
// QPS-ATT-006 and QPS-TRN-005). The error is an *InvalidError.
func (a *Attr) ValidValues(from State, l Limits) error {
	bad := func(k Known, ok bool) bool { return a.Has(k) && !ok }
	switch {
	case bad(KnowsPMTU, wqe.ValidMTU(int(a.PMTU))):
		return invalid(rule.QPSATT001, "path MTU %d: give 256, 512, 1024, 2048 or 4096", a.PMTU)
	case bad(KnowsMaxRdAtomic, l.MaxRdAtomic == 0 || a.MaxRdAtomic <= l.MaxRdAtomic):
		return invalid(rule.QPSATT002, "initiator depth %d: the device has %d", a.MaxRdAtomic, l.MaxRdAtomic)
	case bad(KnowsMaxDestRdAtomic, l.MaxDestRdAtomic == 0 || a.MaxDestRdAtomic <= l.MaxDestRdAtomic):
		return invalid(rule.QPSATT002, "responder resources %d: the device has %d", a.MaxDestRdAtomic, l.MaxDestRdAtomic)
	case bad(KnowsTimeout, a.Timeout < 32), bad(KnowsMinRNRTimer, a.MinRNRTimer < 32):
		return invalid(rule.QPSATT003, "ACK timeout code %d, RNR timer code %d: give 0 to 31", a.Timeout, a.MinRNRTimer)
	case bad(KnowsRetryCnt, a.RetryCnt < 8), bad(KnowsRNRRetry, a.RNRRetry < 8):
		return invalid(rule.QPSATT003, "retry count %d, RNR retry count %d: give 0 to 7", a.RetryCnt, a.RNRRetry)
	case bad(KnowsPort, a.Port > 0 && (l.Ports == 0 || a.Port <= l.Ports)):
		return invalid(rule.QPSATT004, "port %d: the device has ports 1 to %d", a.Port, max(l.Ports, 1))
	case bad(KnowsPKey, a.PKey != 0 || l.PKeys == 0 || int(a.PKeyIndex) < l.PKeys):
		return invalid(rule.QPSATT004, "P_Key index %d: the P_Key table has %d entries", a.PKeyIndex, l.PKeys)
	case bad(KnowsMigState, a.MigState != Armed):
		return invalid(rule.QPSATT005, "path migration state ARMED: only the device sets it")
	case bad(KnowsSQPSN, a.SQPSN <= packet.PSNMask), bad(KnowsRQPSN, a.RQPSN <= packet.PSNMask):
		return invalid(rule.QPSATT006, "PSN %#x or %#x: a PSN has 24 bits", uint32(a.SQPSN), uint32(a.RQPSN))
	case bad(KnowsDestQPN, a.DestQPN <= packet.PSNMask):
		return invalid(rule.QPSATT006, "destination QPN %#x: a QPN has 24 bits", a.DestQPN)
	case bad(KnowsCurState, a.CurState == from && from >= RTR && from <= SQE):
		return invalid(rule.QPSTRN005, "current state %v: the queue pair is in %v", a.CurState, from)
	}
	return nil
}

// sendOps are the operations that the send queue of each type of queue pair takes (table of section 10.8.2.1, annexes A14 and A19).
var sendOps = [numTypes]uint32{
	TypeRC:           1<<(wqe.OpAtomicWrite+1) - 1,
	TypeXRCInitiator: 1<<wqe.OpFlush - 1,
	TypeUC:           1<<wqe.OpSend | 1<<wqe.OpSendImm | 1<<wqe.OpWrite | 1<<wqe.OpWriteImm | 1<<wqe.OpLocalInv | 1<<wqe.OpBindMW,
	TypeUD:           1<<wqe.OpSend | 1<<wqe.OpSendImm, TypeSMI: 1 << wqe.OpSend, TypeGSI: 1 << wqe.OpSend, TypeRawPacket: 1 << wqe.OpSend,
	TypeRD: math.MaxUint32,
}

// longestMessage is how many bytes a message has at most (section 9.4).
const longestMessage = 1 << 31

// ValidSend checks a request for the send queue of a queue pair in a state: the immediate errors of section 11.4.1.1 that do not depend on what
// waits in the queue. The error is an *InvalidError.
func (n *InitAttr) ValidSend(s State, r *wqe.SendRequest) error {
	length := uint64(0)
	for i := range r.Segments {
		length += uint64(r.Segments[i].Length)
	}
	switch atomic := r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd || r.Op == wqe.OpAtomicWrite; {
	case n.Type == TypeXRCTarget:
		return invalid(rule.CPLIMD002, "an XRC target has no send queue")
	case !s.PostSend():
		return invalid(rule.QPSRST001, "send request in state %v: bring the queue pair to RTS first", s)
	case n.Type >= numTypes || r.Op > 31 || sendOps[n.Type]>>r.Op&1 == 0:
		return invalid(rule.CPLIMD002, "%v does not have %v", n.Type, r.Op)
	case n.MaxSendSegments > 0 && len(r.Segments) > n.MaxSendSegments:
		return invalid(rule.CPLIMD002, "%d data segments: a send request has at most %d", len(r.Segments), n.MaxSendSegments)
	case length > longestMessage:
		return invalid(rule.CPLIMD002, "message of %d bytes: give at most 2^31", length)
	case r.Flags&wqe.Inline != 0 && r.Op > wqe.OpWriteImm && r.Op != wqe.OpAtomicWrite:
		return invalid(rule.CPLIMD002, "%v sends no data that could be inline", r.Op)
	case r.Flags&wqe.Inline != 0 && n.MaxInline > 0 && length > uint64(n.MaxInline):
		return invalid(rule.CPLIMD002, "%d bytes inline: the queue pair takes %d", length, n.MaxInline)
	case atomic && (length != 8 || r.RemoteVA%8 != 0):
		return invalid(rule.CPLIMD002, "%d bytes at %#x: an atomic works on 8 aligned bytes", length, r.RemoteVA)
	case r.Op == wqe.OpBindMW && r.Window == nil:
		return invalid(rule.CPLIMD002, "no memory window is named: give Window")
	}
	return nil
}

// ValidReceive checks a request for the receive queue of a queue pair in a state (section 11.4.1.2). The error is an *InvalidError.
func (n *InitAttr) ValidReceive(s State, r *wqe.ReceiveRequest) error {
	switch {
	case n.SRQ != 0:
		return invalid(rule.CPLSRQ004, "the queue pair receives from shared receive queue %d: post there", n.SRQ)
	case n.Type == TypeXRCInitiator || n.Type == TypeXRCTarget:
		return invalid(rule.CPLIMD002, "%v has no receive queue of its own: post to a shared receive queue", n.Type)
	case !s.PostReceive():
		return invalid(rule.QPSRST001, "receive request in state %v: bring the queue pair to INIT first", s)
	case n.MaxRecvSegments > 0 && len(r.Segments) > n.MaxRecvSegments:
		return invalid(rule.CPLIMD002, "%d data segments: a receive request has at most %d", len(r.Segments), n.MaxRecvSegments)
	}
	return nil
}

// ValidSharedReceive checks a request for a shared receive queue whose requests have so many data segments at most; 0: that is not known. The error is an
// *InvalidError.
func ValidSharedReceive(segments int, r *wqe.ReceiveRequest) error {
	if segments > 0 && len(r.Segments) > segments {
		return invalid(rule.CPLIMD002, "%d data segments: a receive request has at most %d", len(r.Segments), segments)
	}
	return nil
}
