//go:build unix

package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps others from writing the file until it is closed.
func lock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
