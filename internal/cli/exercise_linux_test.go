package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibwitness/internal/testkit/veth"
)

// TestExercise: what was found is compared with what the script says; what is kept can be checked; mistakes are told.
func TestExercise(t *testing.T) {
	dir := t.TempDir()
	capture := filepath.Join(dir, "x.pcapng")
	status, out, errs := run(t, "exercise", "--write", capture, "../../examples/exercise/damaged.yaml")
	if status != 0 || errs != "" || !strings.HasPrefix(out, "AS SAID  broken on purpose: LNK-CRC-001, LNK-CRC-003, LNK-CRC-005, LNK-LRH-005, LNK-LRH-008") || !strings.Contains(out, "VIOLATED") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	if status, out, errs = run(t, "check", "-q", capture); status != 1 || !strings.Contains(out, "LNK-CRC-005") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	status, out, errs = run(t, "exercise", "--format", "json", "--seed", "5", "../../examples/exercise/random.yaml")
	if status != 0 || errs != "" || !strings.HasPrefix(out, `{"kind":"exercise"`) || !strings.Contains(out, `"as_said":true`) {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	write := func(text string) string {
		path := filepath.Join(dir, "y.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := func(breaks, icrc string) string {
		return write("link: {lid: 1}\nbreaks: [" + breaks + "]\nstreams: [{to: \"lid:2\", steps: [{op: ud_send_only, icrc: " + icrc + ", set: {dest_qp: 0x20, src_qp: 0x10}}]}]\n")
	}
	if status, out, _ = run(t, "exercise", one("", "wrong")); status != 1 || !strings.HasPrefix(out, "NOT AS SAID  broken, and not said: LNK-CRC-005") {
		t.Errorf("exit status %d: %s", status, out)
	}
	if status, out, _ = run(t, "exercise", one("LNK-CRC-005", "right")); status != 1 || !strings.HasPrefix(out, "NOT AS SAID  said, and not broken: LNK-CRC-005") {
		t.Errorf("exit status %d: %s", status, out)
	}
	for args, want := range map[string]string{
		write("link: {}\nstreams: [{steps: [{op: rc_sent}]}]\n"): `y.yaml, line 2: \"rc_sent\" is no opcode`,
		"none.yaml": "none.yaml",
		"--to 10.0.0.2 ../../examples/exercise/interface.yaml":                         "give --interface too",
		"--interface lo ../../examples/exercise/interface.yaml":                        "give --to 10.0.0.2",
		"--interface lo --to 10.0.0 ../../examples/exercise/interface.yaml":            "is no address",
		"--interface lo --to 10.0.0.3 ../../examples/exercise/interface.yaml":          "line 12: a packet goes to 10.0.0.2, which was not named",
		"--interface lo --to 10.0.0.2 --rate 0 ../../examples/exercise/interface.yaml": "--rate 0",
		"--interface lo --to 10.0.0.2 ../../examples/exercise/ethernet.yaml":           "is one of the partner",
		"--write ../../examples/exercise/link.yaml ../../examples/exercise/link.yaml":  "would overwrite",
		"--write " + dir + "/none/x ../../examples/exercise/link.yaml":                 "give a file that can be written",
	} {
		status, _, errs := run(t, append([]string{"exercise"}, strings.Fields(args)...)...)
		if status != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d: %s, not %q", args, status, errs, want)
		}
	}
}

// TestExerciseInterface: on an interface a script runs to its end, and what was sent is judged.
func TestExerciseInterface(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	status, out, errs := run(t, "exercise", "--interface", "left", "--to", "10.0.0.2", "--rate", "500", "../../examples/exercise/interface.yaml")
	if status != 0 || errs != "" || !strings.HasPrefix(out, "AS SAID  broken on purpose: ROC-V2-019") || !strings.Contains(out, "52 frames kept") {
		t.Errorf("exit status %d: %s%s", status, errs, out)
	}
	if status, _, errs = run(t, "exercise", "--interface", "none", "--to", "10.0.0.2", "../../examples/exercise/interface.yaml"); status != 2 || !strings.Contains(errs, "lists the interfaces") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

// TestExerciseInterrupted: Ctrl-C ends a run on an interface at once; what was sent until then is judged.
func TestExerciseInterrupted(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := "ethernet: {exerciser: {address: 10.0.0.1, mac: \"02:00:00:00:00:01\"}, partner: {address: 10.0.0.2, mac: \"02:00:00:00:00:02\"}}\nuntil: 100s\n" +
		"streams: [{to: 10.0.0.2, gap: 1ms, repeat: forever, steps: [{op: ud_send_only, set: {dest_qp: 0x20, src_qp: 0x10, qkey: 1, psn: {step: 1}}}]}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	time.AfterFunc(time.Second, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) })
	status, out, errs := run(t, "exercise", "--interface", "left", "--to", "10.0.0.2", path)
	if took := time.Since(began); status != 2 || took > 20*time.Second || !strings.Contains(out, "INCOMPLETE  nothing violated") {
		t.Errorf("exit status %d after %v: %s%s", status, took, errs, out)
	}
}
