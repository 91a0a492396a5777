package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"ibwitness/internal/view/report"
)

// grace is how long the program may take to end after a SIGTERM. An output that takes nothing, as a pipe that nobody reads, would hold it for good.
const grace = 5 * time.Second

// until returns a context that the first SIGINT or SIGTERM ends, or another signal like this one; a second one ends the process at once, and so does time where
// the first is no SIGINT.
func (s *session) until(others ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	others = slices.DeleteFunc(others, signal.Ignored) // as nohup has SIGHUP
	signal.Notify(signals, append(others, os.Interrupt, syscall.SIGTERM)...)
	go func() {
		select {
		case <-done:
			return
		case got := <-signals:
			signal.Stop(signals)
			cancel()
			if got == os.Interrupt {
				return
			}
		}
		select {
		case <-done:
		case <-time.After(grace):
			go s.log.Error().Msgf("ended after %v: an output takes nothing", grace)
			time.Sleep(grace / 10) // standard error may be that output
			os.Exit(report.ExitUnjudged)
		}
	}()
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel()
	})
}
