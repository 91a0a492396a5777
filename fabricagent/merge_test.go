package fabricagent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// order is what a merge decides: which frame of which tap comes next.
func order(frames []Frame) []string {
	var s []string
	for _, f := range frames {
		s = append(s, fmt.Sprintf("%d:%d", f.Tap, f.Number))
	}
	return s
}

func TestMergeOrder(t *testing.T) {
	file := func(name string, times ...int64) string {
		p := newPcap(binary.LittleEndian, magicNano, 0, 1)
		for i, at := range times {
			p.frame(start+at, 60, payload(i, 60))
		}
		return write(t, name, p.b)
	}
	g := newNG(binary.LittleEndian).section().iface(LinkEthernet, 0, opt{9, []byte{9}}).iface(LinkEthernet, 0, opt{9, []byte{9}})
	for _, f := range []struct {
		id uint32
		at int64
	}{{0, 15}, {1, 20}, {0, 40}} {
		g.enhanced(f.id, uint64(start+f.at), 60, payload(1, 60))
	}
	s, err := Open([]string{
		file("a", 10, 20, 30, 30),
		file("b", 20, 5, 21, 30), // steps back: the second frame counts as not before 20
		write(t, "c", g.b),       // two interfaces
		file("d"),                // no frame at all
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	frames, err := readAll(t, s)
	if err != nil {
		t.Fatal(err)
	}
	// Tap 2 is file d, opened before the interfaces of file c are known.
	want := []string{"0:1", "3:1", "0:2", "1:1", "1:2", "4:2", "1:3", "0:3", "0:4", "1:4", "3:3"}
	if d := cmp.Diff(want, order(frames)); d != "" {
		t.Error(d)
	}
	if n := len(s.Taps()); n != 5 {
		t.Errorf("%d taps", n)
	}
}

// TestMergeMany merges files at random against a plain sort, with batches held and released by other goroutines.
func TestMergeMany(t *testing.T) {
	for _, n := range []int{1, 2, 3, 12} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			dir := t.TempDir()
			files := make([]*pcapFile, n)
			last := make([]int64, n)
			for i := range files {
				files[i] = newPcap(binary.LittleEndian, magicNano, 0, 1)
				last[i] = start
			}
			total := 20000
			for i := range total {
				k := r.IntN(n)
				last[k] += int64(r.IntN(100))
				d := payload(i, 60+r.IntN(500))
				files[k].frame(last[k], len(d), d)
			}
			var paths []string
			want := make([][]Frame, n)
			for i, f := range files {
				path := filepath.Join(dir, fmt.Sprint(i))
				if err := os.WriteFile(path, f.b, 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
				want[i], _, _ = readBytes(t, f.b)
			}
			s, err := Open(paths)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var wg sync.WaitGroup
			var before int64
			seen := 0
			held := make(chan *Batch, 20)
			for range 3 {
				wg.Go(func() {
					for b := range held {
						for i := range b.Frames {
							f := &b.Frames[i]
							if w := want[f.Tap][f.Number-1]; !bytes.Equal(w.Data, f.Data) || w.Time != f.Time {
								t.Errorf("tap %d frame %d is not as written", f.Tap, f.Number)
							}
						}
						b.Release()
					}
				})
			}
			for {
				b, err := s.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Error(err)
					break
				}
				for _, f := range b.Frames {
					if f.Time < before {
						t.Errorf("tap %d frame %d comes too late", f.Tap, f.Number)
					}
					before = f.Time
				}
				seen += len(b.Frames)
				held <- b
			}
			close(held)
			wg.Wait()
			if seen != total {
				t.Errorf("%d frames, want %d", seen, total)
			}
		})
	}
}

// TestMergeHeld keeps a batch whose predecessor was released, so that both may have the same buffers, while the source
// is read on.
func TestMergeHeld(t *testing.T) {
	var paths []string
	var want [][]Frame
	for i := range 2 {
		f := newPcap(binary.LittleEndian, magicNano, 0, 1)
		for k := range 5000 {
			d := payload(2*k+i, 100)
			f.frame(start+int64(100*k+i), len(d), d)
		}
		paths = append(paths, write(t, fmt.Sprint(i), f.b))
		frames, _, _ := readBytes(t, f.b)
		want = append(want, frames)
	}
	s, err := Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var kept []*Batch
	for n := 0; ; n++ {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			b.Release()
		} else {
			kept = append(kept, b)
		}
	}
	for _, b := range kept {
		for i := range b.Frames {
			f := &b.Frames[i]
			if w := want[f.Tap][f.Number-1]; !bytes.Equal(w.Data, f.Data) || w.Time != f.Time {
				t.Fatalf("tap %d frame %d is not as written", f.Tap, f.Number)
			}
		}
		b.Release()
	}
}

// TestMergeErrors goes on with the other files, and reports all errors at the end in the order of the files.
func TestMergeErrors(t *testing.T) {
	good := sample(600).b
	cut := good[:len(good)/2]
	bad := append(bytes.Clone(good), bytes.Repeat([]byte{0xff}, 50)...)
	paths := []string{
		write(t, "text", []byte("nothing")), write(t, "bad", bad), filepath.Join(t.TempDir(), "none"), write(t, "good", good),
		write(t, "cut", cut),
	}
	s, err := Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := readAll(t, s)
	want := []ErrKind{NotACapture, Garbage, NotFound, CutShort}
	var got []ErrKind
	for _, fe := range FileErrors(err) {
		got = append(got, fe.Kind)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, k := range want {
		if !errors.Is(err, k) {
			t.Errorf("errors.Is does not find %v", k)
		}
	}
	counts := map[uint16]int{}
	for _, f := range frames {
		counts[f.Tap]++
	}
	if counts[0] != 600 || counts[1] != 600 || counts[2] < 200 {
		t.Errorf("frames by tap: %v", counts)
	}
	if _, err := s.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	// One usable file beside a missing one is read without a merge.
	s, err = Open([]string{paths[2], paths[3]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if frames, err := readAll(t, s); len(frames) != 600 || !errors.Is(err, NotFound) {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

// TestClose closes in the middle, twice, with a batch still in use.
func TestClose(t *testing.T) {
	path := write(t, "x", sample(2000).b)
	for _, paths := range [][]string{{path}, {path, path}} {
		s, err := Open(paths)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("after Close: %v", err)
		}
		if len(b.Frames) != BatchSize || !bytes.Equal(b.Frames[0].Data, payload(0, 100)) {
			t.Error("the batch did not survive Close")
		}
		b.Release()
		b.Release()
	}
}
