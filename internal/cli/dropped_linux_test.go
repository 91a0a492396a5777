package cli

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// lossy is a source that loses frames, now and then some in a row, as a kernel does whose ring is full.
type lossy struct {
	frames  [][]byte
	random  *rand.Rand
	keeps   int // frames between two losses, in the mean; 0: nothing is lost
	drops   int // frames that are lost then
	at      int
	left    int // until the next loss
	number  uint64
	dropped uint64
}

func (s *lossy) Next() (*fabricagent.Batch, error) {
	list := make([]fabricagent.Frame, 0, fabricagent.BatchSize)
	for len(list) < cap(list) && s.at < len(s.frames) {
		if s.keeps > 0 && s.left == 0 {
			n := min(1+s.random.IntN(2*s.drops), len(s.frames)-s.at)
			s.at, s.dropped, s.left = s.at+n, s.dropped+uint64(n), 1+s.random.IntN(2*s.keeps)
			continue
		}
		s.left--
		s.number++
		d := s.frames[s.at]
		list = append(list, fabricagent.Frame{Time: 1_800_000_000e9 + int64(s.at)*10_000, Number: s.number, Link: fabricagent.LinkEthernet, Len: uint32(len(d)), Data: d})
		s.at++
	}
	if len(list) == 0 {
		return nil, io.EOF
	}
	b := fabricagent.NewBatch(list, nil)
	return &b, nil
}

func (s *lossy) Taps() []fabricagent.Tap {
	return []fabricagent.Tap{{Interface: "right", Link: fabricagent.LinkEthernet, Dropped: s.dropped}}
}
func (s *lossy) Progress() (done, total int64) { return 0, 0 }
func (s *lossy) Close() error                  { return nil }

// TestDropped: whatever a live capture loses of the frames that TestLoad replays, nobody is accused of more than in all of them.
func TestDropped(t *testing.T) {
	n := sample.Part(200_000, 8)
	if raced {
		n /= 4
	}
	frames := loads(t, n)
	run := func(s *lossy) map[string]int {
		var list []rule.Finding
		s.frames = frames
		if _, err := agent.Run(context.Background(), s, agent.Options{Watch: &agent.Watch{Found: func(l []rule.Finding) { list = append(list, l...) }}}); err != nil {
			t.Fatal(err)
		}
		return proven(list)
	}
	whole := run(&lossy{})
	for seed := range uint64(sample.Part(3, 3)) {
		for _, c := range [][2]int{{2700, 5000}, {2700, 100}, {500, 200}, {300, 10}, {50, 2}} {
			for k, n := range run(&lossy{random: rand.New(rand.NewPCG(seed, 1)), left: c[0], keeps: c[0], drops: c[1]}) {
				if n > whole[k] {
					t.Errorf("seed %d, %d frames lost of %d: %s", seed, c[1], c[0], k)
				}
			}
		}
	}
}
