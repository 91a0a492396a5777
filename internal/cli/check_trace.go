package cli

import (
	"errors"
	"fmt"
	"os"

	"ibwitness/internal/view/perfetto"
	"ibwitness/internal/view/report"
)

// times reports whether what messages took is measured.
func (c *checkCommand) times() bool {
	return c.Latency || c.All || c.HTML != "" || c.Web || c.Trace != ""
}

// smallCapture is up to how many bytes of captures what messages took is measured for the text report without being asked for: that takes a moment, and tells who waited for whom.
const smallCapture = 64 << 20

// quick reports whether captures are files of no more than smallCapture bytes in all.
func quick(names []string) bool {
	n := int64(0)
	for _, name := range names {
		s, err := os.Stat(name)
		if err != nil || !s.Mode().IsRegular() {
			return false
		}
		n += s.Size()
	}
	return n <= smallCapture
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
