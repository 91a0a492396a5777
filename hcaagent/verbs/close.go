//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Close destroys all that was made, and closes the device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var errs []error
	note := func(verb string, code C.int) {
		if code != 0 {
			errs = append(errs, returned(verb, code))
		}
	}
	// Windows first: rdma_rxe waits in ibv_destroy_qp for those that are bound to the queue pair.
	for _, w := range d.mws {
		note("ibv_dealloc_mw", C.ibv_dealloc_mw(w.mw))
	}
	for _, q := range d.qps {
		for g, m := range q.groups {
			note("ibv_detach_mcast", q.detach(g))
			_ = m.leave()
		}
		note("ibv_destroy_qp", C.ibv_destroy_qp(q.qp))
	}
	for _, a := range d.ahs {
		note("ibv_destroy_ah", C.ibv_destroy_ah(a.ah))
	}
	for _, a := range d.ways {
		note("ibv_destroy_ah", C.ibv_destroy_ah(a))
	}
	for _, r := range d.mrs {
		note("ibv_dereg_mr", C.ibv_dereg_mr(r.mr))
	}
	for _, s := range d.srqs {
		note("ibv_destroy_srq", C.ibv_destroy_srq(s.srq))
	}
	for _, x := range d.xrcds {
		note("ibv_close_xrcd", C.ibv_close_xrcd(x))
	}
	for _, q := range d.cqs {
		note("ibv_destroy_cq", C.ibv_destroy_cq(q.cq))
	}
	for _, p := range d.pds {
		note("ibv_dealloc_pd", C.ibv_dealloc_pd(p))
	}
	if d.wake >= 0 {
		_, _ = unix.Write(d.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		d.waiting.Wait()
		_ = unix.Close(d.wake)
	}
	if d.channel != nil {
		note("ibv_destroy_comp_channel", C.ibv_destroy_comp_channel(d.channel))
	}
	if d.ctx != nil {
		note("ibv_close_device", C.ibv_close_device(d.ctx))
	}
	for _, room := range []unsafe.Pointer{unsafe.Pointer(d.work), unsafe.Pointer(d.sges), unsafe.Pointer(d.done)} {
		C.free(room)
	}
	if len(errs) > 0 { // what is left of the device keeps its memory
		return fmt.Errorf("verbs: %s was not closed as it should be: %w", d.info.Device, errors.Join(errs...))
	}
	for _, b := range d.mem.buffers {
		d.mem.free(b.bytes)
	}
	d.mem.buffers = nil
	return nil
}
