//go:build unix

package cli

import (
	"context"
	"os"
	"slices"
	"syscall"
	"time"
)

// drain is how long what still comes from a pipe is read after an interrupt. Ctrl-C goes to its writer too, and tcpdump writes then what it has not yet.
const drain = time.Second

// interruptible makes reads of a pipe on standard input end after an interrupt: at its end, or after drain, however long the writer stays silent. It returns
// the context of the reads, and what puts standard input back as it was.
func interruptible(ctx context.Context, files []string) (reading context.Context, restore func()) {
	st, err := os.Stdin.Stat()
	if err != nil || !slices.Contains(files, "-") || st.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return ctx, func() {}
	}
	fd := int(os.Stdin.Fd())
	if syscall.SetNonblock(fd, true) != nil {
		return ctx, func() {}
	}
	blocking := os.Stdin
	pipe := os.NewFile(uintptr(fd), blocking.Name())
	os.Stdin = pipe
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = pipe.SetReadDeadline(time.Now().Add(drain))
		time.AfterFunc(drain, cancel)
	})
	return reading, func() {
		stop()
		cancel()
		os.Stdin = blocking
		_ = syscall.SetNonblock(fd, false)
	}
}
