package cli

import (
	"errors"
	"fmt"
	"math"
	"os"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/perfetto"
	"ibwitness/internal/view/report"
)

// times reports whether what messages took is measured.
func (c *checkCommand) times() bool {
	return c.Latency || c.All || c.HTML != "" || c.Web || c.Trace != ""
}

// Up to how many bytes, and about how many frames, of captures what messages took is measured without being asked for, for what happened: that takes a moment, and tells who waited for whom, and which sizes of packets were answered.
const (
	smallCapture = 64 << 20
	fewFrames    = 1 << 19
)

// quick reports whether captures are files of no more than smallCapture bytes, or have no more than fewFrames frames, in all.
func quick(names []string) bool {
	n := int64(0)
	for _, name := range names {
		s, err := os.Stat(name)
		if err != nil || !s.Mode().IsRegular() {
			return false
		}
		n += s.Size()
	}
	return n <= smallCapture || frames(names) <= fewFrames
}

// frames is about how many frames files have: by how many are at the beginning of the first. It reads on for some batches, as more is read of a file at a time than a batch has.
func frames(names []string) int64 {
	src, err := fabricagent.Open(names)
	if err != nil {
		return math.MaxInt64 // which is told when they are read
	}
	defer src.Close()
	n := int64(0)
	for n < fewFrames/32 {
		b, err := src.Next()
		if err != nil || len(b.Frames) == 0 {
			break
		}
		n += int64(len(b.Frames))
	}
	done, total := src.Progress()
	if n == 0 || done <= 0 {
		return math.MaxInt64
	}
	return total / max(done/n, 1)
}

// kept is how many messages are kept.
func (c *checkCommand) kept() int {
	if c.Trace == "" {
		return 0
	}
	return c.Messages
}

// writeTrace writes the trace, if one is asked for.
func (c *checkCommand) writeTrace(s *session, run *report.Run) error {
	if c.Trace == "" {
		return nil
	}
	f, err := os.Create(c.Trace)
	if err != nil {
		return fmt.Errorf("cli: --trace: %w: give a file that can be written", err)
	}
	if n := run.Result.MessagesDropped; n > 0 {
		s.log.Warn().Msgf("%s has the first messages; %d that began after them are left out: see --trace-messages", c.Trace, n)
	}
	return errors.Join(perfetto.Write(f, run), f.Close())
}
