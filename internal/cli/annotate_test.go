package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/internal/testkit/sample"
)

// TestAnnotate: tshark reads the annotated capture, and shows the findings, the names and the same frames.
func TestAnnotate(t *testing.T) {
	sample.Skip(t, "tshark takes seconds to start, several times")
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Fatal("tshark is missing: make deps installs it")
	}
	capture, out := filepath.Join("..", "..", "testdata", "captures", "rnr_retry_exceeded.pcap"), filepath.Join(t.TempDir(), "out.pcapng")
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := Main([]string{"check", "--annotate", out, capture}, null, null); n != 1 {
		t.Fatalf("exit status %d", n)
	}
	show := func(args ...string) string {
		b, err := exec.Command("tshark", args...).Output()
		if err != nil {
			t.Fatalf("tshark %q: %v", args, err)
		}
		return string(b)
	}
	frames := []string{"-T", "fields", "-e", "frame.number", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "infiniband.bth.psn", "-r"}
	if show(append(frames, out)...) != show(append(frames, capture)...) {
		t.Error("the frames are others")
	}
	comments := show("-r", out, "-Y", "frame.comment", "-T", "fields", "-e", "frame.number", "-e", "frame.comment")
	for _, want := range []string{"\n6\tviolation RC-RSP-043 nak-duplicate, responder 10.77.0.2 QP 0x38: expected no further NAK", "1\tincident: 10.77.0.2 QP 0x38 was not ready for", "2\tsee RC-RNR-005, frame 3,see RC-RSP-043, frame 6,incident (not-ready-exhausted), see frame 1\n"} {
		if !strings.Contains(comments, want) {
			t.Errorf("no %q in\n%s", want, comments)
		}
	}
	if names := show("-N", "n", "-r", out); !strings.Contains(names, "endpoint-2-accused") || !strings.Contains(names, "endpoint-1 ") {
		t.Errorf("no names in\n%s", names)
	}
}
