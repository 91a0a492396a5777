package attach_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// TestLibraryMemory: frames of connections that go on take no memory.
func TestLibraryMemory(t *testing.T) {
	if got := measured(t, 600_000); got["grown"] > 1024 {
		t.Errorf("300,000 frames have left %.0f KiB", got["grown"])
	}
}
