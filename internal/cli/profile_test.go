package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProfile: check, watch and simulate take a profile, and say what is wrong with it.
func TestProfile(t *testing.T) {
	capture := filepath.Join("..", "..", "testdata", "captures", "rnr_retry_exceeded.pcap")
	run := func(args ...string) (int, string) {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		n := Main(args, out, out)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return n, string(b)
	}
	if n, s := run("check", "--profile", "selective-repeat", "--profile", "cnp-per-ip=50us,adaptive-routing", capture); n != 1 {
		t.Errorf("exit status %d: %s", n, s)
	}
	if n, s := run("check", "--profile", "lenient", capture); n != 2 || !strings.Contains(s, `no profile`) || !strings.Contains(s, "adaptive-retransmission") {
		t.Errorf("exit status %d: %s", n, s)
	}
	if n, s := run("watch", "-i", "lo", "--profile", "cnp-per-qp=soon"); n != 2 || !strings.Contains(s, "is no time") {
		t.Errorf("exit status %d: %s", n, s)
	}
	scenario := filepath.Join("..", "..", "examples", "lost-ack.yaml")
	if n, s := run("simulate", "--profile", "adaptive-retransmission", scenario); n != 0 {
		t.Errorf("exit status %d: %s", n, s)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if n, s := run("completion", shell); n != 0 || !strings.Contains(s, "selective-repeat") {
			t.Errorf("%s: exit status %d, no profile in it", shell, n)
		}
	}
}
