//go:build unix

package guard

import "golang.org/x/sys/unix"

// descriptors is how many the process may have.
func descriptors() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return mostClients + spare
	}
	return uint64(l.Cur)
}
