package soft

import (
	"context"
	"fmt"
	"slices"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// CreateAH makes an address handle.
func (h *HCA) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (ah wqe.AH, err error) {
	if err = ctx.Err(); err != nil {
		return 0, err
	}
	if err = h.inPD(pd); err != nil {
		return 0, err
	}
	ah = wqe.AH(h.object())
	h.ahs[ah] = &addressHandle{v, pd}
	return ah, nil
}

// ModifyAH gives an address handle another address vector.
func (h *HCA) ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error {
	a, err := lookUp(ctx, h.ahs, "address handle", ah)
	if err != nil {
		return err
	}
	a.AddressVector = v
	return nil
}

// QueryAH returns the address vector of an address handle.
func (h *HCA) QueryAH(ctx context.Context, ah wqe.AH) (wqe.AddressVector, error) {
	a, err := lookUp(ctx, h.ahs, "address handle", ah)
	if err != nil {
		return wqe.AddressVector{}, err
	}
	return a.AddressVector, nil
}

// DestroyAH destroys an address handle.
func (h *HCA) DestroyAH(ctx context.Context, ah wqe.AH) error {
	a, err := lookUp(ctx, h.ahs, "address handle", ah)
	if err != nil {
		return err
	}
	h.pds[a.pd]--
	delete(h.ahs, ah)
	return nil
}

// addressHandle says how datagrams reach a port.
type addressHandle struct {
	wqe.AddressVector
	pd wqe.PD
}

// AttachMulticast has a queue pair of UD receive what is sent to a group.
func (h *HCA) AttachMulticast(ctx context.Context, qp wqe.QP, group packet.Addr) error {
	q, err := h.find(ctx, qp)
	if err != nil {
		return err
	}
	if q.service != packet.UD || !group.IsMulticast() {
		return fmt.Errorf("soft: queue pair %#x, group %v: attach UD queue pairs to multicast addresses", q.num, group)
	}
	if !slices.Contains(h.grps[group], q.num) {
		h.grps[group] = append(h.grps[group], q.num)
	}
	return nil
}

// DetachMulticast ends that.
func (h *HCA) DetachMulticast(ctx context.Context, qp wqe.QP, group packet.Addr) error {
	q, err := h.find(ctx, qp)
	if err != nil {
		return err
	}
	i := slices.Index(h.grps[group], q.num)
	if i < 0 {
		return fmt.Errorf("soft: queue pair %#x is not attached to %v: %w", q.num, group, hcaagent.ErrNotFound)
	}
	h.grps[group] = slices.Delete(h.grps[group], i, i+1)
	return nil
}

// attached reports whether the queue pair is attached to a group.
func (q *queuePair) attached() bool {
	for _, list := range q.h.grps {
		if slices.Contains(list, q.num) {
			return true
		}
	}
	return false
}
