package hcaagent

import "context"

// Takes returns the attributes that a transition requires and those that it takes besides (table T7); nothing where the table does not have
// the transition.
func Takes(t QPType, from, to State) (required, optional Known) {
	if t >= numTypes || to == Reset || to == Err {
		return 0, 0
	}
	r := transitions[transition{from, to}][t]
	if r == nil {
		return 0, 0
	}
	if optional = r.optional; (r.required|optional)&KnowsDestAddr != 0 {
		optional |= addressVector
	}
	return r.required, optional
}

// BringUp takes a queue pair from RESET to RTS. It gives each transition those attributes of attr that table T7 requires, set or not, and of
// the optional ones those that attr.Known names. The peer may send as soon as this queue pair is ready to receive.
func BringUp(ctx context.Context, device QueuePairs, qp QP, t QPType, attr Attr) error {
	known := attr.Known
	for from := Reset; from < RTS; from++ {
		required, optional := Takes(t, from, from+1)
		attr.Known = required | known&optional
		if err := device.TransitionQP(ctx, qp, from+1, attr); err != nil {
			return err
		}
	}
	return nil
}
