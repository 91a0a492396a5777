package cli

import (
	"os"
	"path/filepath"
	"testing"

	"ibwitness/internal/testkit/traffic"
)

// TestQuick: of a capture larger than smallCapture it is how many frames it has that says whether what messages took is measured.
func TestQuick(t *testing.T) {
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
		want    bool
	}{
		{"small", traffic.Small(4), 1000, true},
		{"large, of many frames", traffic.Small(4), 6 * fewFrames / 5, false},
		{"large, of few frames", traffic.Large(4), fewFrames / 5, true},
	} {
		name := filepath.Join(t.TempDir(), "capture.pcap")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := traffic.Write(f, k.shape, k.packets); err != nil {
			t.Fatal(err)
		}
		if s, err := f.Stat(); err != nil || (s.Size() > smallCapture) != (k.name != "small") {
			t.Fatalf("%s: %v, %d bytes", k.name, err, s.Size())
		}
		f.Close()
		if got := quick([]string{name}); got != k.want {
			t.Errorf("%s: quick %v; about %d frames, and %d are in it", k.name, got, frames([]string{name}), k.packets)
		}
	}
}
