package cache

import "unsafe"

//go:noescape
func prefetch(at *[room]unsafe.Pointer, n uint)

//go:noescape
func prefetchBytes(p *byte, n int)
