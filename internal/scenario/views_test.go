package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/sim"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/view"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// viewed are seeds of runs of which a view once had somebody accused.
var viewed = []uint64{228, 433, 489, 552, 734, 834, 984, 1612, 1665, 2316, 2568, 2871}

// TestViews: no device is accused, whatever a capture makes of what there was to see: several taps in one file with clocks of their own, frames that
// it has twice, loses, cuts or wraps, the directions recorded apart, a part of it all.
func TestViews(t *testing.T) {
	seeds := viewed
	for seed := *first; seed < *first+uint64(sample.Part(*runs, 10)/4); seed++ {
		seeds = append(seeds, seed)
	}
	views, bad := 0, 0
	for _, seed := range seeds {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 8)), more: seed%2 == 0, taps: []string{"a, middle, b"}}
		if seed%3 == 0 {
			c.kinds = "drop reorder mark"
		}
		run := record(t, fmt.Sprintf("seed%d.yaml", seed), c.scenario(seed))
		for k := range uint64(8) {
			c.Rand = rand.New(rand.NewPCG(seed, 1000+k))
			v := newView(c, run)
			disturb(v)
			views++
			if f := accusation(t, v, c.profile); f != nil {
				bad++
				t.Errorf("seed %d, view %d (%s): %v at frame %d (evidence %v) accuses %v: expected %s, actual %s; %s",
					seed, k, strings.Join(v.About, ", "), f.Rule, f.Frame, f.Evidence, f.Accused.Addr, f.Expected, f.Actual, f.Detail)
			}
		}
		if bad > 10 {
			break
		}
	}
	t.Logf("%d views", views)
}

// accusation is the first violation that is found in a view; nil: there is none.
func accusation(t *testing.T, v *view.View, profile verifier.Profile) *rule.Finding {
	res, err := agent.Run(context.Background(), v.Source(), agent.Options{Near: v.Near, Workers: 1, Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Class == rule.Violation {
			return f
		}
	}
	return nil
}

// recording is what the taps of a run have seen.
type recording struct {
	taps   []fabricagent.Tap
	frames []fabricagent.Frame
	near   [allTaps]packet.Addr // the ends that they are near, if any
}

// record runs a scenario with all the taps.
func record(t *testing.T, name, text string) *recording {
	s, err := Read(name, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rec := &recording{}
	r, err := s.Start(Options{Sinks: []sim.Sink{rec}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if r.Finish(); r.Unfinished() {
		t.Errorf("%s did not end", name)
	}
	rec.near[tapA], rec.near[tapB] = s.HCA("a").Addr, s.HCA("b").Addr
	return rec
}

// Tap notes a tap.
func (r *recording) Tap(t fabricagent.Tap) (uint16, error) {
	r.taps = append(r.taps, t)
	return uint16(len(r.taps) - 1), nil
}

// Frame notes a frame.
func (r *recording) Frame(f *fabricagent.Frame, _ string) { r.frames = append(r.frames, *f) }
