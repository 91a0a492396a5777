package cache

//go:noescape
func prefetch(at *[room]uintptr, n uint)

//go:noescape
func prefetchBytes(p *byte, n int)
