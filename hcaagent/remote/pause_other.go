//go:build !linux

package remote

import "time"

// pause waits.
func pause(d time.Duration) { time.Sleep(d) }
