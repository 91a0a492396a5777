package qp

import (
	"fmt"
	"math"

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
	switch {
	case n.Type == TypeXRCTarget:
		return invalid(rule.CPLIMD002, "an XRC target has no send queue")
	case !s.PostSend():
		return invalid(rule.QPSRST001, "send request in state %v: bring the queue pair to RTS first", s)
	case n.Type >= numTypes || r.Op > 31 || sendOps[n.Type]>>r.Op&1 == 0:
		return invalid(rule.CPLIMD002, "%v does not have %v", n.Type, r.Op)
	}
	length := uint64(0)
	for i := range r.Segments {
		length += uint64(r.Segments[i].Length)
	}
	if err := n.validSegments(r, length); err != nil {
		return err
	}
	return validOperands(r, length)
}

// validSegments checks the data segments of a send request, of so many bytes in all.
func (n *InitAttr) validSegments(r *wqe.SendRequest, length uint64) error {
	switch inline := r.Flags&wqe.Inline != 0; {
	case n.MaxSendSegments > 0 && len(r.Segments) > n.MaxSendSegments:
		return invalid(rule.CPLIMD002, "%d data segments: a send request has at most %d", len(r.Segments), n.MaxSendSegments)
	case length > longestMessage:
		return invalid(rule.CPLIMD002, "message of %d bytes: give at most 2^31", length)
	case inline && r.Op > wqe.OpWriteImm && r.Op != wqe.OpAtomicWrite:
		return invalid(rule.CPLIMD002, "%v sends no data that could be inline", r.Op)
	case inline && n.MaxInline > 0 && length > uint64(n.MaxInline):
		return invalid(rule.CPLIMD002, "%d bytes inline: the queue pair takes %d", length, n.MaxInline)
	}
	return nil
}

// validOperands checks what an atomic works on, and which memory window is bound.
func validOperands(r *wqe.SendRequest, length uint64) error {
	switch atomic := r.Op == wqe.OpCmpSwap || r.Op == wqe.OpFetchAdd || r.Op == wqe.OpAtomicWrite; {
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
