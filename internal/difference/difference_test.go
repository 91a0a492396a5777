package difference

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/internal/testkit/traffic"
)

func run(t *testing.T, src fabricagent.Source, err error) *Run {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Timing: true})
	if err != nil {
		t.Fatal(err)
	}
	return &Run{r, incident.Of(r)}
}

// generated is a run whose times are so many times as long, from the first frame on.
func generated(t *testing.T, seed uint64, times int64) *Run {
	t.Helper()
	shape := traffic.Small(20)
	shape.Seed = seed
	raw := traffic.Capture(shape, 20_000)
	first := int64(-1)
	for b := raw[24:]; len(b) > 16; {
		at := int64(binary.LittleEndian.Uint32(b))*1e9 + int64(binary.LittleEndian.Uint32(b[4:]))
		if first < 0 {
			first = at
		}
		at = first + (at-first)*times
		binary.LittleEndian.PutUint32(b, uint32(at/1e9))
		binary.LittleEndian.PutUint32(b[4:], uint32(at%1e9))
		b = b[16+binary.LittleEndian.Uint32(b[8:]):]
	}
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
	return run(t, src, err)
}

func captured(t *testing.T, name string) *Run {
	t.Helper()
	src, err := fabricagent.Open([]string{filepath.Join("..", "..", "testdata", "captures", name)})
	return run(t, src, err)
}

// TestSame: other messages of the same kind are no difference, nor is a run one from itself.
func TestSame(t *testing.T) {
	a := generated(t, 1, 1)
	for seed := range uint64(6) {
		if d := Of(a, generated(t, seed, 1)); !d.Same() || d.Compared != 30 {
			t.Errorf("seed %d: %+v", seed, d)
		}
	}
	k := captured(t, "k6.1_nfs_link_flap.pcap.zst")
	if d := Of(k, captured(t, "k6.1_nfs_link_flap.pcap.zst")); !d.Same() || d.Compared == 0 {
		t.Errorf("%+v", d)
	}
}

// TestSlower: what takes twice as long is slower, and the other way round faster, by about as much.
func TestSlower(t *testing.T) {
	a, b := generated(t, 1, 1), generated(t, 2, 2)
	d, back := Of(a, b), Of(b, a)
	if !d.Regressed() || len(d.Slower) == 0 || len(d.Faster)+len(d.New)+len(d.Worse) != 0 || len(d.Rates) == 0 {
		t.Fatalf("%+v", d)
	}
	for _, q := range d.Slower {
		if q.Times() < 1.5 || q.Times() > 2.7 {
			t.Errorf("%v %v p%v: %v times", q.Hosts, q.Op, 100*q.Share, q.Times())
		}
	}
	if back.Regressed() || len(back.Faster) != len(d.Slower) {
		t.Errorf("%d are slower, and back %d faster, %d slower", len(d.Slower), len(back.Faster), len(back.Slower))
	}
}

// TestNew: what happened in one run only is new in it, and gone in the other.
func TestNew(t *testing.T) {
	clean, dead := generated(t, 1, 1), captured(t, "k6.1_nfs_link_flap.pcap.zst")
	d := Of(clean, dead)
	if !d.Together || !d.Regressed() || len(d.New) == 0 || len(d.OnlyA)+len(d.OnlyB) != 0 {
		t.Errorf("%+v", d)
	}
	if d := Of(dead, clean); len(d.Gone) == 0 || len(d.New) != 0 {
		t.Errorf("%+v", d)
	}
}
