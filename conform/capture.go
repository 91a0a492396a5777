package conform

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ibwitness/fabricagent"
)

// WriteCapture writes the frames of a run as a pcapng. What shows a failure has a comment that says which.
func (r *Result) WriteCapture(w io.Writer) error {
	out := fabricagent.NewWriter(w, "ibwitness")
	for i := range max(1, len(r.Taps)) {
		name := "device"
		if i < len(r.Taps) {
			name = r.Taps[i]
		}
		if _, err := out.AddTap(fabricagent.Tap{Interface: name, Link: r.Link}); err != nil {
			return fmt.Errorf("conform: %w", err)
		}
	}
	for i := range r.Frames {
		f := &r.Frames[i]
		if err := out.Write(f, r.comment(f.Number)); err != nil {
			return fmt.Errorf("conform: %w", err)
		}
	}
	return out.Flush()
}

// comment says which assertions fail by a frame.
func (r *Result) comment(frame uint64) string {
	var list []string
	for i := range r.Judgements {
		if j := &r.Judgements[i]; j.Outcome == Fail && slices.Contains(j.Frames, frame) {
			list = append(list, fmt.Sprintf("%s %s fails: expected %s, actual %s", r.Test.ID, j.ID, j.Expected, j.Actual))
		}
	}
	return strings.Join(list, "\n")
}
