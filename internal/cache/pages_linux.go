package cache

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// LargePage is how many bytes a large page has.
const LargePage = 2 << 20

// LargePages asks the system to put a large slice on large pages: with as many connections as that, most of what a packet needs is in
// pages that the processor does not remember, and finding each costs as much as reading it. It is but a hint, and rounds to whole
// pages: what else is there is not harmed.
func LargePages[T any](s []T) {
	n := uintptr(len(s)) * unsafe.Sizeof(s[0])
	if n < LargePage {
		return
	}
	start := uintptr(unsafe.Pointer(&s[0]))
	first := start &^ (LargePage - 1)
	gather(first, (start+n+LargePage-1)&^(LargePage-1)-first)
}

// LargePagesAt does so for what is around a place, for objects that are allocated one by one.
func LargePagesAt(p unsafe.Pointer) { gather(uintptr(p)&^(LargePage-1), LargePage) }

// gather has the system also move at once what was written there already.
func gather(first, n uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, n, unix.MADV_HUGEPAGE)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, n, unix.MADV_COLLAPSE)
}
