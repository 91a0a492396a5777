package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLatency: check shows how long answers took, where it is asked to.
func TestLatency(t *testing.T) {
	capture := filepath.Join("..", "..", "testdata", "captures", "rnr_retry_exceeded.pcap")
	run := func(args ...string) string {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if n := Main(append(append([]string{"check"}, args...), capture), out, out); n != 1 {
			t.Errorf("exit status %d", n)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if s := run("--latency"); !strings.Contains(s, "Latencies, at the tap") || !strings.Contains(s, "RNR NAK to retransmission      3  7.8ms") {
		t.Error(s)
	}
	if s := run("--latency", "--format", "json"); !strings.Contains(s, `{"kind":"latency","interval":"RNR NAK to retransmission","count":3,"mean":0.0077992`) {
		t.Error(s)
	}
	if s := run(); strings.Contains(s, "Latencies") {
		t.Error(s)
	}
}
