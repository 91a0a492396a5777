//go:build !linux

package agent

func largePages[T any]([]T) {}
