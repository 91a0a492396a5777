//go:build !amd64 && !arm64

package cache

func prefetch(*[room]uintptr, uint) {}

func prefetchBytes(*byte, int) {}
