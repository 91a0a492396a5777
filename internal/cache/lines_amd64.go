package cache

import "unsafe"

//go:noescape
func prefetch(at *[room]unsafe.Pointer, n uint)
