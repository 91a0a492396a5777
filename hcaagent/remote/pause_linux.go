package remote

import (
	"time"

	"golang.org/x/sys/unix"
)

// pause waits. The runtime's timers are late by up to a millisecond where nothing else runs.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}
