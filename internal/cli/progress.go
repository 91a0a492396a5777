package cli

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"ibwitness/conform"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
)

// progress shows on a terminal how far a long input has been read. update and clear are called by one goroutine at a time.
type progress struct {
	src   fabricagent.Source
	start time.Time
	bar   *progressbar.ProgressBar // nil where nobody would see it
	shown bool
}

// patience is how long a run may take before progress is worth showing.
const patience = time.Second

func newProgress(s *session, src fabricagent.Source, quiet bool) *progress {
	p := &progress{src: src, start: time.Now()}
	if !quiet && s.errTerminal {
		_, total := src.Progress()
		p.bar = newBar(s, total)
	}
	return p
}

func (p *progress) update(packets uint64) {
	if p.bar == nil || time.Since(p.start) < patience {
		return
	}
	p.shown = true
	done, total := p.src.Progress()
	rate := float64(packets) / time.Since(p.start).Seconds()
	p.bar.Describe(fmt.Sprintf("%s frames, %s/s", short(float64(packets)), short(rate)))
	if total > 0 {
		done = min(done, total-1) // a full bar would finish before the verifiers do
	}
	_ = p.bar.Set64(done)
}

// newBar makes a bar of bytes, with their rate and, where the size of the input is known, the time that remains.
func newBar(s *session, total int64) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(s.stderr), progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true),
	)
}

// testsProgress shows on a terminal how many of so many tests are done. Elsewhere it writes a line for each as it ends, which is left where the run does not come to its end.
func testsProgress(s *session, total int) (done func(*conform.Result), clear func()) {
	if !s.errTerminal {
		return func(r *conform.Result) { fmt.Fprintln(s.stderr, report.ConformLine(r)) }, func() {}
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(s.stderr), progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetWidth(20), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true),
	)
	return func(r *conform.Result) {
		bar.Describe(fmt.Sprintf("%s %v", r.Test.ID, r.Outcome))
		_ = bar.Add(1)
	}, func() { _ = bar.Clear() }
}

// clear takes the bar off the terminal.
func (p *progress) clear() {
	if p.shown {
		_ = p.bar.Clear()
	}
}

// short writes 12345678 as 12.3 M.
func short(f float64) string {
	switch {
	case f >= 1e9:
		return fmt.Sprintf("%.1f G", f/1e9)
	case f >= 1e6:
		return fmt.Sprintf("%.1f M", f/1e6)
	case f >= 1e4:
		return fmt.Sprintf("%.1f k", f/1e3)
	}
	return fmt.Sprintf("%.0f", f)
}
