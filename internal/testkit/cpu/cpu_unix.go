//go:build unix

// Package cpu measures processor time, for benchmarks.
package cpu

import "syscall"

// Time is the processor time of the process so far, in nanoseconds: on a machine that has other work, it tells more than the clock.
func Time() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return syscall.TimevalToNsec(u.Utime) + syscall.TimevalToNsec(u.Stime)
}
