//go:build !linux

package agent

import "unsafe"

const largePage = 2 << 20

func largePages[T any]([]T) {}

func largePagesAt(unsafe.Pointer) {}
