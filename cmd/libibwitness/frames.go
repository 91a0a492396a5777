package main

/*
#include "ibwitness.h"
*/
import "C"

import (
	"unsafe"

	"ibwitness/packet"
)

//export ibw_go_frame
func ibw_go_frame(n, tap C.uint32_t, way C.int, at C.uint64_t, data unsafe.Pointer, size, wire C.size_t) C.int {
	e := of(n)
	found, err := e.run.Frame(int(tap), packet.Way(way), uint64(at), bytesOf(data, size), int(wire))
	return e.status(found, err)
}

//export ibw_go_bad
func ibw_go_bad(n, tap C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	return e.status(0, e.run.Bad(int(tap), uint64(at)))
}

//export ibw_go_link
func ibw_go_link(n, tap, port C.uint32_t, symbols, ebp C.int, at C.uint64_t, data unsafe.Pointer, size C.size_t) C.int {
	e := of(n)
	found, err := e.run.Link(int(tap), uint8(min(port, 255)), uint8(symbols), ebp != 0, uint64(at), bytesOf(data, size))
	return e.status(found, err)
}

//export ibw_go_advance
func ibw_go_advance(n C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Advance(uint64(at))
	return e.status(found, err)
}

//export ibw_go_lost
func ibw_go_lost(n, tap C.uint32_t, frames C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Lost(int(tap), uint64(frames))
	return e.status(found, err)
}

//export ibw_go_reset
func ibw_go_reset(n, tap C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.Reset(int(tap), uint64(at))
	return e.status(found, err)
}
