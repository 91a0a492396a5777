package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
	"ibwitness/verifier/stream"
)

// TestJoined verifies captures one after the other, as a run of weeks sees them, in which QP numbers are used again and again: whom nobody
// accuses in a capture of its own is not accused, and what is found is found.
func TestJoined(t *testing.T) {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../shared/captures"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Log("the captures are not here, only those of testdata are joined: set IBWITNESS_CAPTURES to their folder")
		if files, err = filepath.Glob("../internal/testkit/planted/testdata/*.pcap"); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, gap := range []time.Duration{time.Duration(stream.IdleTime) + time.Second, time.Minute, time.Minute}[:sample.Part(3, 3)] {
		t.Run(gap.String(), func(t *testing.T) { joined(t, files, gap) })
		random.Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
	}
}

func joined(t *testing.T, files []string, gap time.Duration) {
	t.Helper()
	var out bytes.Buffer
	w := fabricagent.NewWriter(&out, "")
	if _, err := w.AddTap(fabricagent.Tap{Link: fabricagent.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	places, alone, packets := []string{""}, map[string]int{}, uint64(0)
	end := int64(1e18)
	for _, name := range files {
		numbers, begin := map[uint64]uint64{}, end
		first := int64(0)
		framesOf(t, name, func(f *fabricagent.Frame) {
			if f.Link != fabricagent.LinkEthernet {
				return
			}
			if first == 0 {
				first = f.Time
			}
			f.Time += begin - first
			end = max(end, f.Time)
			f.Tap = 0
			if err := w.Write(f, ""); err != nil {
				t.Fatal(err)
			}
			numbers[f.Number] = uint64(len(places))
			places = append(places, fmt.Sprintf("%s:%d", filepath.Base(name), f.Number))
		})
		end += int64(gap)
		src, err := fabricagent.Open([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		list, sent := violations(t, src)
		if len(numbers) > 0 {
			packets += sent
		}
		for _, f := range list {
			if n, ok := numbers[f.Frame]; ok {
				f.Frame = n
				alone[key(&f)]++
			}
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	src, err := fabricagent.OpenReader("joined", &out)
	if err != nil {
		t.Fatal(err)
	}
	n := len(alone)
	list, sent := violations(t, src)
	// Where a QP number comes back as one of another service, its first packet may be a wrong opcode on the old one, and belongs to neither.
	if sent > packets || packets-sent > 10 {
		t.Errorf("%d packets in the table of connections, %d in those of only the captures", sent, packets)
	}
	for _, f := range list {
		k := key(&f)
		if alone[k]--; alone[k] < 0 {
			t.Errorf("%s: %s", places[f.Frame], k)
		}
	}
	lacks := 0
	for k, n := range alone {
		if n > 0 {
			lacks += n
			t.Logf("not found: %s", k)
		}
	}
	t.Logf("%d files, %d frames, %d violations of which %d are not found", len(files), len(places)-1, n, lacks)
	if lacks*20 > n {
		t.Error("those are too many")
	}
}

// framesOf calls f with each frame of a file.
func framesOf(t *testing.T, name string, f func(*fabricagent.Frame)) {
	t.Helper()
	src, err := fabricagent.Open([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				f(&b.Frames[i])
			}
			b.Release()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// violations verifies a source, and returns the violations and how many packets the table of connections counts.
func violations(t *testing.T, src fabricagent.Source) (list []rule.Finding, packets uint64) {
	t.Helper()
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Connections {
		packets += c.Ends[0].Packets + c.Ends[1].Packets
	}
	return slices.DeleteFunc(r.Findings, func(f rule.Finding) bool { return f.Class != rule.Violation }), packets
}

func key(f *rule.Finding) string {
	return fmt.Sprintf("frame %d %v %v %v: %s, %s", f.Frame, f.Rule, f.PSN, f.Accused, f.Expected, f.Actual)
}
