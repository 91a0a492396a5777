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
	"ibwitness/packet"
	"ibwitness/rule"
)

var sprintf = fmt.Sprintf

// TestViews: no device is accused, whatever becomes of what was seen of it: clocks of their own, copies, gaps, cut frames, a part of it all.
func TestViews(t *testing.T) {
	n := *runs
	views, bad := 0, 0
	for seed := *first; seed < *first+uint64(n) && bad < *worst; seed++ {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 8)), kinds: pick2(seed), more: seed%2 == 0, taps: []string{"a, middle, b"}}
		text := c.scenario(seed)
		taps, frames, near := record(t, seed, text)
		for k := range uint64(8) {
			c.Rand = rand.New(rand.NewPCG(seed, 1000+k))
			v := newView(c, taps, frames, near)
			v.change()
			views++
			count := len(v.frames)
			res, err := agent.Run(context.Background(), v, agent.Options{Near: v.near, Workers: 1, Profile: c.profile})
			if err != nil {
				t.Fatal(err)
			}
			for i := range res.Findings {
				if f := &res.Findings[i]; f.Class == rule.Violation {
					bad++
					t.Errorf("seed %d view %d (%s; %d frames): %v at frame %d (%v) accuses %v: expected %s, actual %s; %s", seed, k, strings.Join(v.about, ", "), count, f.Rule, f.Frame, f.Evidence, f.Accused.Addr, f.Expected, f.Actual, f.Detail)
					break
				}
			}
		}
	}
	t.Logf("%d views from seed %d", views, *first)
}

func pick2(seed uint64) string {
	if seed%3 == 0 {
		return "drop reorder mark"
	}
	return ""
}

// record runs a scenario and returns what its taps saw.
func record(t *testing.T, seed uint64, text string) (taps []fabricagent.Tap, frames []fabricagent.Frame, near [allTaps]packet.Addr) {
	s, err := Read(fmt.Sprintf("seed%d.yaml", seed), []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	all := &kept{}
	r, err := s.Start(Options{Sinks: []sim.Sink{all}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r.Finish()
	if r.Unfinished() {
		t.Errorf("seed %d: it did not end", seed)
	}
	near[tapA], near[tapB] = s.HCA("a").Addr, s.HCA("b").Addr
	return all.taps, all.frames, near
}

// kept keeps what taps see.
type kept struct {
	taps   []fabricagent.Tap
	frames []fabricagent.Frame
}

func (k *kept) Tap(t fabricagent.Tap) (uint16, error) {
	k.taps = append(k.taps, t)
	return uint16(len(k.taps) - 1), nil
}

func (k *kept) Frame(f *fabricagent.Frame, _ string) { k.frames = append(k.frames, *f) }
