package hcaagent

import (
	"context"

	"ibwitness/cq"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Query observes a device. An agent answers qp.ErrUnknown (as a *qp.UnknownError) for what its kind of truth does not contain; every
// method may also return the error of the context.
type Query interface {
	// QPAttr returns the attributes of a queue pair, as far as they are known.
	QPAttr(ctx context.Context, q wqe.QP) (qp.Attr, error)
	// Completions moves completions that the consumer has polled from the queue into into, oldest first, and returns how many.
	Completions(ctx context.Context, cq wqe.CQ, into []cq.Completion) (int, error)
	// MemoryData copies what the range holds now into into, and returns how many bytes.
	MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error)
	// MemoryAccess returns nil if the queue pair may access the range in this way, else an *AccessError.
	MemoryAccess(ctx context.Context, q wqe.QP, m wqe.Memory, access wqe.Access) error
	// DataSegments returns how many data segments the send request with this id has.
	DataSegments(ctx context.Context, q wqe.QP, id uint64) (int, error)
	// ExpectSolicitedEvent reports whether the completion of the request owes the consumer a solicited event.
	ExpectSolicitedEvent(ctx context.Context, q wqe.QP, id uint64) (bool, error)
	// VerifyTransition returns nil if the device has made the transition, and made it as table T7 wants it; else a *qp.TransitionError.
	VerifyTransition(ctx context.Context, q wqe.QP, from, to qp.State) error
}
