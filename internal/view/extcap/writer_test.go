package extcap

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/programs"
	"ibwitness/rule"
)

// comments are the comments of each frame, as tshark reads them.
func comments(t *testing.T, pcapng []byte) (list []string) {
	t.Helper()
	cmd := exec.Command(programs.Find(t, "tshark"), "-r", "-", "-T", "fields", "-e", "frame.number", "-e", "frame.comment")
	cmd.Stdin = bytes.NewReader(pcapng)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// frame returns a frame of a second.
func frame(n int) fabricagent.Frame {
	return fabricagent.Frame{Number: uint64(n), Time: int64(n) * int64(time.Second), Link: fabricagent.LinkEthernet, Len: 60, Data: make([]byte, 60)}
}

func finding(n int, evidence ...uint64) rule.Finding {
	return rule.Finding{
		Rule: rule.RCRSP043, Class: rule.Violation, Frame: uint64(n), Time: int64(n) * int64(time.Second),
		Expected: "silence", Actual: fmt.Sprintf("noise %d", n), Evidence: evidence,
	}
}

func open(t *testing.T, w io.Writer, o Options) *Writer {
	t.Helper()
	x, err := NewWriter(w, []fabricagent.Tap{{Interface: "eth0", Link: fabricagent.LinkEthernet}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWriter: a frame waits for its findings, and one that comes later is told with the next frame.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	x := open(t, &out, Options{Settle: 2 * time.Second})
	x.Add([]fabricagent.Frame{frame(1), frame(2), frame(3), frame(4)})
	x.Tick(int64(3 * time.Second))
	if n := len(comments(t, out.Bytes())); n != 1 || x.written != 0 {
		t.Errorf("%d lines before anything is settled", n)
	}
	x.Found([]rule.Finding{finding(2, 1)})
	x.Tick(int64(5 * time.Second))
	x.Found([]rule.Finding{finding(1), finding(4)})
	legal := finding(3)
	legal.Rule, legal.Class = rule.EvRNRNAK, rule.Event
	x.Found([]rule.Finding{legal})
	x.Add([]fabricagent.Frame{frame(5)})
	x.Tick(int64(6 * time.Second))
	early, left, err := x.Close()
	if early != 0 || len(left) != 0 || err != nil {
		t.Errorf("%d %q %v", early, left, err)
	}
	got := comments(t, out.Bytes())
	for i, want := range []string{"1\tsee RC-RSP-043, frame 2", "2\tviolation RC-RSP-043*noise 2*", "3\tof frame 1: violation RC-RSP-043*noise 1*", "4\tviolation RC-RSP-043*noise 4*", "5\t"} {
		parts := strings.Split(want, "*")
		if len(got) != 5 || !strings.HasPrefix(got[i], parts[0]) || len(parts) > 1 && !strings.Contains(got[i], parts[1]) || len(parts) == 1 && got[i] != want {
			t.Errorf("frame %d: %q, want %q", i+1, got, want)
		}
	}
}

// TestWriterMemory: where too many frames wait, they are written early, and counted; what no frame can tell is returned.
func TestWriterMemory(t *testing.T) {
	var out bytes.Buffer
	x := open(t, &out, Options{Settle: 2 * time.Second, Memory: 200})
	x.Add([]fabricagent.Frame{frame(1), frame(2), frame(3), frame(4), frame(5)})
	x.Tick(int64(20 * time.Second))
	x.Found([]rule.Finding{finding(5)})
	early, left, err := x.Close()
	if early != 2 || len(left) != 1 || !strings.HasPrefix(left[0], "of frame 5: violation") || err != nil {
		t.Errorf("%d early, left %q, %v", early, left, err)
	}
	if d := cmp.Diff([]string{"1\t", "2\t", "3\t", "4\t", "5\t"}, comments(t, out.Bytes())); d != "" {
		t.Error(d)
	}
}

// TestWriterBroken: a pipe that nobody reads any more ends it.
func TestWriterBroken(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = r.Read(make([]byte, 4096))
		r.Close()
	}()
	x := open(t, w, Options{})
	x.Add([]fabricagent.Frame{frame(1)})
	x.Tick(1 << 62)
	if x.Err() == nil {
		t.Error("no error")
	}
}
