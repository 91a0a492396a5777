package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "captures")
	}
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

// TestWorkersAgree: findings, connections, coverage and all else are the same for 1, 2 and 8 workers.
func TestWorkersAgree(t *testing.T) {
	captured(t, func(t *testing.T, open func() fabricagent.Source) {
		var want *Result
		for _, n := range []int{1, 2, 8} {
			src := open()
			r, err := Run(context.Background(), src, Options{Workers: n, Latencies: true})
			src.Close()
			if err != nil {
				t.Log(err)
			}
			if n == 1 {
				want = r
			} else if d := cmp.Diff(want, r); d != "" {
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
			if err := e.runSingle(context.Background()); err != nil {
				t.Log(err)
			}
			return e.result()
		}
		anywhere := result(true, nil)
		if d := cmp.Diff(anywhere, result(false, nil)); d != "" {
			t.Errorf("thorough (-) and fast (+):\n%s", d)
		}
		for _, ends := range [][]int{{0}, {1}, {0, 1}} {
			var near []packet.Addr
			for i := range anywhere.Connections {
				for _, k := range ends {
					near = append(near, anywhere.Connections[i].Ends[k].Addr)
				}
			}
			if d := cmp.Diff(result(true, near), result(false, near)); d != "" {
				t.Errorf("near ends %v, thorough (-) and fast (+):\n%s", ends, d)
			}
		}
	})
}
