//go:build !amd64 && !arm64

package cache

import "unsafe"

func prefetch(*[room]unsafe.Pointer, uint) {}

func prefetchBytes(*byte, int) {}
