package agent

import (
	"context"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// RegisterMR registers memory and returns its L_Key and R_Key.
func (d *Device) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	id, lkey, rkey, err = d.Control.RegisterMR(ctx, mr)
	r := &wqe.Region{PD: mr.PD, MR: id, VA: mr.VA, Length: mr.Length, LKey: lkey, RKey: rkey, Access: mr.Access}
	d.tell(&cq.Event{Kind: cq.EvRegisterMR, Region: r}, err)
	if err == nil {
		d.mrs[id], d.lkeys[lkey] = r, r
	}
	return id, lkey, rkey, err
}

// DeregisterMR takes the keys of a region back.
func (d *Device) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	err := d.Control.DeregisterMR(ctx, mr)
	r := d.mrs[mr]
	d.tell(&cq.Event{Kind: cq.EvDeregisterMR, Region: r}, err)
	if err == nil && r != nil {
		delete(d.mrs, mr)
		delete(d.lkeys, r.LKey)
	}
	return err
}

// AllocateMW makes an unbound window of type 1 or 2 and returns its R_Key.
func (d *Device) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	id, rkey, err = d.Control.AllocateMW(ctx, pd, windowType)
	r := wqe.Region{PD: pd, MW: id, RKey: rkey, Window: windowType}
	if err == nil {
		now := r
		d.mws[id] = &now
	}
	d.tell(&cq.Event{Kind: cq.EvAllocateMW, Region: &r}, err)
	return id, rkey, err
}

// DeallocateMW destroys a window, bound or not.
func (d *Device) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	err := d.Control.DeallocateMW(ctx, mw)
	d.tell(&cq.Event{Kind: cq.EvDeallocateMW, Region: d.mws[mw]}, err)
	if err == nil {
		delete(d.mws, mw)
	}
	return err
}

// CreateAH makes an address handle.
func (d *Device) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error) {
	ah, err := d.Control.CreateAH(ctx, pd, v)
	d.tell(&cq.Event{Kind: cq.EvCreateAH, AH: ah, PD: pd, Vector: &v}, err)
	return ah, err
}

// ModifyAH gives an address handle another address vector.
func (d *Device) ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error {
	err := d.Control.ModifyAH(ctx, ah, v)
	d.tell(&cq.Event{Kind: cq.EvModifyAH, AH: ah, Vector: &v}, err)
	return err
}

// DestroyAH destroys an address handle.
func (d *Device) DestroyAH(ctx context.Context, ah wqe.AH) error {
	err := d.Control.DestroyAH(ctx, ah)
	d.tell(&cq.Event{Kind: cq.EvDestroyAH, AH: ah}, err)
	return err
}

// MemoryData is the consumer's look at its memory: it copies what the range holds into into, and returns how many bytes. What it finds is verified. The
// error is a *qp.UnknownError where no agent can answer.
func (d *Device) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	if d.opt.Query == nil {
		return 0, &qp.UnknownError{What: "memory of " + d.opt.Addr.String()}
	}
	n, err := d.opt.Query.MemoryData(ctx, m, into)
	if err == nil && n > 0 {
		r := &wqe.Region{VA: m.VA, Length: uint64(n)}
		d.tell(&cq.Event{Kind: cq.EvMemory, Region: r, Sum: crc32.ChecksumIEEE(into[:n]), Summed: true}, nil)
	}
	return n, err
}
