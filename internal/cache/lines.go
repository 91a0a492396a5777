// Package cache has the processor fetch from memory what is going to be needed, while it does something else.
package cache

import "unsafe"

// Lines are places in memory that will be needed, up to 512; what is more overwrites the oldest. The zero value is ready.
type Lines struct {
	n  uint
	at [room]uintptr // what they refer to may be gone by then, which does no harm
}

const room = 512

// Add notes a place.
func (l *Lines) Add(p unsafe.Pointer) {
	l.at[l.n%room] = uintptr(p)
	l.n++
}

// Fetch asks for the lines of the cache that hold the places, and forgets them. It waits for none: many are on their way at the same time.
func (l *Lines) Fetch() {
	prefetch(&l.at, min(l.n, room))
	l.n = 0
}

// FetchBytes asks for the lines of the cache that hold b.
func FetchBytes(b []byte) { prefetchBytes(unsafe.SliceData(b), len(b)) }
