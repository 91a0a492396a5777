//go:build verbs && cgo && linux

package verbs

// #include "shim.h"
import "C"

import (
	"time"

	"golang.org/x/sys/unix"

	"ibwitness/cq"
	"ibwitness/wqe"
)

// asyncs are the asynchronous events of the specification, as libibverbs numbers them.
var asyncs = map[C.int]cq.Async{
	C.IBV_EVENT_CQ_ERR:              cq.AsyncCQError,
	C.IBV_EVENT_QP_FATAL:            cq.AsyncQPFatal,
	C.IBV_EVENT_QP_REQ_ERR:          cq.AsyncQPRequest,
	C.IBV_EVENT_QP_ACCESS_ERR:       cq.AsyncQPAccess,
	C.IBV_EVENT_COMM_EST:            cq.AsyncCommEstablished,
	C.IBV_EVENT_SQ_DRAINED:          cq.AsyncSQDrained,
	C.IBV_EVENT_PATH_MIG:            cq.AsyncPathMigrated,
	C.IBV_EVENT_QP_LAST_WQE_REACHED: cq.AsyncLastWQE,
	C.IBV_EVENT_SRQ_LIMIT_REACHED:   cq.AsyncSRQLimit,
}

// events tells of events until the device is closed.
func (d *Device) events() {
	fds := []unix.PollFd{
		{Fd: int32(d.ctx.async_fd), Events: unix.POLLIN}, {Fd: int32(d.channel.fd), Events: unix.POLLIN}, {Fd: int32(d.wake), Events: unix.POLLIN},
	}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
		if fds[2].Revents != 0 {
			return
		}
		for {
			var number C.uint32_t
			kind := C.shim_get_async_event(d.ctx, &number)
			if kind < 0 {
				break
			}
			d.async(kind, uint32(number))
		}
		for {
			number := C.shim_get_cq_event(d.channel)
			if number == 0 {
				break
			}
			d.tell(&cq.Event{Kind: cq.EvNotify, CQ: wqe.CQ(number)})
		}
	}
}

// async tells of an asynchronous event. Those of the port are not told: no cq.Event has them.
func (d *Device) async(kind C.int, number uint32) {
	if kind == C.IBV_EVENT_DEVICE_FATAL {
		d.tell(&cq.Event{Kind: cq.EvReset})
		return
	}
	what, ok := asyncs[kind]
	if !ok {
		return
	}
	e := &cq.Event{Kind: cq.EvAsync, Async: what}
	switch what {
	case cq.AsyncCQError:
		e.CQ = wqe.CQ(number)
	case cq.AsyncSRQLimit:
		e.SRQ = wqe.SRQ(number)
	default:
		e.QP.QPN = number
	}
	d.tell(e)
}

func (d *Device) tell(e *cq.Event) {
	e.Time, e.QP.Addr = time.Now().UnixNano(), d.addr()
	d.told(e)
}
