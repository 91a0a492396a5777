//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// memoryRegion is a memory region.
type memoryRegion struct {
	region
	mr *C.struct_ibv_mr
}

// window is a memory window of type 1 or 2.
type window struct {
	mw   *C.struct_ibv_mw
	kind int
}

// CreatePD makes a protection domain.
func (d *Device) CreatePD(ctx context.Context) (wqe.PD, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := C.ibv_alloc_pd(d.ctx)
	if p == nil {
		return 0, failed("ibv_alloc_pd", err)
	}
	number := wqe.PD(d.object())
	d.pds[number] = p
	return number, nil
}

// DestroyPD destroys a protection domain that nothing belongs to.
func (d *Device) DestroyPD(ctx context.Context, pd wqe.PD) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	p, err := lookUp(d.pds, "protection domain", pd)
	if err != nil {
		return err
	}
	for w, ah := range d.ways {
		if w.pd == pd && C.ibv_destroy_ah(ah) == 0 {
			delete(d.ways, w)
		}
	}
	if err := returned("ibv_dealloc_pd", C.ibv_dealloc_pd(p)); err != nil {
		return err
	}
	delete(d.pds, pd)
	return nil
}

// RegisterMR registers memory at the address that the consumer chooses, which has pages of its own wherever this process has them.
func (d *Device) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	defer leave()
	p, err := lookUp(d.pds, "protection domain", mr.PD)
	if err != nil {
		return 0, 0, 0, err
	}
	flags, err := accessFlags(mr.Access)
	if err != nil {
		return 0, 0, 0, err
	}
	b, err := d.mem.take(mr.VA, mr.Length)
	if err != nil {
		return 0, 0, 0, err
	}
	base := mr.VA - b.va
	r, err := C.shim_reg_mr(p, unsafe.Pointer(&b.bytes[base]), C.size_t(mr.Length), C.uint64_t(mr.VA), flags)
	if r == nil {
		d.mem.leave(b)
		err = failed(fmt.Sprintf("ibv_reg_mr_iova of %d bytes at %#x", mr.Length, mr.VA), err)
		if errors.Is(err, syscall.ENOMEM) {
			err = fmt.Errorf("%w: a user other than root may lock only so much memory (ulimit -l)", err)
		}
		return 0, 0, 0, err
	}
	id = wqe.MR(d.object())
	x := &memoryRegion{mr: r, region: region{buf: b, base: base, Region: wqe.Region{
		PD: mr.PD, MR: id, VA: mr.VA, Length: mr.Length, LKey: uint32(r.lkey), RKey: uint32(r.rkey), Access: mr.Access,
	}}}
	d.mrs[id] = x
	d.mem.add(&x.region)
	return id, x.LKey, x.RKey, nil
}

// DeregisterMR takes the keys of a region back. Its memory goes with the last region over it.
func (d *Device) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	r, err := lookUp(d.mrs, "memory region", mr)
	if err != nil {
		return err
	}
	if err := returned("ibv_dereg_mr", C.ibv_dereg_mr(r.mr)); err != nil {
		return err
	}
	delete(d.mrs, mr)
	d.mem.remove(&r.region)
	d.mem.leave(r.buf)
	return nil
}

// AllocateMW makes a memory window that is not bound.
func (d *Device) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer leave()
	p, err := lookUp(d.pds, "protection domain", pd)
	if err != nil {
		return 0, 0, err
	}
	kind := uint32(C.IBV_MW_TYPE_1)
	switch windowType {
	case 1:
	case 2:
		kind = C.IBV_MW_TYPE_2
	default:
		return 0, 0, fmt.Errorf("verbs: memory window type %d: give 1 or 2", windowType)
	}
	w, err := C.ibv_alloc_mw(p, kind)
	if w == nil {
		return 0, 0, failed(fmt.Sprintf("ibv_alloc_mw of type %d", windowType), err)
	}
	id = wqe.MW(d.object())
	d.mws[id] = &window{w, windowType}
	return id, uint32(w.rkey), nil
}

