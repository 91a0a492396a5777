package agent_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/rule"
)

// TestClockSteps: a frame that is stamped before the others takes back every proof that rests on time, whatever the number of workers; disorder of a
// few milliseconds does not.
func TestClockSteps(t *testing.T) {
	const file = "../testdata/captures/rnr_retry_exceeded.pcap"
	for _, c := range []struct {
		name   string
		step   func(newest int64) int64 // what the last frame is stamped
		proven bool
	}{
		{"in order", func(newest int64) int64 { return newest }, true},
		{"5 ms back", func(newest int64) int64 { return newest - 5e6 }, true},
		{"a second back", func(newest int64) int64 { return newest - 1e9 }, false},
		{"in 1970", func(int64) int64 { return 1e12 }, false},
		{"two days ahead", func(newest int64) int64 { return newest + int64(48*time.Hour) }, false},
	} {
		for _, workers := range []int{1, 3} {
			src, err := fabricagent.Open([]string{file})
			if err != nil {
				t.Fatal(err)
			}
			var copied bytes.Buffer
			w := fabricagent.NewWriter(&copied, "test")
			if _, err := w.AddTap(src.Taps()[0]); err != nil {
				t.Fatal(err)
			}
			b, _ := src.Next()
			for i := range b.Frames {
				f := b.Frames[i]
				if i == len(b.Frames)-1 {
					f.Time = c.step(b.Frames[i-1].Time)
				}
				if err := w.Write(&f); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			src.Close()
			again, err := fabricagent.OpenReader("test", &copied)
			if err != nil {
				t.Fatal(err)
			}
			r, err := agent.Run(context.Background(), again, agent.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			proven, open := 0, 0
			for i := range r.Findings {
				switch f := &r.Findings[i]; {
				case f.Rule != rule.RCRSP043:
				case f.Class == rule.Violation:
					proven++
				default:
					open++
				}
			}
			if (proven > 0) != c.proven || (open > 0) == c.proven || (r.Clock.Count > 0) == c.proven {
				t.Errorf("%s, %d workers: RC-RSP-043 %d times proven, %d times not; %+v", c.name, workers, proven, open, r.Clock)
			}
			if d := r.Disorder; (d.Count == 1 && d.Most == 5*time.Millisecond && d.Frame > 0) != (c.name == "5 ms back") || d.Count > 1 {
				t.Errorf("%s, %d workers: %+v", c.name, workers, d)
			}
		}
	}
}
