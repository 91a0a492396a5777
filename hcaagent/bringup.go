package hcaagent

import (
	"context"

	"ibwitness/qp"
	"ibwitness/wqe"
)

// BringUp takes a queue pair from RESET to RTS. It gives each transition those attributes of attr that table T7 requires, set or not, and of
// the optional ones those that attr.Known names. The peer may send as soon as this queue pair is ready to receive.
func BringUp(ctx context.Context, device QueuePairs, q wqe.QP, t qp.Type, attr qp.Attr) error {
	known := attr.Known
	for from := qp.Reset; from < qp.RTS; from++ {
		required, optional := qp.Takes(t, from, from+1)
		attr.Known = required | known&optional
		if err := device.TransitionQP(ctx, q, from+1, attr); err != nil {
			return err
		}
	}
	return nil
}