// DeallocateMW destroys a memory window, bound or not.
func (d *Device) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	w, err := lookUp(d.mws, "memory window", mw)
	if err != nil {
		return err
	}
	if err := returned("ibv_dealloc_mw", C.ibv_dealloc_mw(w.mw)); err != nil {
		return err
	}
	d.mem.unbind(mw)
	delete(d.mws, mw)
	return nil
}

// SetMemory is the consumer's store into a range.
func (d *Device) SetMemory(ctx context.Context, m wqe.Memory, data []byte) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	b, err := d.mem.open(0, 0, m, 0)
	if err == nil && len(b) < len(data) {
		err = fmt.Errorf("verbs: %d bytes into a range of %d", len(data), len(b))
	}
	if err == nil {
		copy(b, data)
	}
	return err
}

// MemoryData copies what a range holds.
func (d *Device) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	b, err := d.mem.open(0, 0, m, 0)
	return copy(into, b), err
}

// MemoryAccess says whether a queue pair may access a range, by the regions that were registered and the windows whose binding has completed.
func (d *Device) MemoryAccess(ctx context.Context, handle wqe.QP, m wqe.Memory, access wqe.Access) error {
	return d.withQP(ctx, handle, func(q *queuePair) error {
		_, err := d.mem.open(q.PD, handle.QPN, m, access)
		return err
	})
}

// addressHandle says how datagrams reach a port.
type addressHandle struct {
	vector wqe.AddressVector
	pd     wqe.PD
	ah     *C.struct_ibv_ah
}

// way is where datagrams go that name no address handle.
type way struct {
	pd   wqe.PD
	dest wqe.AddressVector
}

// newAH makes an address handle of libibverbs.
func (d *Device) newAH(pd wqe.PD, v *wqe.AddressVector) (*C.struct_ibv_ah, error) {
	p, err := lookUp(d.pds, "protection domain", pd)
	if err != nil {
		return nil, err
	}
	var attr C.struct_ibv_ah_attr
	if err := d.address(&attr, v); err != nil {
		return nil, err
	}
	ah, err := C.ibv_create_ah(p, &attr)
	if ah == nil {
		return nil, failed(fmt.Sprintf("ibv_create_ah to %v", v.Dest), err)
	}
	return ah, nil
}

// CreateAH makes an address handle.
func (d *Device) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error) {
	leave, err := d.use(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	ah, err := d.newAH(pd, &v)
	if err != nil {
		return 0, err
	}
	number := wqe.AH(d.object())
	d.ahs[number] = &addressHandle{v, pd, ah}
	return number, nil
}

// ModifyAH gives an address handle another address vector. As libibverbs has no such verb, another one takes its place.
func (d *Device) ModifyAH(ctx context.Context, number wqe.AH, v wqe.AddressVector) error {
	return d.withAH(ctx, number, func(a *addressHandle) error {
		ah, err := d.newAH(a.pd, &v)
		if err != nil {
			return err
		}
		if err := returned("ibv_destroy_ah", C.ibv_destroy_ah(a.ah)); err != nil {
			C.ibv_destroy_ah(ah)
			return err
		}
		a.ah, a.vector = ah, v
		return nil
	})
}

// QueryAH returns the address vector of an address handle, as it was given: libibverbs does not ask the device.
func (d *Device) QueryAH(ctx context.Context, number wqe.AH) (v wqe.AddressVector, err error) {
	err = d.withAH(ctx, number, func(a *addressHandle) error {
		v = a.vector
		return nil
	})
	return v, err
}

// DestroyAH destroys an address handle.
func (d *Device) DestroyAH(ctx context.Context, number wqe.AH) error {
	return d.withAH(ctx, number, func(a *addressHandle) error {
		if err := returned("ibv_destroy_ah", C.ibv_destroy_ah(a.ah)); err != nil {
			return err
		}
		delete(d.ahs, number)
		return nil
	})
}

// withAH calls f with an address handle.
func (d *Device) withAH(ctx context.Context, number wqe.AH, f func(*addressHandle) error) error {
	leave, err := d.use(ctx)
	if err != nil {
		return err
	}
	defer leave()
	a, err := lookUp(d.ahs, "address handle", number)
	if err != nil {
		return err
	}
	return f(a)
}
