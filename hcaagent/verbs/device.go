//go:build verbs && cgo && linux

package verbs

// #cgo LDFLAGS: -libverbs
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Device is a channel adapter, with one of its ports. It is safe for concurrent use.
type Device struct {
	ctx     *C.struct_ibv_context
	channel *C.struct_ibv_comp_channel // of all completion queues
	port    uint8
	roce    bool
	info    remote.Info
	limits  qp.Limits
	gids    []gid
	told    func(*cq.Event)
	wake    int // an eventfd that ends the wait for events
	waiting sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   uint32 // number of the last object
	mem    memory

	pds   map[wqe.PD]*C.struct_ibv_pd
	cqs   map[wqe.CQ]*completionQueue
	srqs  map[wqe.SRQ]*sharedQueue
	xrcds map[wqe.XRCD]*C.struct_ibv_xrcd
	qps   map[uint32]*queuePair
	mrs   map[wqe.MR]*memoryRegion
	mws   map[wqe.MW]*window
	ahs   map[wqe.AH]*addressHandle
	ways  map[way]*C.struct_ibv_ah // of datagrams that name no address handle

	work *C.struct_ibv_send_wr // room for a request
	sges *C.struct_ibv_sge     // and for its data segments
	done *C.struct_ibv_wc      // room for completions
}

// Sizes of that room.
const (
	mostSegments = 1024
	mostDone     = 64
)

var _ remote.Device = (*Device)(nil)

// failed makes an error of what a verb of libibverbs has returned, and gives it its kind.
func failed(verb string, errno error) error {
	e, _ := errno.(syscall.Errno)
	switch e {
	case syscall.EBUSY:
		return fmt.Errorf("verbs: %s: %w", verb, hcaagent.ErrBusy)
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EPROTONOSUPPORT:
		return fmt.Errorf("verbs: %s: the driver of the device: %w", verb, errors.ErrUnsupported)
	case 0:
		return fmt.Errorf("verbs: %s failed", verb)
	}
	return fmt.Errorf("verbs: %s: %w", verb, errno)
}

// returned is the error of a verb that returns an errno.
func returned(verb string, code C.int) error {
	switch {
	case code == 0:
		return nil
	case code < 0:
		code = -code
	}
	return failed(verb, syscall.Errno(code))
}

// notFound says which object there is none of.
func notFound(what string, number uint32) error {
	return fmt.Errorf("verbs: %s %#x: %w", what, number, hcaagent.ErrNotFound)
}

// lookUp returns the object with a number.
func lookUp[K ~uint32, V any](objects map[K]*V, what string, number K) (*V, error) {
	if v := objects[number]; v != nil {
		return v, nil
	}
	return nil, notFound(what, uint32(number))
}

// List returns the names of the devices of this machine.
func List() ([]string, error) {
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil {
		if err == syscall.ENOSYS { // the kernel has no RDMA
			return nil, nil
		}
		return nil, failed("ibv_get_device_list", err)
	}
	defer C.ibv_free_device_list(list)
	var names []string
	for _, d := range unsafe.Slice(list, int(n)) {
		names = append(names, C.GoString(C.ibv_get_device_name(d)))
	}
	return names, nil
}

// Open opens a device by its name, at port 1 or at that of "NAME/PORT". told, where not nil, takes its events.
func Open(name string, told func(*cq.Event)) (remote.Device, error) {
	port := uint8(1)
	if device, number, ok := strings.Cut(name, "/"); ok {
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("verbs: %s: give the port as %s/1", name, device)
		}
		name, port = device, uint8(n)
	}
	if told == nil {
		told = func(*cq.Event) {}
	}
	d := &Device{
		port: port, told: told, wake: -1,
		pds: map[wqe.PD]*C.struct_ibv_pd{}, cqs: map[wqe.CQ]*completionQueue{}, srqs: map[wqe.SRQ]*sharedQueue{}, xrcds: map[wqe.XRCD]*C.struct_ibv_xrcd{},
		qps: map[uint32]*queuePair{}, mrs: map[wqe.MR]*memoryRegion{}, mws: map[wqe.MW]*window{}, ahs: map[wqe.AH]*addressHandle{}, ways: map[way]*C.struct_ibv_ah{},
	}
	d.mem = memory{
		regions: map[key]*region{},
		allocate: func(n uint64) ([]byte, error) {
			return unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		},
		free: func(b []byte) { _ = unix.Munmap(b) },
	}
	if err := d.open(name); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open opens the device and reads what it can do.
func (d *Device) open(name string) (err error) {
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil && err != syscall.ENOSYS {
		return failed("ibv_get_device_list", err)
	}
	if list != nil {
		defer C.ibv_free_device_list(list)
	}
	for _, x := range unsafe.Slice(list, int(n)) {
		if C.GoString(C.ibv_get_device_name(x)) != name {
			continue
		}
		if d.ctx, err = C.ibv_open_device(x); d.ctx == nil {
			return failed("ibv_open_device "+name, err)
		}
	}
	if d.ctx == nil {
		return fmt.Errorf("verbs: this machine has no device %s: ibwitness dut --list lists those it has", name)
	}
	d.work = (*C.struct_ibv_send_wr)(C.calloc(1, C.sizeof_struct_ibv_send_wr))
	d.sges = (*C.struct_ibv_sge)(C.calloc(mostSegments, C.sizeof_struct_ibv_sge))
	d.done = (*C.struct_ibv_wc)(C.calloc(mostDone, C.sizeof_struct_ibv_wc))
	if d.channel, err = C.ibv_create_comp_channel(d.ctx); d.channel == nil {
		return failed("ibv_create_comp_channel", err)
	}
	if err := d.describe(name); err != nil {
		return err
	}
	if d.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	for _, fd := range []int{int(d.ctx.async_fd), int(d.channel.fd)} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
	}
	d.waiting.Go(d.events)
	return nil
}

// use begins a call of a verb: the device is the caller's until it calls what is returned.
func (d *Device) use(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil, errors.New("verbs: the device was closed")
	}
	return d.mu.Unlock, nil
}

// object returns a number for a new object.
func (d *Device) object() uint32 {
	d.last++
	return d.last
}

// Info describes the device.
func (d *Device) Info() remote.Info { return d.info }

// Limits are the attributes of the device that bound those of its queue pairs.
func (d *Device) Limits() qp.Limits { return d.limits }

// Addr is the address that its queue pairs are named by.
func (d *Device) addr() packet.Addr { return d.info.Addr }
