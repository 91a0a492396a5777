package agent

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

// inOrder are findings by frame, whenever they were made; what a whole capture says of checksums is left out.
func inOrder(list []rule.Finding) (out []rule.Finding) {
	for _, f := range list {
		if !slices.ContainsFunc(checksums, func(k checksum) bool { return slices.Contains(k.rules, f.Rule) }) {
			f.Seq = 0
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b rule.Finding) int {
		return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Expected, b.Expected))
	})
	return out
}

// TestWatchAgrees: what is told while a run goes on is what is told at its end, and nothing of it is kept.
func TestWatchAgrees(t *testing.T) {
	captured(t, func(t *testing.T, open func() fabricagent.Source) {
		src := open()
		want, err := Run(context.Background(), src, Options{Workers: 1})
		src.Close()
		if err != nil {
			t.Log(err)
		}
		for _, workers := range []int{1, 3} {
			var got []rule.Finding
			var last Status
			ticks := 0
			src = open()
			r, _ := Run(context.Background(), src, Options{Workers: workers, Watch: &Watch{
				Every: time.Millisecond, Idle: 1 << 62,
				Found:  func(list []rule.Finding) { got = append(got, list...) },
				Status: func(s *Status) { last, ticks = *s, ticks+1 },
			}})
			src.Close()
			got = slices.DeleteFunc(got, func(f rule.Finding) bool { return holdsNot(want.Numbered, &f) }) // what a whole capture says of them
			if d := diff.Diff(inOrder(want.Findings), inOrder(got)); d != "" {
				t.Errorf("at the end (-), %d ticks (+):\n%s", ticks, d)
			}
			if len(r.Findings) > 0 || last.Packets != want.Packets || last.RDMA != want.RDMA || last.Repeated != want.Repeated || last.Undecoded != want.Undecoded {
				t.Errorf("%d findings are kept, %+v", len(r.Findings), last)
			}
			if d := diff.Diff(r.Connections, want.Connections); d != "" {
				t.Error(d)
			}
			n := uint64(0)
			for _, k := range last.Traffic.Packets {
				n += k
			}
			if n > want.RDMA || n < want.RDMA-want.Undecoded {
				t.Errorf("%d packets of %d by opcode", n, want.RDMA)
			}
			for id := range last.Cover {
				if n, m := last.Cover[id], want.Cover[id]; n.Exercised != m.Exercised {
					t.Errorf("%v is exercised %d times, not %d", rule.ID(id), n.Exercised, m.Exercised)
				}
			}
		}
	})
}

