package cache

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// LargePage is how many bytes a large page has.
const LargePage = 2 << 20

// Growth is by how many bytes at least the heap grows, and a multiple of which it begins at.
const Growth = 4 << 20

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

// LargePagesLater asks for large pages, for what will be written where a large slice is that nothing was written to.
func LargePagesLater(b []byte) {
	first := (uintptr(unsafe.Pointer(&b[0])) + LargePage - 1) &^ (LargePage - 1)
	if end := uintptr(unsafe.Pointer(&b[0])) + uintptr(len(b)); end >= first+LargePage {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, (end-first)&^(LargePage-1), unix.MADV_HUGEPAGE)
	}
}

// LargePagesAt does so for what is around a place, for objects that are allocated one by one.
func LargePagesAt(p unsafe.Pointer) { gather(uintptr(p)&^(LargePage-1), LargePage) }

// LargePagesAhead asks for large pages, for what will be written, around a place that the heap has grown to, and returns the numbers of those
// after it, that were not written yet as the heap fills from its beginning on; 0: none.
func LargePagesAhead(p unsafe.Pointer) (pages [Growth/LargePage - 1]uintptr) {
	first := uintptr(p) &^ (Growth - 1)
	if _, _, err := unix.Syscall(unix.SYS_MADVISE, first, Growth, unix.MADV_HUGEPAGE); err != 0 {
		return pages
	}
	for i := range pages {
		if page := first/LargePage + uintptr(i) + 1; page > uintptr(p)/LargePage {
			pages[i] = page
		}
	}
	return pages
}

// gather has the system also move at once what was written there already.
func gather(first, n uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, n, unix.MADV_HUGEPAGE)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, n, unix.MADV_COLLAPSE)
}
