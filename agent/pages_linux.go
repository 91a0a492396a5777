package agent

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const largePage = 2 << 20

// largePages asks the system to put a large slice that has not been written to on large pages: with as many connections as that, most
// of what a packet needs is in pages that the processor does not remember, and finding each costs as much as reading it. It is but
// a hint, and rounds to whole pages: what else is there is not harmed.
func largePages[T any](s []T) {
	n := uintptr(len(s)) * unsafe.Sizeof(s[0])
	if n < largePage {
		return
	}
	start := uintptr(unsafe.Pointer(&s[0]))
	first := start &^ (largePage - 1)
	end := (start + n + largePage - 1) &^ (largePage - 1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_HUGEPAGE)
}

// largePagesAt does so for what stands around a place, and has the system gather at once what was written there already: for objects
// that are allocated one by one.
func largePagesAt(p unsafe.Pointer) {
	first := uintptr(p) &^ (largePage - 1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, largePage, unix.MADV_HUGEPAGE)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, largePage, unix.MADV_COLLAPSE)
}
