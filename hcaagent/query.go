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
	Completions(ctx context.Context, cq wqe.CQ, into []Completed) (int, error)
	// MemoryData copies what the range holds now into into, and returns how many bytes.
	MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error)
	// MemoryAccess returns nil if the queue pair may access the range in this way, else an *AccessError.
	MemoryAccess(ctx context.Context, q wqe.QP, m wqe.Memory, access wqe.Access) error
	// DataSegments returns the data segments of the send request with this id. The list is valid until the request completes.
	DataSegments(ctx context.Context, q wqe.QP, id uint64) ([]wqe.Segment, error)
	// Outstanding returns how many requests of the send queue and of the receive queue of a queue pair have not completed.
	Outstanding(ctx context.Context, q wqe.QP) (sends, receives int, err error)
}

// Completed is a completion that the consumer has polled, and what its request had put into memory when the completion was made.
type Completed struct {
	cq.Completion
	// Sum is the CRC-32 (IEEE) of the bytes of a receive, READ or atomic that has succeeded, where Summed; that of a datagram without its GRH.
	Summed bool
	Sum    uint32
	Head   []byte // of a datagram: the 40 bytes before its data; or nil
}
