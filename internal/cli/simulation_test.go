package cli

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSimulation: that one clock of a simulation has stamped frames and events says a flag, or each log of itself, with the same findings by any number of workers.
// An ACK of a PSN that was never sent is told at once then, and not with the next request.
func TestSimulation(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (string, int) {
		t.Helper()
		var files [2]*os.File
		for i := range files {
			f, err := os.CreateTemp(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files[i] = f
		}
		status := Main(args, files[0], files[1])
		var out []byte
		for _, f := range files {
			text, err := os.ReadFile(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, text...)
		}
		return string(out), status
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	run("simulate", "../../examples/ack-of-unsent.yaml", "--write", in("run.pcapng"), "--events", in("run.jsonl"))
	logs := func(clock, gid string) (args []string) {
		t.Helper()
		for _, name := range []string{"a", "b"} {
			text, err := os.ReadFile(in("run." + name + ".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			head, rest, _ := bytes.Cut(text, []byte("\n"))
			first := strings.Replace(string(head), `"clock":"capture"`, `"clock":"`+clock+`"`, 1)
			if gid != "" {
				first = strings.Replace(first, `"gid":"10.0.0.1",`, gid, 1)
			}
			if first == string(head) && clock != "capture" {
				t.Fatalf("the log begins %s", head)
			}
			args = append(args, "--events", write(clock+"."+name+".jsonl", first+"\n"+string(rest)))
		}
		return args
	}
	check := func(args ...string) string {
		t.Helper()
		out, status := run(append([]string{"check", "--quiet", "--format", "json", "--near", "10.0.0.1", in("run.pcapng")}, args...)...)
		if status != 1 {
			t.Fatalf("%v: exit status %d\n%s", args, status, out)
		}
		return out
	}
	const atOnce, later = "a response to a PSN before 0x100003", "a response to a PSN before 0x100004"
	if out := check(logs("capture", "")...); !strings.Contains(out, later) || strings.Contains(out, atOnce) {
		t.Errorf("by the clock of the capture:\n%s", out)
	}
	want := check(logs("simulation", "")...)
	if !strings.Contains(want, atOnce) {
		t.Errorf("by the clock of a simulation:\n%s", want)
	}
	for _, args := range [][]string{
		append(logs("capture", ""), "--simulation"),
		append(logs("host", ""), "--simulation"),
		append(logs("simulation", ""), "--workers", "1"),
		append(logs("simulation", ""), "--workers", "2"),
		append(logs("simulation", ""), "--workers", "8"),
	} {
		if got := check(args...); got != want {
			t.Errorf("%v:\n%s\nwant\n%s", args, got, want)
		}
	}
	mixed := append(logs("simulation", "")[:2], logs("capture", "")[2:]...)
	if out := check(mixed...); !strings.Contains(out, later) {
		t.Errorf("one log has the clock of a simulation, the other that of the capture:\n%s", out)
	}
	if out := check("--simulation"); !strings.Contains(out, atOnce) {
		t.Errorf("without logs:\n%s", out)
	}
	// What a recording says of its run is not ignored silently where it cannot be understood.
	text, err := os.ReadFile(in("run.pcapng"))
	if err != nil {
		t.Fatal(err)
	}
	for said, warned := range map[string]bool{`{"near":["10.0.0.1"]}`: false, `{"near":["10.0.0.`: true, `{"near":["nowhere"]}`: true} {
		if out, _ := run("check", "--quiet", write("said.pcapng", remarked(t, text, "ibwitness run: "+said))); strings.Contains(out, "cannot be understood, and is ignored") != warned {
			t.Errorf("%s:\n%s", said, out)
		}
	}
	out, status := run(append([]string{"check", "--simulation", in("run.pcapng")}, logs("capture", " ")...)...)
	if status != 2 || !strings.Contains(out, "does not say which endpoint it is of") {
		t.Errorf("a log without an address: exit status %d\n%s", status, out)
	}
}

// remarked is a pcapng whose section header has a comment.
func remarked(t *testing.T, text []byte, comment string) string {
	t.Helper()
	le := binary.LittleEndian
	old := le.Uint32(text[4:])
	option := le.AppendUint16(nil, 1)
	option = le.AppendUint16(option, uint16(len(comment)))
	option = append(option, comment...)
	for len(option)%4 != 0 {
		option = append(option, 0)
	}
	size := old + uint32(len(option))
	out := append([]byte(nil), text[:4]...)
	out = le.AppendUint32(out, size)
	out = append(out, text[8:24]...)
	out = append(out, option...)
	out = append(out, text[24:old-4]...)
	out = le.AppendUint32(out, size)
	return string(append(out, text[old:]...))
}