// TestWatchMade: findings are handed out when they are made, before they are told.
func TestWatchMade(t *testing.T) {
	shape := traffic.Small(64)
	shape.Faults = 200
	raw := traffic.Capture(shape, 60_000)
	for _, workers := range []int{1, 3} {
		src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		type key struct {
			rule  rule.ID
			frame uint64
		}
		var mu sync.Mutex
		made := map[key]int{}
		told, late, twice := 0, 0, 0
		_, err = Run(context.Background(), src, Options{Workers: workers, Watch: &Watch{
			Every: time.Millisecond, Settle: time.Millisecond, Idle: 1 << 62,
			Made: func(list []rule.Finding) {
				mu.Lock()
				defer mu.Unlock()
				for _, f := range list {
					made[key{f.Rule, f.Frame}]++
				}
			},
			Found: func(list []rule.Finding) {
				mu.Lock()
				defer mu.Unlock()
				for _, f := range list {
					told++
					switch made[key{f.Rule, f.Frame}] {
					case 0:
						late++
					case 1:
					default:
						twice++
					}
				}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if told < 200 || late > told/20 || twice > told/20 {
			t.Errorf("%d workers: of %d findings %d were not made before, %d twice", workers, told, late, twice)
		}
	}
}

// churning is a source of connections that come and go: round after round of traffic, each between hosts of its own.
type churning struct {
	rounds, packets int
	shape           traffic.Shape
	round, n        int
	g               *traffic.Generator
	now             int64
	frames          uint64
	dropAt          int // the round before which the capture drops frames; 0: none
	dropped         uint64
}

func (s *churning) Next() (*fabricagent.Batch, error) {
	if s.round == s.rounds {
		return nil, io.EOF
	}
	if s.n == 0 {
		s.shape.Seed++
		s.g = traffic.New(s.shape)
	}
	if s.dropAt > 0 && s.round == s.dropAt && s.n > s.packets/2 && s.dropped == 0 {
		s.dropped = 7
		for range s.dropped {
			var p packet.Packet
			s.g.Next(&p)
		}
	}
	frames := make([]fabricagent.Frame, 0, fabricagent.BatchSize)
	for len(frames) < cap(frames) {
		var p packet.Packet
		src, dst := s.g.Next(&p)
		p.Src.Lo += uint64(s.round%200) << 16
		p.Dst.Lo += uint64(s.round%200) << 16
		p.Complete()
		b := p.AppendEthernet(nil, src, dst)
		s.now += 1000
		s.frames++
		frames = append(frames, fabricagent.Frame{Time: 1e18 + s.now, Number: s.frames, Link: fabricagent.LinkEthernet, Len: uint32(len(b)), Data: b})
	}
	if s.n += len(frames); s.n >= s.packets {
		s.n = 0
		s.round++
		s.now += int64(time.Second)
	}
	b := fabricagent.NewBatch(frames, nil)
	return &b, nil
}

func (s *churning) Taps() []fabricagent.Tap {
	return []fabricagent.Tap{{Link: fabricagent.LinkEthernet, Dropped: s.dropped}}
}
func (s *churning) Progress() (done, total int64) { return 0, 0 }
func (s *churning) Close() error                  { return nil }

// TestWatchForgets: of connections that come and go, only those that go on are kept, however many there were, and nobody is accused.
func TestWatchForgets(t *testing.T) {
	for i, c := range []struct {
		name    string
		watch   Watch
		short   func() bool
		most    int
		workers int
	}{
		{"idle", Watch{Idle: 4 * time.Second}, nil, 1000, 1},
		{"idle, two workers", Watch{Idle: 4 * time.Second}, nil, 1000, 2},
		{"too many", Watch{Most: 300}, nil, 520, 1},
		{"memory is short", Watch{}, sometimes(3), 620, 2},
	} {
		if i%sample.Stride(4) > 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			src := &churning{rounds: 100, packets: 4096, shape: traffic.Small(100)}
			var last Status
			most, heap := 0, [2]uint64{}
			c.watch.Found = func(list []rule.Finding) {
				for _, f := range list {
					if f.Class == rule.Violation { // some are unproven: the traffic ends in the middle
						t.Errorf("%+v", f)
					}
				}
			}
			c.watch.Status = func(s *Status) {
				last = *s
				most = max(most, s.Connections)
				if src.round == 30 || src.round == 90 {
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					heap[src.round/60] = m.HeapAlloc
				}
			}
			if _, err := Run(context.Background(), src, Options{Workers: c.workers, Watch: &c.watch, Short: c.short}); err != nil {
				t.Fatal(err)
			}
			gone := last.Forgotten + last.Evicted
			if most > c.most || gone < 9000 || (last.Evicted > 0) != (c.watch.Most > 0 || c.short != nil) || last.Relearned > 0 {
				t.Errorf("up to %d connections, %d forgotten, %d evicted, %d learned again", most, last.Forgotten, last.Evicted, last.Relearned)
			}
			if heap[1] > heap[0]*3/2 {
				t.Errorf("%d bytes at first, %d in the end", heap[0], heap[1])
			}
			if want := src.frames; last.Packets != want || last.RDMA != want {
				t.Errorf("%d of %d packets", last.RDMA, want)
			}
		})
	}
}

// TestWatchMissed: what the capture has lost proves nothing; connections that go on are learned again, and proofs are possible again.
func TestWatchMissed(t *testing.T) {
	src := &churning{rounds: 12, packets: 4096, shape: traffic.Small(100), dropAt: 3}
	var last Status
	unproven := 0
	_, err := Run(context.Background(), src, Options{Workers: 1, Watch: &Watch{
		Found: func(list []rule.Finding) {
			for _, f := range list {
				switch f.Class {
				case rule.Violation:
					t.Errorf("%+v", f)
				case rule.Unproven:
					unproven++
				}
			}
		},
		Status: func(s *Status) { last = *s },
	}})
	if err != nil {
		t.Fatal(err)
	}
	if unproven == 0 || last.Relearned == 0 || last.Dropped != 7 {
		t.Errorf("%d findings are not proven, %d connections learned again, %d dropped", unproven, last.Relearned, last.Dropped)
	}
}

// sometimes returns what is true once in n times.
func sometimes(n int) func() bool {
	i := 0
	return func() bool { i++; return i%n == 0 }
}
