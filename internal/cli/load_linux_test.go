package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
	"ibwitness/rule"
)

var loaded = flag.Int("cli.load", 200_000, "frames that TestLoad replays at each rate")

// TestLoad replays real captures and generated traffic at 100,000 packets a second, and as fast as the machine can send. Every frame is seen, or
// reported as dropped by the kernel. Where none was, what is found is what check finds in the same frames; where some were, as the ring is small,
// nobody is accused of more than in all that were sent, as another ring has them, which nobody reads meanwhile.
func TestLoad(t *testing.T) {
	sample.Skip(t, "a flood takes the whole machine")
	if !veth.Network(t) {
		return
	}
	n := *loaded
	if raced {
		n /= 4 // it takes as long then
	}
	frames := loads(t, n)
	all := 0 // bytes of a ring that has room for them, whoever reads it
	for _, f := range frames {
		all += len(f) + 128
	}
	all = max(all*9/8+(8<<20), 64<<20)
	for _, c := range []struct{ rate, ring int }{{100_000, all}, {0, 64 << 20}, {0, 4 << 20}} {
		var l *load
		if !until(func() bool { // what is reported while the machine is stopped was not explained yet
			l = replayed(t, frames, c.rate, c.ring, all)
			return l.gap < settle/2
		}) {
			t.Fatalf("the machine was paused for %v, again and again", l.gap)
		}
		t.Logf("%d frames in %v, %.0f a second: %d seen, %d dropped, %d findings",
			len(frames), l.took, float64(len(frames))/l.took.Seconds(), l.seen, l.dropped, len(l.found))
		if l.seen+l.dropped != uint64(len(frames)) {
			t.Errorf("%d frames were sent, %d seen, %d dropped", len(frames), l.seen, l.dropped)
		}
		if l.dropped > 0 && c.ring == all {
			t.Error("some were dropped although the ring had room")
		}
		if l.dropped > 0 {
			whole := proven(checked(t, &l.sent))
			for k, n := range proven(l.found) {
				if n > whole[k] {
					t.Errorf("with frames dropped: %s", k)
				}
			}
			continue
		}
		kept := checked(t, &l.kept)
		if d := cmp.Diff(told(kept), told(l.found)); d != "" || len(kept) < 100 {
			t.Errorf("%d findings; check (-), watch (+):\n%.4000s", len(kept), d)
		}
	}
}

// checked are the findings of check in a file.
func checked(t *testing.T, file io.Reader) []rule.Finding {
	t.Helper()
	src, err := fabricagent.OpenReader("kept", file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// loads are the frames to replay: of captures, where they are, and generated ones, some spoiled, up to n. What two captures of one run hold is replayed
// once: twice within milliseconds, it is what mirrored ports show, for which check takes back what watch has told by then.
func loads(t *testing.T, n int) (frames [][]byte) {
	t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../../shared/captures"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Log("the captures are not here, only those of the repository are replayed: set IBWITNESS_CAPTURES to their folder")
		if files, err = filepath.Glob("../../testdata/captures/*.pcap*"); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{} // in captures before
	add := func(src fabricagent.Source, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		begin := len(frames)
		for {
			b, err := src.Next()
			if b != nil {
				for i := range b.Frames {
					if f := &b.Frames[i]; sendable(f) && !seen[string(f.Data)] {
						frames = append(frames, slices.Clone(f.Data))
					}
				}
				b.Release()
			}
			if err == io.EOF {
				for _, f := range frames[begin:] {
					seen[string(f)] = true
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range files {
		add(fabricagent.Open([]string{f}))
	}
	frames = frames[:min(len(frames), n/2)]
	t.Logf("%d frames of captures", len(frames))
	shape := traffic.Small(200)
	shape.Faults = 2000
	add(fabricagent.OpenReader("generated", bytes.NewReader(traffic.Capture(shape, n-len(frames)))))
	return frames
}

// sendable reports whether a frame is one that an interface can send and the filter passes.
func sendable(f *fabricagent.Frame) bool {
	d := f.Data
	if f.Link != fabricagent.LinkEthernet || int(f.Len) != len(d) || len(d) < 60 || len(d) > 1514 {
		return false
	}
	v1 := d[12] == 0x89 && d[13] == 0x15
	v2 := d[12] == 8 && d[13] == 0 && d[14] == 0x45 && d[20]&0x3f == 0 && d[21] == 0 && d[23] == 17 && d[36] == 0x12 && d[37] == 0xb7
	return v1 || v2
}

// load is what came of a replay.
type load struct {
	took          time.Duration
	seen, dropped uint64
	found         []rule.Finding
	kept, sent    bytes.Buffer  // the frames that were seen, and all of them
	gap           time.Duration // the longest between two frames that were sent
}

func replayed(t *testing.T, frames [][]byte, rate, ring, all int) (l *load) {
	t.Helper()
	l = new(load)
	witness, err := live.Open(live.Options{Interfaces: []string{"right"}, Promiscuous: true, Memory: all, Hold: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer witness.Close()
	src, err := live.Open(live.Options{Interfaces: []string{"right"}, Promiscuous: true, Memory: ring})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	file := keep(t, src, &l.kept)
	sent := make(chan time.Duration, 1)
	go func() {
		rest := frames
		sent <- veth.Flood(t, "left", rate, func() (f []byte) {
			if len(rest) > 0 {
				f, rest = rest[0], rest[1:]
			}
			return f
		})
		delivered(src, uint64(len(frames)))
		src.Stop()
	}()
	if _, err := agent.Run(context.Background(), file, agent.Options{Watch: &agent.Watch{
		Found:  func(list []rule.Finding) { l.found = append(l.found, list...) },
		Status: func(s *agent.Status) { l.seen = s.Packets },
	}}); err != nil {
		t.Fatal(err)
	}
	file.close()
	l.took, l.dropped = <-sent, src.Taps()[0].Dropped
	file = keep(t, witness, &l.sent)
	for file.n < len(frames) && witness.Taps()[0].Dropped == 0 {
		b, err := file.Next()
		if err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	file.close()
	if l.gap = time.Duration(file.gap); file.n != len(frames) {
		t.Fatalf("of %d frames that were sent, %d are there to compare with", len(frames), file.n)
	}
	return l
}

// delivered waits until an interface has delivered or dropped so many frames, for as long as the test may take.
func delivered(src *live.Source, frames uint64) {
	until(func() bool {
		s := src.Stats()[0]
		return s.Frames+s.Dropped >= frames
	})
}

// told are findings to compare.
func told(list []rule.Finding) (out []string) {
	for _, f := range list {
		out = append(out, fmt.Sprintf("%d %v %v %v: %s, %s", f.Frame, f.Rule, f.Class, f.Accused, f.Expected, f.Actual))
	}
	slices.Sort(out)
	return out
}

// proven are the violations, in whichever frame, and how often each is there. The accused is named by role and address: its QPN may be told only by a
// packet that was dropped.
func proven(list []rule.Finding) map[string]int {
	m := map[string]int{}
	for _, f := range list {
		if f.Class == rule.Violation {
			m[fmt.Sprintf("%v %v %v %v: %s, %s", f.Rule, f.PSN, f.Accused.Role, f.Accused.Addr, f.Expected, f.Actual)]++
		}
	}
	return m
}
