package agent

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// captured calls f for generated traffic with and without faults, and for every capture of soft-RoCE that there is.
func captured(t *testing.T, f func(t *testing.T, open func() fabricagent.Source)) {
	few := traffic.Small(300)
	few.Faults = 200
	many := traffic.Large(40)
	many.Faults, many.Seed = 30, 7
	two := traffic.Shape{Connections: 100, Hosts: 2, PMTU: 256, Message: 700, Mix: traffic.Mix{Write: 20, Read: 40, Atomic: 20}, Faults: 100}
	wide, pair := traffic.Small(3000), traffic.Large(10)
	wide.Faults, wide.Seed, pair.Faults, pair.Hosts = 500, 3, 200, 2
	for name, s := range map[string]traffic.Shape{
		"small": few, "large": many, "two hosts": two, "clean": traffic.Small(64), "many connections": wide, "large between two hosts": pair,
	} {
		raw := traffic.Capture(s, sample.Part(60_000, 6))
		t.Run(name, func(t *testing.T) {
			f(t, func() fabricagent.Source {
				src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
				if err != nil {
					t.Fatal(err)
				}
				return src
			})
		})
	}
	dir := capturesDir()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "*.pcap"))
	if len(paths) == 0 {
		t.Logf("no captures at %s: only generated traffic; set IBWITNESS_CAPTURES", dir)
	}
	own, _ := filepath.Glob(filepath.Join("..", "testdata", "captures", "*.pcap*"))
	for i, path := range append(paths, own...) {
		if i%sample.Stride(20) > 0 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			f(t, func() fabricagent.Source {
				src, err := fabricagent.Open([]string{path})
				if err != nil {
					t.Fatal(err)
				}
				return src
			})
		})
	}
}

// sameTiming reports whether two results say the same of messages. With cmp.Diff it would take long.
func sameTiming(a, b *Result) bool {
	same := len(a.Connections) == len(b.Connections)
	for i := range a.Connections {
		same = same && reflect.DeepEqual(a.Connections[i].Timing, b.Connections[i].Timing)
	}
	return same
}

// untimed leaves out what sameTiming compares.
var untimed = cmpopts.IgnoreFields(Connection{}, "Timing")

// TestWorkersAgree: findings, connections, coverage and all else are the same for 1, 2 and 8 workers.
func TestWorkersAgree(t *testing.T) {
	captured(t, func(t *testing.T, open func() fabricagent.Source) {
		var want *Result
		for _, n := range []int{1, 2, 8} {
			src := open()
			r, err := Run(context.Background(), src, Options{Workers: n, Latencies: true, Timing: true, Messages: 5000})
			src.Close()
			if err != nil {
				t.Log(err)
			}
			if n == 1 {
				want = r
				continue
			}
			if !sameTiming(want, r) {
				t.Errorf("%d workers: messages differ", n)
			}
			if d := cmp.Diff(want, r, untimed); d != "" {
				t.Errorf("%d workers:\n%s", n, d)
			}
		}
	})
}

// TestExpected: the fast paths of the verifiers find and count what the verifiers proper do, wherever the tap is.
func TestExpected(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	captured(t, func(t *testing.T, open func() fabricagent.Source) {
		result := func(thorough bool, near []packet.Addr) *Result {
			src := open()
			defer src.Close()
			e := &engine{src: src, shards: []*shard{{t: NewTransport(near)}}}
			e.shards[0].t.ver.Thorough, e.shards[0].t.table.Thorough, e.shards[0].t.rc.Latencies = thorough, thorough, new(verifier.Latencies)
			e.shards[0].t.measure(5000)
			if err := e.runSingle(context.Background()); err != nil {
				t.Log(err)
			}
			return e.result()
		}
		compare := func(where string, thorough, fast *Result) {
			if d := cmp.Diff(thorough, fast, untimed); d != "" {
				t.Errorf("%sthorough (-) and fast (+):\n%s", where, d)
			}
			if !sameTiming(thorough, fast) {
				t.Errorf("%smessages differ", where)
			}
		}
		anywhere := result(true, nil)
		compare("", anywhere, result(false, nil))
		for _, ends := range [][]int{{0}, {1}, {0, 1}} {
			var near []packet.Addr
			for i := range anywhere.Connections {
				for _, k := range ends {
					near = append(near, anywhere.Connections[i].Ends[k].Addr)
				}
			}
			compare(fmt.Sprintf("near ends %v, ", ends), result(true, near), result(false, near))
		}
	})
}
