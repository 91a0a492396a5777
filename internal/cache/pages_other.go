//go:build !linux

package cache

import "unsafe"

// LargePage is how many bytes a large page has, where there are any.
const LargePage = 2 << 20

// LargePages does nothing here.
func LargePages[T any]([]T) {}

// LargePagesAt does nothing here.
func LargePagesAt(unsafe.Pointer) {}
