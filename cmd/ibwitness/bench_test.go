package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ibwitness/internal/testkit/traffic"
)

// BenchmarkAgainstTshark verifies a generated capture with the command, and lists it with tshark, which verifies nothing, and reports
// the processor time of each and their ratio: both in one run, since machines differ and are noisy.
func BenchmarkAgainstTshark(b *testing.B) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		b.Fatal("tshark is not installed: make deps")
	}
	dir := b.TempDir()
	bin := filepath.Join(dir, "ibwitness")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
	}{
		{"105B", traffic.Small(64), 300_000},
		{"881B", traffic.Large(64), 150_000},
	} {
		b.Run(k.name, func(b *testing.B) {
			file := filepath.Join(dir, k.name+".pcap")
			if err := os.WriteFile(file, traffic.Capture(k.shape, k.packets), 0o600); err != nil {
				b.Fatal(err)
			}
			var ours, theirs time.Duration
			for b.Loop() {
				ours += cpu(b, bin, "check", "--workers", "1", "--quiet", "--format", "json", file)
				theirs += cpu(b, tshark, "-r", file, "-q", "-z", "io,stat,0")
			}
			n := float64(b.N * k.packets)
			b.ReportMetric(float64(ours.Nanoseconds())/n, "cpu-ns/packet")
			b.ReportMetric(float64(theirs.Nanoseconds())/n, "tshark-cpu-ns/packet")
			b.ReportMetric(float64(theirs)/float64(ours), "times-less-CPU")
		})
	}
}

// cpu runs a command and returns the processor time that it took, its own and the system's.
func cpu(b *testing.B, name string, args ...string) time.Duration {
	b.Helper()
	c := exec.Command(name, args...)
	if err := c.Run(); err != nil {
		b.Fatalf("%s %v: %v", name, args, err)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}
