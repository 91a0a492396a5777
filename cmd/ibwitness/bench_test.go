package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"ibwitness/internal/traffic"
)

// BenchmarkAgainstTshark compares the processor time of `ibwitness check FILE` with that of tshark counting the packets of the same file,
// which it decodes but does not verify. The two run in turns, and the least of each counts.
func BenchmarkAgainstTshark(b *testing.B) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		b.Skip("no tshark to compare with: make deps installs it")
	}
	dir := b.TempDir()
	ibwitness := filepath.Join(dir, "ibwitness")
	if out, err := exec.Command("go", "build", "-o", ibwitness, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
	}{
		{"105B", traffic.Small(64), 400_000},
		{"881B", traffic.Large(64), 150_000},
	} {
		b.Run(k.name, func(b *testing.B) {
			path := filepath.Join(dir, k.name+".pcap")
			f, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			if err := traffic.Write(f, k.shape, k.packets); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			ours, theirs := time.Duration(1<<62), time.Duration(1<<62)
			for b.Loop() {
				theirs = min(theirs, processorTime(b, exec.Command(tshark, "-r", path, "-q", "-z", "io,stat,0")))
				ours = min(ours, processorTime(b, exec.Command(ibwitness, "check", path)))
			}
			b.ReportMetric(float64(ours.Nanoseconds())/float64(k.packets), "cpu-ns/packet")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(k.packets), "tshark-cpu-ns/packet")
			b.ReportMetric(float64(theirs)/float64(ours), "times-less")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// processorTime runs a command to its end, and returns its user and system time.
func processorTime(b *testing.B, c *exec.Cmd) time.Duration {
	if out, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}
