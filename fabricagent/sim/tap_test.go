package sim

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// seen is a frame as a source delivers it.
type seen struct {
	Time   int64
	Number uint64
	Tap    uint16
	Data   string
}

// read takes everything that a source delivers.
func read(t testing.TB, src fabricagent.Source) (list []seen) {
	t.Helper()
	for last := false; ; {
		b, err := src.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if last {
			t.Error("a short batch was not the last")
		}
		last = len(b.Frames) < fabricagent.BatchSize
		for i := range b.Frames {
			f := &b.Frames[i]
			if int(f.Len) != len(f.Data) || f.Link != fabricagent.LinkEthernet {
				t.Errorf("frame %+v", f)
			}
			list = append(list, seen{f.Time, f.Number, f.Tap, string(f.Data)})
		}
		b.Release()
	}
}

// taps attaches taps at both ends and in the middle.
func taps(t testing.TB, f *Fabric, sink Sink) {
	t.Helper()
	for _, err := range []error{f.TapEnd(addrA, "A", sink), f.TapMiddle("middle", sink), f.TapEnd(addrB, "B", sink)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

const epoch = 1_767_225_600_000_000_000

// TestTaps: A's tap sees what A sent, the middle what came halfway, B's what arrives, each at its time.
func TestTaps(t *testing.T) {
	b := newBench(t, Options{Delay: 1001})
	r := NewRecorder("test", b.Step)
	taps(t, b.Fabric, r)
	path := b.Path(addrA, addrB)
	path.Before.Add(Error{Kind: Drop, Filter: Filter{From: 1, Count: 1}})
	path.After.Add(Error{Kind: Drop, Filter: Filter{From: 1, Count: 1}})
	b.burst(3, 100)
	type where struct {
		Time int64
		Tap  uint16
		PSN  packet.PSN
	}
	var got []where
	for i, s := range read(t, r) {
		if s.Number != uint64(i+1) {
			t.Errorf("frame %d has number %d", i+1, s.Number)
		}
		got = append(got, where{s.Time, s.Tap, decode(t, []byte(s.Data)).PSN})
	}
	want := []where{{0, 0, 0}, {100, 0, 1}, {200, 0, 2}, {600, 1, 1}, {700, 1, 2}, {1201, 2, 2}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(r.Taps()); n != 3 || r.Taps()[1].Interface != "middle" {
		t.Errorf("taps %+v", r.Taps())
	}
}

// recorded is what a recorder and a file saw of the same run.
func recorded(t testing.TB, n int, seed uint64) (want []seen, file []byte) {
	b := newBench(t, Options{Seed: seed})
	b.Clock.now = epoch
	r := NewRecorder("test", b.Step)
	var buf bytes.Buffer
	w := NewFile(&buf)
	taps(t, b.Fabric, r)
	taps(t, b.Fabric, w)
	b.Path(addrA, addrB).Before.Add(Error{Kind: Drop, Filter: Filter{Probability: 0.3}})
	for i := range n {
		b.After(int64(i)*10, func() { b.send(frame(addrA, addrB, packet.Op(packet.RC, packet.SendOnly), 7, packet.PSN(i), i%9)) })
	}
	want = read(t, r) // the recorder drives
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return want, buf.Bytes()
}

// TestFile: what is written as a pcapng reads as what a recorder delivers.
func TestFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want, file := recorded(t, rapid.IntRange(1, 400).Draw(rt, "n"), rapid.Uint64().Draw(rt, "seed"))
		src, err := fabricagent.OpenReader("simulation", bytes.NewReader(file))
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, read(t, src)); d != "" {
			rt.Fatal(d)
		}
		if taps := src.Taps(); len(taps) != 3 || taps[2].Interface != "B" {
			rt.Fatalf("taps %+v", taps)
		}
	})
}

// TestFileTshark has tshark read the file.
func TestFileTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Fatal("tshark is not installed: make deps installs it")
	}
	want, file := recorded(t, 20, 1)
	path := filepath.Join(t.TempDir(), "simulation.pcapng")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(context.Background(), "tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name", "-e", "infiniband.bth.psn").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(want) {
		t.Fatalf("tshark shows %d frames, want %d", len(lines), len(want))
	}
	for i, line := range lines {
		f := strings.Fields(line)
		if len(f) != 3 {
			t.Fatalf("frame %d: %q", i+1, line)
		}
		// tshark writes the PSN in decimal, the time as seconds with nine decimals or as a date by its version.
		psn := uint64(decode(t, []byte(want[i].Data)).PSN)
		got, err := strconv.ParseUint(f[2], 0, 32)
		nano := strconv.FormatInt(want[i].Time%1e9+1e9, 10)[1:]
		if err != nil || got != psn || f[1] != []string{"A", "middle", "B"}[want[i].Tap] || !strings.Contains(f[0], "."+nano) {
			t.Errorf("frame %d: %q", i+1, line)
		}
	}
}
