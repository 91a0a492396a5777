package passive

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

var _ hcaagent.Query = (*Agent)(nil)

// QPAttr returns what CM said of a queue pair that is connected, or that a service ID resolved to. The attributes without Known bits
// are unknown; for any other queue pair the error is a *qp.UnknownError.
func (a *Agent) QPAttr(ctx context.Context, q wqe.QP) (qp.Attr, error) {
	if err := ctx.Err(); err != nil {
		return qp.Attr{}, err
	}
	ref, ok := a.byQP[q]
	if !ok {
		return qp.Attr{}, unknown(ctx, fmt.Sprintf("attributes of QP 0x%06x at %v: the capture shows no CM exchange for it", q.QPN, q.Addr))
	}
	return a.slots[ref>>1].ends[ref&1].Attr, nil
}

// Completions is unknown: no completion crosses the wire.
func (a *Agent) Completions(ctx context.Context, _ wqe.CQ, _ []hcaagent.Completed) (int, error) {
	return 0, unknown(ctx, "completions: a capture has none")
}

// MemoryData is unknown.
func (a *Agent) MemoryData(ctx context.Context, _ wqe.Memory, _ []byte) (int, error) {
	return 0, unknown(ctx, "memory: a capture has none")
}

// MemoryAccess is unknown: the wire shows keys, not what they open.
func (a *Agent) MemoryAccess(ctx context.Context, _ wqe.QP, _ wqe.Memory, _ wqe.Access) error {
	return unknown(ctx, "memory regions: a capture has none")
}

// DataSegments is unknown: the wire shows the message, not the list that it was gathered from.
func (a *Agent) DataSegments(ctx context.Context, _ wqe.QP, _ uint64) ([]wqe.Segment, error) {
	return nil, unknown(ctx, "data segments: a capture has no work requests")
}

// Outstanding is unknown: the wire shows what was sent of the requests, not what was posted.
func (a *Agent) Outstanding(ctx context.Context, _ wqe.QP) (sends, receives int, err error) {
	return 0, 0, unknown(ctx, "outstanding requests: a capture has no work requests")
}

func unknown(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return &qp.UnknownError{What: what}
}
