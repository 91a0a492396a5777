//go:build unix

package cli

import (
	"context"
	"os"
	"slices"
	"syscall"
	"time"
)

// interruptible makes reads of a pipe on standard input end when the user interrupts: what was read so far is then judged, however
// long the writer stays silent. The function that it returns puts standard input back as it was.
func interruptible(ctx context.Context, files []string) func() {
	st, err := os.Stdin.Stat()
	if err != nil || !slices.Contains(files, "-") || st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return func() {}
	}
	fd := int(os.Stdin.Fd())
	if syscall.SetNonblock(fd, true) != nil {
		return func() {}
	}
	blocking := os.Stdin
	os.Stdin = os.NewFile(uintptr(fd), blocking.Name())
	reading := os.Stdin
	stop := context.AfterFunc(ctx, func() { _ = reading.SetReadDeadline(time.Now()) })
	return func() {
		stop()
		os.Stdin = blocking
		_ = syscall.SetNonblock(fd, false)
	}
}
