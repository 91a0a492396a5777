package hcaagent

import "context"

// NewQP is what a queue pair is created with (section 11.2.5.1).
type NewQP struct {
	Type            QPType
	SendCQ, RecvCQ  CQ
	MaxSend         int // work requests that the send queue holds
	MaxReceive      int
	MaxSendSegments int // data segments of a send request
	MaxRecvSegments int
	MaxInline       int  // bytes
	SignalAll       bool // every send request makes a completion
}

// Control drives a device through its verbs (section 11.2 to 11.4). Errors wrap ErrNotFound for objects that do not exist, and are a
// *TransitionError for an illegal transition; every method may also return the error of the context.
type Control interface {
	CreateCQ(ctx context.Context, depth int) (CQ, error)
	DestroyCQ(ctx context.Context, cq CQ) error
	CreateQP(ctx context.Context, qp NewQP) (QP, error)
	// ModifyQP sets the attributes that attr.Known names and leaves the state alone.
	ModifyQP(ctx context.Context, qp QP, attr Attr) error
	// TransitionQP brings the queue pair to another state, with the attributes that attr.Known names.
	TransitionQP(ctx context.Context, qp QP, to State, attr Attr) error
	DestroyQP(ctx context.Context, qp QP) error
	PostSend(ctx context.Context, qp QP, r SendRequest) error
	PostReceive(ctx context.Context, qp QP, r ReceiveRequest) error
}
