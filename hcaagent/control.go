// Package hcaagent is the one interface that hides everything specific to a device: a control half that drives a channel
// adapter and a query half that observes it, in the terms of the verbs (chapter 11). Each implementation has a folder of its own.
//
// Others may import it: its API is kept stable.
package hcaagent

import (
	"context"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Control drives a device through its verbs (sections 11.2 to 11.4). Errors wrap ErrNotFound for objects that do not exist and ErrBusy for
// those that others still refer to; they are a *qp.TransitionError for an illegal transition and an *AccessError for memory that a key does not
// open. An immediate error changes nothing in the device (rule CPL-IMD-001). Every method may also return the error of the context.
type Control interface {
	QueuePairs
	CompletionQueues
	SharedReceiveQueues
	Regions
	AddressHandles
	MulticastGroups
	Memory
}

// QueuePairs are the verbs of queue pairs.
type QueuePairs interface {
	CreateQP(ctx context.Context, q qp.InitAttr) (wqe.QP, error)
	// ModifyQP sets the attributes that attr.Known names and does not change the state.
	ModifyQP(ctx context.Context, q wqe.QP, attr qp.Attr) error
	// TransitionQP brings the queue pair to another state, with the attributes that attr.Known names.
	TransitionQP(ctx context.Context, q wqe.QP, to qp.State, attr qp.Attr) error
	// QueryQP returns all attributes of a queue pair, and its state.
	QueryQP(ctx context.Context, q wqe.QP) (qp.Attr, qp.State, error)
	DestroyQP(ctx context.Context, q wqe.QP) error
	// PostSend and PostReceive post a request, which is the device's to keep with its list: nobody changes it.
	PostSend(ctx context.Context, q wqe.QP, r *wqe.SendRequest) error
	PostReceive(ctx context.Context, q wqe.QP, r *wqe.ReceiveRequest) error
}

// CompletionQueues are the verbs of completion queues.
type CompletionQueues interface {
	// CreateCQ makes a queue of at least depth elements.
	CreateCQ(ctx context.Context, depth int) (wqe.CQ, error)
	// ResizeCQ changes the depth; it fails where more completions wait than the new queue holds.
	ResizeCQ(ctx context.Context, cq wqe.CQ, depth int) error
	DestroyCQ(ctx context.Context, cq wqe.CQ) error
	// Poll moves completions out of the queue into into, oldest first, and returns how many.
	Poll(ctx context.Context, cq wqe.CQ, into []cq.Completion) (int, error)
	// RequestNotification arms the queue: one event for one request.
	RequestNotification(ctx context.Context, cq wqe.CQ, arm cq.Arm) error
}

// QueueDepths is a Control whose completion queues may be deeper than was asked for.
type QueueDepths interface {
	// CQDepth is how many completions a queue holds; 0: not known.
	CQDepth(ctx context.Context, cq wqe.CQ) (int, error)
}

// SharedReceiveQueues are the verbs of shared receive queues (section 10.2.9).
type SharedReceiveQueues interface {
	CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error)
	// CreateXRCD makes a domain of XRC (annex A14), and CreateXRCSRQ a shared receive queue in it, which targets of the domain receive by.
	CreateXRCD(ctx context.Context) (wqe.XRCD, error)
	DestroyXRCD(ctx context.Context, domain wqe.XRCD) error
	CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error)
	// ModifySRQ arms the limit: one event when fewer than limit requests are left. 0 disarms it.
	ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error
	DestroySRQ(ctx context.Context, srq wqe.SRQ) error
	// PostSharedReceive posts a request, which is the device's to keep with its list.
	PostSharedReceive(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error
}

// NewMR is what a memory region is registered with (section 10.6.3).
type NewMR struct {
	PD     wqe.PD
	VA     uint64
	Length uint64 // bytes
	Access wqe.Access
}

// Regions are the verbs of protection domains, memory regions and memory windows. A window is bound by a send request, OpBindMW.
type Regions interface {
	CreatePD(ctx context.Context) (wqe.PD, error)
	DestroyPD(ctx context.Context, pd wqe.PD) error
	// RegisterMR registers memory, which the device provides, and returns its L_Key and R_Key.
	RegisterMR(ctx context.Context, mr NewMR) (id wqe.MR, lkey, rkey uint32, err error)
	DeregisterMR(ctx context.Context, mr wqe.MR) error
	// AllocateMW makes an unbound window of type 1 or 2 and returns its R_Key.
	AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error)
	DeallocateMW(ctx context.Context, mw wqe.MW) error
}

// MulticastGroups are the verbs of multicast (section 10.5). A queue pair that is attached to a group cannot be destroyed (QPS-MC-001).
type MulticastGroups interface {
	AttachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error
	DetachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error
}

// AddressHandles are the verbs of address handles, which datagrams are sent by.
type AddressHandles interface {
	CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error)
	ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error
	QueryAH(ctx context.Context, ah wqe.AH) (wqe.AddressVector, error)
	DestroyAH(ctx context.Context, ah wqe.AH) error
}

// Memory is the consumer's access to the memory of regions. What it reads there is a Query.
type Memory interface {
	// SetMemory stores data in a range.
	SetMemory(ctx context.Context, m wqe.Memory, data []byte) error
}
