package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

// TestMemory: connections beyond what the memory can hold are forgotten, and counted, and the process stays below its ceiling.
func TestMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector needs memory of its own: make unit runs this without it")
	}
	sample.Skip(t, "only many connections fill the memory")
	if !veth.Network(t) {
		return
	}
	const ceiling, connections = 190, 20_000
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--memory", strconv.Itoa(ceiling), "--recorder", "8")
	p.logs("watching")
	raw := traffic.Capture(traffic.Small(connections), 3*connections)
	b := raw[24:]
	n := 0
	veth.Flood(t, "left", 10_000, func() []byte {
		if len(b) < 16 {
			return nil
		}
		n++
		size := int(b[8]) | int(b[9])<<8 | int(b[10])<<16
		f := b[16 : 16+size]
		b = b[16+size:]
		return f
	})
	p.arrive("127.0.0.1:9846", n)
	p.settled("127.0.0.1:9846")
	u := used(t)
	t.Logf("%d connections of %d are followed in %d MiB", u.connections, connections, u.bytes>>20)
	if u.connections > connections*9/10 || u.connections < connections/10 {
		t.Error("too many, or too few")
	}
	if u.bytes > ceiling<<20 {
		t.Error("that is too much")
	}
}

// peakOf is how many MiB a check of a file took at most, with a limit for its memory. Its summary has to say what was forgotten.
func peakOf(t *testing.T, file string, limit int, gone string) int {
	t.Helper()
	told := filepath.Join(t.TempDir(), "status")
	p := launch(t, []string{tellPeak + "=" + told}, os.Args[0], "check", "--quiet", "--format", "json", "--memory", strconv.Itoa(limit), file)
	_ = p.Wait() // the status says what was found
	out, err := os.ReadFile(p.out)
	if err != nil {
		t.Fatal(err)
	}
	summary := out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:]
	if !regexp.MustCompile(gone).Match(summary) {
		t.Errorf("the summary is %s", summary)
	}
	status, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in %s", status)
	}
	most, _ := strconv.Atoi(string(peak[1]))
	return most >> 10
}

// TestCheckMemory: a capture of more connections, or of more findings, than --memory has room for is judged to its end within that, and in one of three runs with a seventh of it to
// spare: when the collector runs is chance, and takes it by 14 MiB more or less.
func TestCheckMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector needs memory of its own: make unit runs this without it")
	}
	sample.Skip(t, "only many connections fill the memory")
	const limit = 200 // MiB
	faulty := traffic.Small(64)
	faulty.Faults = 4
	for _, c := range []struct {
		name    string
		shape   traffic.Shape
		packets int
		gone    string
	}{
		{"connections", traffic.Small(120_000), 300_000, `"forgotten":{"connections":[1-9]`},
		{"findings", faulty, 900_000, `"forgotten":{.*"findings":[1-9]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.pcap")
			f, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(traffic.Write(f, c.shape, c.packets), f.Close()); err != nil {
				t.Fatal(err)
			}
			least := limit
			for tries := 0; tries < 3 && least > limit-limit/7; tries++ {
				most := peakOf(t, file, limit, c.gone)
				if least = min(least, most); most > limit {
					t.Errorf("%d MiB at most, of %d", most, limit)
				}
			}
			if t.Logf("%d MiB at most", least); least > limit-limit/7 {
				t.Error("that is too much")
			}
		})
	}
}
