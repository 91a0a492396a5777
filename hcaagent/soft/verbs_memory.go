package soft

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
)

// key makes a new index for an L_Key or R_Key and the key's low byte.
func (h *HCA) key() uint32 {
	h.lastKey++
	return h.lastKey<<8 | h.rng.Uint32N(256)
}

// RegisterMR registers memory. The device provides it, filled with zeros; regions over the same addresses share it.
func (h *HCA) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id hcaagent.MR, lkey, rkey uint32, err error) {
	r := &region{pd: mr.PD, valid: true}
	r.VA, r.Length, r.Access = mr.VA, mr.Length, mr.Access
	defer func() { h.emit(hcaagent.Event{Kind: hcaagent.EvRegisterMR, Region: &r.Region}, err) }()
	if err = ctx.Err(); err != nil {
		return 0, 0, 0, err
	}
	if mr.Access&(hcaagent.RemoteWrite|hcaagent.RemoteAtomic) != 0 && mr.Access&hcaagent.LocalWrite == 0 {
		err = fmt.Errorf("soft: memory region: remote write and atomic access need local write; add it")
		return 0, 0, 0, err
	}
	if r.buf, err = h.allocate(mr.VA, mr.Length); err != nil {
		return 0, 0, 0, err
	}
	if err = h.inPD(mr.PD); err != nil {
		return 0, 0, 0, err
	}
	r.LKey = h.key()
	r.RKey = r.LKey
	id = hcaagent.MR(h.object())
	h.mrs[id], h.keys[r.LKey>>8] = r, r
	return id, r.LKey, r.RKey, nil
}

// DeregisterMR takes the keys of a region back. Its memory stays.
func (h *HCA) DeregisterMR(ctx context.Context, mr hcaagent.MR) (err error) {
	e := hcaagent.Event{Kind: hcaagent.EvDeregisterMR}
	defer func() { h.emit(e, err) }()
	if err = ctx.Err(); err != nil {
		return err
	}
	r := h.mrs[mr]
	if r == nil {
		return notFound("memory region", uint32(mr))
	}
	e.Region = &r.Region
	if r.bound > 0 {
		return fmt.Errorf("soft: memory region %d has windows bound to it: %w", mr, hcaagent.ErrBusy)
	}
	r.valid = false
	delete(h.mrs, mr)
	delete(h.keys, r.LKey>>8)
	h.pds[r.pd]--
	return nil
}

// AllocateMW makes a memory window that is not bound.
func (h *HCA) AllocateMW(ctx context.Context, pd hcaagent.PD, windowType int) (id hcaagent.MW, rkey uint32, err error) {
	r := &region{pd: pd}
	r.Window = windowType
	defer func() { h.emit(hcaagent.Event{Kind: hcaagent.EvAllocateMW, Region: &r.Region}, err) }()
	if err = ctx.Err(); err != nil {
		return 0, 0, err
	}
	if windowType != 1 && windowType != 2 {
		err = fmt.Errorf("soft: memory window type %d: give 1 or 2", windowType)
		return 0, 0, err
	}
	if err = h.inPD(pd); err != nil {
		return 0, 0, err
	}
	r.RKey = h.key()
	id = hcaagent.MW(h.object())
	h.mws[id], h.keys[r.RKey>>8] = r, r
	return id, r.RKey, nil
}

// DeallocateMW destroys a memory window, bound or not.
func (h *HCA) DeallocateMW(ctx context.Context, mw hcaagent.MW) (err error) {
	e := hcaagent.Event{Kind: hcaagent.EvDeallocateMW}
	defer func() { h.emit(e, err) }()
	if err = ctx.Err(); err != nil {
		return err
	}
	r := h.mws[mw]
	if r == nil {
		return notFound("memory window", uint32(mw))
	}
	e.Region = &r.Region
	r.valid = false
	r.release()
	delete(h.mws, mw)
	delete(h.keys, r.RKey>>8)
	h.pds[r.pd]--
	return nil
}

// CreateAH makes an address handle.
func (h *HCA) CreateAH(ctx context.Context, pd hcaagent.PD, v hcaagent.AddressVector) (hcaagent.AH, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := h.inPD(pd); err != nil {
		return 0, err
	}
	ah := hcaagent.AH(h.object())
	h.ahs[ah] = &addressHandle{v, pd}
	return ah, nil
}

// ModifyAH gives an address handle another address vector.
func (h *HCA) ModifyAH(ctx context.Context, ah hcaagent.AH, v hcaagent.AddressVector) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a := h.ahs[ah]
	if a == nil {
		return notFound("address handle", uint32(ah))
	}
	a.AddressVector = v
	return nil
}

// QueryAH returns the address vector of an address handle.
func (h *HCA) QueryAH(ctx context.Context, ah hcaagent.AH) (hcaagent.AddressVector, error) {
	if err := ctx.Err(); err != nil {
		return hcaagent.AddressVector{}, err
	}
	if a := h.ahs[ah]; a != nil {
		return a.AddressVector, nil
	}
	return hcaagent.AddressVector{}, notFound("address handle", uint32(ah))
}

// DestroyAH destroys an address handle.
func (h *HCA) DestroyAH(ctx context.Context, ah hcaagent.AH) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a := h.ahs[ah]
	if a == nil {
		return notFound("address handle", uint32(ah))
	}
	h.pds[a.pd]--
	delete(h.ahs, ah)
	return nil
}

// addressHandle says how datagrams reach a port.
type addressHandle struct {
	hcaagent.AddressVector
	pd hcaagent.PD
}
