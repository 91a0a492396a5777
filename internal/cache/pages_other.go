//go:build !linux

package cache

import "unsafe"

// LargePage is how many bytes a large page has, where there are any.
const LargePage = 2 << 20

// LargePages does nothing here.
func LargePages[T any]([]T) {}

// LargePagesLater does nothing here.
func LargePagesLater([]byte) {}

// LargePagesAt does nothing here.
func LargePagesAt(unsafe.Pointer) {}

// Growth is by how many bytes at least the heap grows.
const Growth = 4 << 20

// LargePagesAhead does nothing here.
func LargePagesAhead(unsafe.Pointer) (pages [Growth/LargePage - 1]uintptr) { return pages }
