package ringfiles_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/evidence/recorder"
	"ibwitness/internal/evidence/ringfiles"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

const settle = 200 * time.Microsecond

// watch verifies traffic as if it were live, and writes the packets around what more adds to the findings.
func watch(t *testing.T, shape traffic.Shape, packets int, o ringfiles.Options, more func(frame uint64) []rule.Finding) (found []rule.Finding, stats ringfiles.Stats) {
	t.Helper()
	file, err := fabricagent.OpenReader("traffic", bytes.NewReader(traffic.Capture(shape, packets)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	kept := recorder.New(recorder.Options{})
	if o.Taps, o.Settle = file.Taps, settle; o.Failed == nil {
		o.Failed = func(err error) { t.Error(err) }
	}
	w, err := ringfiles.New(kept, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	_, err = agent.Run(context.Background(), kept.Source(file), agent.Options{Workers: 1, Watch: &agent.Watch{
		Every: 100 * time.Microsecond, Settle: settle,
		Found: func(list []rule.Finding) {
			found = append(found, list...)
			w.Found(list)
		},
		Status: func(s *agent.Status) {
			if more != nil {
				w.Found(more(s.Packets))
			}
			w.Tick(s.Now)
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return found, w.Stats()
}

// files returns the files of the set.
func files(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(strings.TrimSuffix(path, ".pcapng") + "_*.pcapng")
	if err != nil || len(list) == 0 {
		t.Fatalf("%q %v", list, err)
	}
	slices.Sort(list)
	return list
}

// judge verifies a file, which no frame may be in twice.
func judge(t *testing.T, path string) *agent.Result {
	t.Helper()
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// times are those of the frames of a file.
func times(t *testing.T, path string) (list []int64) {
	t.Helper()
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if err != nil {
			return list
		}
		for i := range b.Frames {
			list = append(list, b.Frames[i].Time)
		}
		b.Release()
	}
}

func text(f *rule.Finding) string {
	return fmt.Sprintf("%v %v %v %v: %s, %s", f.Rule, f.PSN, f.Accused.Addr, f.Peer.QPN, f.Expected, f.Actual)
}

// TestWrite: the packets around violations are there, once each, with the findings as comments, and show nobody else at fault.
func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight.pcapng")
	shape := traffic.Small(60)
	shape.Faults = 300
	found, stats := watch(t, shape, 40_000, ringfiles.Options{Path: path, Size: 1 << 20, Files: 3, Packets: 32}, nil)
	known := map[string]bool{}
	violations := 0
	for i := range found {
		known[text(&found[i])] = true
		if found[i].Class == rule.Violation {
			violations++
		}
	}
	if violations < 50 || stats.Written != uint64(violations) || stats.Missing+stats.Limited+stats.Failed > 0 {
		t.Errorf("%d violations: %+v", violations, stats)
	}
	shown := 0
	for _, name := range files(t, path) {
		r := judge(t, name)
		if r.Dropped == 0 {
			t.Error("it does not say that packets are missing")
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Class == rule.Violation {
				shown++
				if !known[text(f)] {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		list := times(t, name)
		slices.Sort(list)
		if n := len(list); n == 0 || n != len(slices.Compact(list)) { // in the traffic each has a time of its own, but copies
			t.Errorf("%s: a frame is there twice, of %d", name, n)
		}
	}
	if shown == 0 {
		t.Error("no violation shows in the files")
	}
	comments := tshark(t, "-r", files(t, path)[0], "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment")
	if n := strings.Count(comments, "violation ") + strings.Count(comments, "warning "); n < violations/2 {
		t.Errorf("%d comments on %d violations:\n%s", n, violations, comments)
	}
}

func tshark(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Fatal("tshark is missing: make deps installs it")
	}
	out, err := exec.Command("tshark", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("tshark %q: %v: %s", args, err, out)
	}
	return string(out)
}

// TestInnocent: pieces of correct traffic accuse nobody.
func TestInnocent(t *testing.T) {
	for seed := range uint64(4) {
		path := filepath.Join(t.TempDir(), "flight.pcapng")
		shape := traffic.Small(30)
		if seed%2 == 1 {
			shape = traffic.Large(30)
		}
		shape.Seed = seed
		n := uint64(0)
		_, stats := watch(t, shape, 15_000, ringfiles.Options{Path: path, Size: 1 << 16, Files: 100, Packets: 8, Events: true}, func(packets uint64) (list []rule.Finding) {
			for ; n+400 < packets; n += 171 { // at any packet, with proofs before and after it
				list = append(list, rule.Finding{Rule: rule.EvRetransmission, Frame: n + 1, Evidence: []uint64{n/2 + 1, n + 90}})
			}
			return list
		})
		if stats.Written < 80 {
			t.Errorf("%+v", stats)
		}
		for _, name := range files(t, path) {
			r := judge(t, name)
			for i := range r.Findings {
				if f := &r.Findings[i]; f.Class == rule.Violation {
					t.Errorf("seed %d: %+v", seed, f)
				}
			}
		}
	}
}

// TestRotation: so many files are kept, runs that follow go on with their numbers, and what a killed run has torn is mended.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight.pcapng")
	other := filepath.Join(filepath.Dir(path), "flight_notes.pcapng")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	shape := traffic.Small(60)
	shape.Faults = 300
	o := ringfiles.Options{Path: path, Size: 1 << 14, Files: 3, Packets: 16}
	last := ""
	for run := range 3 {
		watch(t, shape, 30_000, o, nil)
		list := files(t, path)
		list = slices.DeleteFunc(list, func(s string) bool { return s == other })
		if len(list) != 3 || run > 0 && list[2] <= last {
			t.Fatalf("%q after %q", list, last)
		}
		last = list[2]
		for _, name := range list {
			if i, err := os.Stat(name); err != nil || i.Size() > o.Size+64<<10 {
				t.Errorf("%v %v", i, err)
			}
			judge(t, name)
		}
		f, err := os.OpenFile(last, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := f.Seek(0, 2)
		_, err = f.Write([]byte{6, 0, 0, 0, 100, 0, 0, 0, 1, 2, 3})
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ringfiles.New(recorder.New(recorder.Options{}), o); err != nil {
			t.Fatal(err)
		}
		if i, err := os.Stat(last); err != nil || i.Size() != before {
			t.Errorf("%d bytes, not %d: %v", i.Size(), before, err)
		}
		tshark(t, "-r", last, "-c", "1")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// TestLimits: of one rule and endpoint so many findings are written in a minute; of one whose packets are gone, none is. What keeps it from writing is
// told once.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	kept := recorder.New(recorder.Options{})
	g := traffic.New(traffic.Small(2))
	var frames []fabricagent.Frame
	for i := range 100 {
		var p packet.Packet
		src, dst := g.Next(&p)
		b := p.AppendEthernet(nil, src, dst)
		frames = append(frames, fabricagent.Frame{Time: int64(i), Number: uint64(i) + 1, Link: fabricagent.LinkEthernet, Len: uint32(len(b)), Data: b})
	}
	kept.Add(frames)
	failures := 0
	o := ringfiles.Options{
		Path: filepath.Join(dir, "f.pcapng"), Size: 1 << 20, Files: 1, Packets: 4, Most: 3,
		Taps:   func() []fabricagent.Tap { return []fabricagent.Tap{{Link: fabricagent.LinkEthernet}} },
		Failed: func(error) { failures++ },
	}
	w, err := ringfiles.New(kept, o)
	if err != nil {
		t.Fatal(err)
	}
	find := func(frame uint64) rule.Finding {
		return rule.Finding{Rule: rule.RCPSN004, Class: rule.Violation, Frame: frame}
	}
	w.Found([]rule.Finding{find(10), find(20), find(30), find(40), {Rule: rule.RCPSN004, Class: rule.Unproven, Frame: 3}})
	w.Tick(1000)
	if s := w.Stats(); s != (ringfiles.Stats{Written: 3, Limited: 1}) {
		t.Errorf("%+v", s)
	}
	w.Tick(int64(time.Minute))
	w.Found([]rule.Finding{find(9999)})
	w.Tick(int64(time.Minute))
	if s := w.Stats(); s.Missing != 1 {
		t.Errorf("%+v", s)
	}
	w.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.Found([]rule.Finding{find(50)})
		w.Tick(int64(time.Minute))
	}
	if s := w.Stats(); s.Failed != 2 || failures != 1 {
		t.Errorf("%+v, told %d times", s, failures)
	}
	if _, err := ringfiles.New(kept, o); err == nil {
		t.Error("a directory that does not exist is taken")
	}
}
