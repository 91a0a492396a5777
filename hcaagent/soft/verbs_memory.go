package soft

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// key makes a new index for an L_Key or R_Key and the key's low byte.
func (h *HCA) key() uint32 {
	h.lastKey++
	return h.lastKey<<8 | h.rng.Uint32N(256)
}

// RegisterMR registers memory. The device provides it, filled with zeros; regions over the same addresses share it.
func (h *HCA) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	r := &region{pd: mr.PD, valid: true}
	r.PD, r.VA, r.Length, r.Access = mr.PD, mr.VA, mr.Length, mr.Access
	if err = ctx.Err(); err != nil {
		return 0, 0, 0, err
	}
	if mr.Access&(wqe.RemoteWrite|wqe.RemoteAtomic) != 0 && mr.Access&wqe.LocalWrite == 0 {
		return 0, 0, 0, fmt.Errorf("soft: memory region: remote write and atomic access need local write; add it")
	}
	if r.buf, err = h.allocate(mr.VA, mr.Length); err != nil {
		return 0, 0, 0, err
	}
	r.base = mr.VA - r.buf.va
	if err = h.inPD(mr.PD); err != nil {
		return 0, 0, 0, err
	}
	r.LKey = h.key()
	r.RKey = r.LKey
	id = wqe.MR(h.object())
	r.MR = id
	h.mrs[id], h.keys[r.LKey>>8], h.recent = r, r, recent{}
	return id, r.LKey, r.RKey, nil
}

// DeregisterMR takes the keys of a region back. Its memory stays.
func (h *HCA) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	r, err := lookUp(ctx, h.mrs, "memory region", mr)
	if err != nil {
		return err
	}
	if r.bound > 0 {
		return fmt.Errorf("soft: memory region %d has windows bound to it: %w", mr, hcaagent.ErrBusy)
	}
	r.valid = false
	delete(h.mrs, mr)
	delete(h.keys, r.LKey>>8)
	h.recent = recent{}
	h.pds[r.pd]--
	return nil
}

// AllocateMW makes a memory window that is not bound.
func (h *HCA) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	r := &region{pd: pd}
	r.PD, r.Window = pd, windowType
	if err = ctx.Err(); err != nil {
		return 0, 0, err
	}
	if windowType != 1 && windowType != 2 {
		return 0, 0, fmt.Errorf("soft: memory window type %d: give 1 or 2", windowType)
	}
	if err = h.inPD(pd); err != nil {
		return 0, 0, err
	}
	r.RKey = h.key()
	id = wqe.MW(h.object())
	r.MW = id
	h.mws[id], h.keys[r.RKey>>8], h.recent = r, r, recent{}
	return id, r.RKey, nil
}

// DeallocateMW destroys a memory window, bound or not.
func (h *HCA) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	r, err := lookUp(ctx, h.mws, "memory window", mw)
	if err != nil {
		return err
	}
	r.valid = false
	r.release()
	delete(h.mws, mw)
	delete(h.keys, r.RKey>>8)
	h.recent = recent{}
	h.pds[r.pd]--
	return nil
}
