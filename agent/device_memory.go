package agent

import (
	"bytes"
	"context"
	"hash/crc32"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// CreatePD makes a protection domain.
func (d *Device) CreatePD(ctx context.Context) (wqe.PD, error) { return d.control.CreatePD(ctx) }

// DestroyPD destroys a protection domain that nothing belongs to.
func (d *Device) DestroyPD(ctx context.Context, pd wqe.PD) error { return d.control.DestroyPD(ctx, pd) }

// RegisterMR registers memory and returns its L_Key and R_Key.
func (d *Device) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	id, lkey, rkey, err = d.control.RegisterMR(ctx, mr)
	r := &wqe.Region{PD: mr.PD, MR: id, VA: mr.VA, Length: mr.Length, LKey: lkey, RKey: rkey, Access: mr.Access}
	d.tell(&cq.Event{Kind: cq.EvRegisterMR, Region: r}, err)
	return id, lkey, rkey, err
}

// DeregisterMR takes the keys of a region back.
func (d *Device) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	err := d.control.DeregisterMR(ctx, mr)
	d.tell(&cq.Event{Kind: cq.EvDeregisterMR, Region: d.mrs[mr]}, err)
	return err
}

// AllocateMW makes an unbound window of type 1 or 2 and returns its R_Key.
func (d *Device) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	id, rkey, err = d.control.AllocateMW(ctx, pd, windowType)
	d.tell(&cq.Event{Kind: cq.EvAllocateMW, Region: &wqe.Region{PD: pd, MW: id, RKey: rkey, Window: windowType}}, err)
	return id, rkey, err
}

// DeallocateMW destroys a window, bound or not.
func (d *Device) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	err := d.control.DeallocateMW(ctx, mw)
	d.tell(&cq.Event{Kind: cq.EvDeallocateMW, Region: d.mws[mw]}, err)
	return err
}

// CreateAH makes an address handle.
func (d *Device) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error) {
	ah, err := d.control.CreateAH(ctx, pd, v)
	d.tell(&cq.Event{Kind: cq.EvCreateAH, AH: ah, PD: pd, Vector: &v}, err)
	return ah, err
}

// ModifyAH gives an address handle another address vector.
func (d *Device) ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error {
	err := d.control.ModifyAH(ctx, ah, v)
	d.tell(&cq.Event{Kind: cq.EvModifyAH, AH: ah, Vector: &v}, err)
	return err
}

// QueryAH returns the address vector of an address handle.
func (d *Device) QueryAH(ctx context.Context, ah wqe.AH) (wqe.AddressVector, error) {
	return d.control.QueryAH(ctx, ah)
}

// DestroyAH destroys an address handle.
func (d *Device) DestroyAH(ctx context.Context, ah wqe.AH) error {
	err := d.control.DestroyAH(ctx, ah)
	d.tell(&cq.Event{Kind: cq.EvDestroyAH, AH: ah}, err)
	return err
}

// MemoryData reads memory for the consumer: it copies the bytes of the range into into, and returns how many. The session compares them with the messages that have written
// there. The error is a *qp.UnknownError where no agent can answer.
func (d *Device) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	if d.opt.Query == nil {
		return 0, &qp.UnknownError{What: "memory of " + d.opt.Addr.String()}
	}
	n, err := d.opt.Query.MemoryData(ctx, m, into)
	if err == nil {
		d.held(m.VA, into[:n], false)
	}
	return n, err
}

// Outstanding returns how many requests of the send queue and of the receive queue of a queue pair have not completed. The error is a *qp.UnknownError where no
// agent can answer.
func (d *Device) Outstanding(ctx context.Context, q wqe.QP) (sends, receives int, err error) {
	if d.opt.Query == nil {
		return 0, 0, &qp.UnknownError{What: "outstanding requests of " + d.opt.Addr.String()}
	}
	return d.opt.Query.Outstanding(ctx, q)
}

// SetMemory is the consumer's store into its memory, which later looks and messages are compared with.
func (d *Device) SetMemory(ctx context.Context, m wqe.Memory, data []byte) error {
	err := d.control.SetMemory(ctx, m, data)
	if err == nil {
		d.held(m.VA, data, true)
	}
	return err
}

// held tells what memory holds.
func (d *device) held(va uint64, b []byte, wrote bool) {
	if d.opt.Event != nil && len(b) > 0 {
		r := &wqe.Region{VA: va, Length: uint64(len(b))}
		e := &cq.Event{Kind: cq.EvMemory, Region: r, Sum: crc32.ChecksumIEEE(b), Summed: true, Wrote: wrote}
		if len(b) <= d.opt.Payload {
			e.Data = bytes.Clone(b)
		}
		d.tell(e, nil)
	}
}
