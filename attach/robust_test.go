package attach_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ibwitness/agent"
	"ibwitness/attach"
	"ibwitness/internal/testkit/memcheck"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

var rewrite = flag.Bool("rewrite", false, "write the expected output of the programs in C")

// TestMisuse: whatever a testbench does wrong, it is told what to do, and nothing crashes.
func TestMisuse(t *testing.T) {
	out, err := exec.Command(compile(t, "c/testdata/misuse.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const golden = "c/testdata/misuse.txt"
	if *rewrite {
		if err := os.WriteFile(golden, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, want) {
		t.Errorf("-rewrite where this is meant:\n%s", differ(out, want))
	}
}

// TestWithoutEnd: a frame whose last beat is not told, and a packet of a link, is dropped up to the next last beat, which is said once, and the tap has lost something; what comes
// after it is judged.
func TestWithoutEnd(t *testing.T) {
	frame := traffic.Capture(traffic.Small(1), 1)[24+16:]
	frame[14+20+8+1] |= 3 // TVer of the BTH
	p := packet.Packet{Encap: packet.Native, Opcode: packet.Op(packet.RC, packet.SendOnly), PKey: 0xFFFF, DestQP: 18, AckReq: true, Src: packet.LIDAddr(1), Dst: packet.LIDAddr(2), TVer: 3}
	p.Complete()
	report := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.Command(compile(t, "c/testdata/endless.c"), hex.EncodeToString(frame), hex.EncodeToString(p.Append(nil)), report).CombinedOutput()
	const want = `beat 65537 of a frame: -1, ibwitness: ibw_beat: a frame of more than 1 MiB: is its last beat told as such? All of it is dropped
the frame after it: 1
beat 65537 of a packet of port 0: -1, ibwitness: ibw_link_beat: a packet of more than 1 MiB: is its last beat told as such? All of it is dropped
the frame after it: 1
beat 65537 of a packet of port 1: -1, ibwitness: ibw_link_beat: a packet of more than 1 MiB: is its last beat told as such? All of it is dropped
the frame after it: 1
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, differ(out, []byte(want)))
	}
	text, err := os.ReadFile(report)
	if err != nil || !bytes.Contains(text, []byte(`"taps":[{"file":"tap 0","dropped":1},{"file":"tap 1","dropped":2}]`)) {
		t.Errorf("the report does not say what was lost: %v", err)
	}
}

// TestThreads: eight runs in eight threads give what one gives.
func TestThreads(t *testing.T) {
	dir := t.TempDir()
	capture := filepath.Join(dir, "traffic.pcap")
	if err := os.WriteFile(capture, traffic.Capture(traffic.Small(64), 50_000), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compile(t, "c/testdata/threads.c"), capture, dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	first, err := os.ReadFile(filepath.Join(dir, "0.json"))
	if err != nil || len(first) == 0 {
		t.Fatal(err)
	}
	for _, n := range "1234567" {
		got, err := os.ReadFile(filepath.Join(dir, string(n)+".json"))
		if err != nil || !bytes.Equal(got, first) {
			t.Errorf("run %c: %v\n%s", n, err, differ(got, first))
		}
	}
}

// TestLeave: however the program of a testbench ends, its reports are complete.
func TestLeave(t *testing.T) {
	leave := compile(t, "c/testdata/leave.c")
	frame := traffic.Capture(traffic.Small(1), 1)[24+16:]
	frame[14+20+8+1] |= 3 // TVer of the BTH
	for _, k := range []struct {
		how    string
		status int
		signal syscall.Signal
	}{
		{"return", 0, 0},
		{"exit", 7, 0},
		{"longjmp", 0, 0},
		{"assert", -1, syscall.SIGABRT},
		{"int", -1, syscall.SIGINT},
		{"term", -1, syscall.SIGTERM},
		{"engine", -1, syscall.SIGTERM},
		{"calls", -1, syscall.SIGTERM},
	} {
		t.Run(k.how, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "report.json")
			cmd := exec.Command(leave, k.how, name)
			cmd.Stdin = bytes.NewReader(frame)
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != k.status || k.signal != 0 && cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != k.signal {
				t.Errorf("%v\n%s", cmd.ProcessState, out)
			}
			report, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if s := string(report); !strings.Contains(s, `"rule":"BTH-002"`) || !strings.HasSuffix(s, "}\n") || !strings.Contains(s, `"kind":"summary"`) {
				t.Errorf("the report is not complete:\n%s", report)
			}
		})
	}
}

// TestSanitized: the C side is clean under the sanitizers of addresses and of undefined behaviour.
func TestSanitized(t *testing.T) {
	for _, source := range []string{"c/testdata/misuse.c", "c/testdata/leave.c"} {
		program := compile(t, source, "-fsanitize=address,undefined", "c/ibwitness.c", "-Wl,-Bsymbolic")
		cmd := exec.Command(program, "return", filepath.Join(t.TempDir(), "report.json"))
		if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("Sanitizer")) {
			t.Errorf("%s: %v\n%s", source, err, out)
		}
	}
}

// TestValgrind: the C side reads and writes only what it may, and gives up what it has taken.
func TestValgrind(t *testing.T) {
	for _, source := range []string{"c/testdata/misuse.c", "c/testdata/leave.c"} {
		cmd := exec.Command(compile(t, source), "return", filepath.Join(t.TempDir(), "report.json"))
		faults := memcheck.Command(t, cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", source, err, out)
		}
		for _, f := range faults() {
			t.Errorf("%s: %s", source, f)
		}
	}
	cmd := exec.Command(compile(t, "c/testdata/faulty.c"))
	faults := memcheck.Command(t, cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	found := strings.Join(faults(), "\n")
	for _, want := range []string{"ibw_beat (", "packet.", "Leak_DefinitelyLost"} {
		if !strings.Contains(found, want) {
			t.Errorf("valgrind did not see %q where a program does it, but\n%s", want, found)
		}
	}
}

// TestReports: every format of report is written at the end of a run, and has something in it.
func TestReports(t *testing.T) {
	for _, format := range attach.Formats() {
		name := filepath.Join(t.TempDir(), "report")
		r, err := attach.Open([]byte(`{"name": "all", "reports": {"` + format + `": "` + name + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		raw := traffic.Capture(traffic.Small(4), 1000)[24:]
		for at := uint64(0); len(raw) >= 16; at += 1000 {
			size := binary.LittleEndian.Uint32(raw[8:])
			if _, err := r.Frame(0, packet.WayUnknown, at, raw[16:16+size], 0); err != nil {
				t.Fatal(err)
			}
			raw = raw[16+size:]
		}
		if _, err := r.End(r.Now()); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if err := r.Close(); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if info, err := os.Stat(name); err != nil || info.Size() < 200 {
			t.Errorf("%s: %v, %v", format, info, err)
		}
		if left, _ := filepath.Glob(name + "?*"); len(left) > 0 {
			t.Errorf("%s leaves %v", format, left)
		}
	}
}

// TestWaived: a violation that the configuration waives is told as such, is no error, and the reports repeat why.
func TestWaived(t *testing.T) {
	frame := traffic.Capture(traffic.Small(1), 1)[24+16:]
	frame[14+20+8+1] |= 3 // TVer of the BTH
	for _, k := range []struct {
		waive  string
		errors int
	}{
		{``, 1}, {`{"rule": "BTH-002", "why": "a prototype"}`, 0}, {`{"rule": "BTH-002", "accused": "10.9.9.9", "why": "another one"}`, 1}, {`{"rule": "BTH-003", "why": "another rule"}`, 1},
	} {
		r, err := attach.Open([]byte(`{"taps": [{"icrc": "ignore"}], "waive": [` + k.waive + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.Frame(0, packet.WayUnknown, 1000, frame, 0)
		if err != nil || found != k.errors {
			t.Errorf("%s: %d errors told, want %d: %v", k.waive, found, k.errors, err)
		}
		f, ok := r.Next()
		if !ok || f.Rule != rule.BTH002 || f.Waived != (k.errors == 0) {
			t.Errorf("%s: told %v %+v", k.waive, ok, f)
		}
		if n, err := r.End(2000); n != k.errors || err != nil {
			t.Errorf("%s: %d errors in all, want %d: %v", k.waive, n, k.errors, err)
		}
		var text bytes.Buffer
		if err := r.WriteReport(&text, "text"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), "a prototype") != (k.errors == 0) {
			t.Errorf("%s: the report says\n%s", k.waive, text.String())
		}
	}
}

// TestGivenUp: a frame that its sender gave up is not judged, and the report says how many there were.
func TestGivenUp(t *testing.T) {
	r, err := attach.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	for at := range uint64(3) {
		if err := r.Bad(0, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.End(5); err != nil {
		t.Fatal(err)
	}
	want := agent.Note{Reason: "frames that their sender gave up", Count: 3}
	if res := r.Result(); res.Packets != 0 || len(res.NotJudged) != 1 || res.NotJudged[0] != want {
		t.Errorf("%d packets, not judged %+v", res.Packets, res.NotJudged)
	}
}

// TestEnvironment: the file that the environment names takes the place of the configuration, whatever that is.
func TestEnvironment(t *testing.T) {
	name := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(name, []byte(`{"taps": [{"name": "b"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(attach.Environment, name)
	for _, config := range []string{``, `{"taps": [{"name": "a"}]}`, `no JSON`} {
		r, err := attach.Open([]byte(config))
		if err != nil {
			t.Fatalf("%q: %v", config, err)
		}
		if _, err := r.Tap("b"); err != nil {
			t.Errorf("%q: %v", config, err)
		}
	}
	t.Setenv(attach.Environment, name+".missing")
	if _, err := attach.Open(nil); err == nil || !strings.Contains(err.Error(), "name a file that can be read, or unset it") {
		t.Errorf("of a file that is not there: %v", err)
	}
}
