package attach_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ibwitness/internal/testkit/traffic"
)

// measured runs c/testdata/bench.c over traffic of small frames.
func measured(t testing.TB, frames int) map[string]float64 {
	t.Helper()
	capture := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(capture, traffic.Capture(traffic.Small(64), frames), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(compile(t, "c/testdata/bench.c", "-O2"), capture, strconv.Itoa(frames)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var name string
		var value float64
		if _, err := fmt.Sscan(lines.Text(), &name, &value); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		got[name] = value
	}
	return got
}

// BenchmarkLibrary measures what a call costs in the thread of the caller, in C.
func BenchmarkLibrary(b *testing.B) {
	for b.Loop() {
		got := measured(b, 600_000)
		b.ReportMetric(got["frame"], "ns/frame")
		b.ReportMetric(got["beat8"], "ns/beat-of-8")
		b.ReportMetric(got["beat64"], "ns/beat-of-64")
	}
	b.ReportMetric(0, "ns/op")
}

var frames = flag.Int("frames", 1_000_000, "frames that TestLibraryMemory hands over")

// TestLibraryMemory: frames of connections that go on take no memory, by the clock of a simulation, which looks for silent ends too.
func TestLibraryMemory(t *testing.T) {
	cmd := exec.Command(compile(t, "c/testdata/memory.c", "-O2"), strconv.Itoa(*frames))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	written := traffic.Write(in, traffic.Small(64), *frames)
	if err := errors.Join(in.Close(), cmd.Wait(), written); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var kib []int
	for _, s := range strings.Fields(out.String()) {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(out.String())
		}
		kib = append(kib, n)
	}
	if len(kib) != 10 || kib[9]-kib[4] > 1024 {
		t.Errorf("resident KiB after each tenth of %d frames: %v", *frames, kib)
	}
	t.Logf("resident KiB after each tenth of %d frames: %v", *frames, kib)
}
