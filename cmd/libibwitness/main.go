// Command libibwitness is the C library of ibwitness: attach/c/ibwitness.h, over package attach. Build it with
//
//	go build -buildmode=c-shared -o libibwitness.so ./cmd/libibwitness
//
// What is exported here is only for attach/c/ibwitness.c, which checks the run that it is given, and hands findings over when nothing of Go is on the stack.
package main

/*
#cgo CFLAGS: -std=c99 -D_GNU_SOURCE -O2
#include <stdlib.h>
#include <string.h>
#include "ibwitness.h"
*/
import "C"

import (
	"errors"
	"io/fs"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"ibwitness/attach"
)

func main() {} // of a library, which -buildmode wants

// runs are those that are open, by the number that C knows them by. The list only grows, and is replaced as a whole, so that it is read without a lock.
var (
	runs  atomic.Pointer[[]*entry]
	grows sync.Mutex
)

type entry struct {
	run     *attach.Run
	last    string     // what was wrong with the last call that failed
	waiting *C.int32_t // of C: how many findings wait
	kept    []unsafe.Pointer
}

func of(n C.uint32_t) *entry { return (*runs.Load())[n] }

func init() {
	runs.Store(new([]*entry))
	debug.SetGCPercent(400) // a run allocates little, and a testbench has its own memory
}

// status is the result of a call: how many errors were found, or what was wrong with it.
func (e *entry) status(n int, err error) C.int {
	*e.waiting = C.int32_t(min(e.run.Waiting(), 1<<30))
	if err == nil {
		return C.int(min(n, 1<<30))
	}
	e.last = err.Error()
	return kind(err)
}

func kind(err error) C.int {
	var file *fs.PathError
	switch {
	case errors.Is(err, attach.ErrEnded):
		return C.IBW_EENDED
	case errors.Is(err, attach.ErrTime):
		return C.IBW_ETIME
	case errors.As(err, &file):
		return C.IBW_EIO
	}
	return C.IBW_EINVAL
}

// bytesOf is memory of C as a slice, which is not kept.
func bytesOf(p unsafe.Pointer, n C.size_t) []byte {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*byte)(p), int(n))
}

//export ibw_go_open
func ibw_go_open(config *C.char, err **C.char, waiting, signals *C.int32_t) C.int64_t {
	var text []byte
	if config != nil {
		text = bytesOf(unsafe.Pointer(config), C.strlen(config))
	}
	r, wrong := attach.Open(text)
	if wrong != nil {
		*err = C.CString(wrong.Error())
		return -1
	}
	grows.Lock()
	defer grows.Unlock()
	old := *runs.Load()
	list := append(append(make([]*entry, 0, len(old)+1), old...), &entry{run: r, waiting: waiting})
	*signals = flag(r.Signals == nil || *r.Signals)
	runs.Store(&list)
	return C.int64_t(len(old))
}

//export ibw_go_error
func ibw_go_error(n C.uint32_t) *C.char { return C.CString(of(n).last) }

//export ibw_go_version
func ibw_go_version() *C.char { return C.CString(version) }

// version is set by the linker.
var version = "devel"

//export ibw_go_add_tap
func ibw_go_add_tap(n C.uint32_t, json *C.char) C.int {
	e := of(n)
	tap, err := e.run.AddTap(bytesOf(unsafe.Pointer(json), C.strlen(json)))
	return e.status(tap, err)
}

//export ibw_go_tap
func ibw_go_tap(n C.uint32_t, name *C.char) C.int {
	e := of(n)
	tap, err := e.run.Tap(C.GoString(name))
	return e.status(tap, err)
}

//export ibw_go_hca
func ibw_go_hca(n C.uint32_t, name *C.char) C.int {
	e := of(n)
	hca, err := e.run.HCA(C.GoString(name))
	return e.status(hca, err)
}

func flag(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}

//export ibw_go_close
func ibw_go_close(n C.uint32_t) C.int {
	e := of(n)
	err := e.run.Close()
	for _, p := range e.kept {
		C.free(p)
	}
	status := e.status(0, err)
	*e = entry{last: e.last} // what the run holds is given up
	return status
}
