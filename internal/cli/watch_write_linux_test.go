package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

// TestWatchWrite: the packets around violations of live traffic are in files that tshark reads, whole although the program was killed, and in
// which check accuses nobody who was not accused live.
func TestWatchWrite(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	tshark := programs.Find(t, "tshark")
	dir := t.TempDir()
	shape := traffic.Small(60)
	shape.Faults = 500
	raw := traffic.Capture(shape, 20_000)
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--repeats", "0", "--write", filepath.Join(dir, "flight.pcapng"), "--write-packets", "20")
	p.logs("watching")
	replay(t, raw, "left")
	p.settled("127.0.0.1:9846")
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "flight_00001_*.pcapng"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the first file is one of %q, %v", files, err)
	}
	name := files[0]
	live := map[string]bool{}
	b, err := os.ReadFile(p.out)
	if err != nil {
		t.Fatal(err)
	}
	key := func(line string) (string, bool) {
		var f struct {
			Kind, Rule, Class, Expected, Actual string
			PSN                                 uint32
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		k, _ := json.Marshal(f)
		return string(k), f.Kind == "finding" && f.Class == "violation"
	}
	for line := range strings.Lines(string(b)) {
		if k, ok := key(line); ok {
			live[k] = true
		}
	}
	comments, err := exec.Command(tshark, "-r", name, "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment").Output()
	if n := strings.Count(string(comments), "expected "); err != nil || len(live) == 0 || n < len(live)/2 {
		t.Errorf("%v: %d findings, %d comments:\n%s", err, len(live), n, comments)
	}
	c := start(t, "check", "--format", "json", "--all", name)
	_ = c.Wait()
	if n := c.ProcessState.ExitCode(); n != 1 {
		t.Errorf("check: exit status %d", n)
	}
	if b, err = os.ReadFile(c.out); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for line := range strings.Lines(string(b)) {
		if k, ok := key(line); ok {
			shown++
			if !live[k] {
				t.Errorf("check finds %s", line)
			}
		}
	}
	if shown == 0 {
		t.Error("check finds nothing")
	}
}

// TestWatchWriteUsage: what cannot be meant is refused.
func TestWatchWriteUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--write", "a.pcap"}, {"--write", "a.pcapng", "--write-files", "0"}, {"--write-size", "0"}, {"--write-packets", "0"}, {"--recorder", "0"}, {"--log-size", "0"}, {"--log-files", "0"}, {"--label-limit", "0"},
	} {
		c := start(t, append([]string{"watch", "-i", "lo"}, args...)...)
		_ = c.Wait()
		b, _ := os.ReadFile(c.log)
		if c.ProcessState.ExitCode() != 2 || !strings.Contains(string(b), "positive") && !strings.Contains(string(b), "--write flight.pcapng") {
			t.Errorf("%q: %v: %s", args, c.ProcessState, b)
		}
	}
}
