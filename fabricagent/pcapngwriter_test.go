package fabricagent

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/packet"
)

// TestWriter: what is written is read again, with times, ways, snapped lengths and names.
func TestWriter(t *testing.T) {
	want := []Frame{
		{Time: start, Number: 1, Tap: 0, Link: LinkEthernet, Len: 3, Data: []byte{1, 2, 3}},
		{Time: start + 1, Number: 2, Tap: 1, Link: LinkInfiniBand, Way: packet.WayIn, Len: 100, Data: []byte{4, 5, 6, 7}},
		{Time: start + 1<<40, Number: 3, Tap: 0, Link: LinkEthernet, Way: packet.WayOut, Len: 0, Data: []byte{}},
		{Time: 5, Number: 4, Tap: 1, Link: LinkInfiniBand, Len: 1, Data: []byte{9}},
	}
	var buf bytes.Buffer
	w := NewWriter(&buf, "test")
	for i, tap := range []Tap{{Interface: "left", Link: LinkEthernet, Speed: 100e9}, {Link: LinkInfiniBand, SnapLen: 4}} {
		if n, err := w.AddTap(tap); err != nil || int(n) != i {
			t.Fatal(n, err)
		}
	}
	for i := range want {
		if err := w.Write(&want[i], strings.Repeat("comment ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write(&Frame{Tap: 2}, ""); err == nil {
		t.Error("a frame of a tap that does not exist was written")
	}
	if err := w.Drops(1, 7, start); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	src, err := OpenReader("written", &buf)
	if err != nil {
		t.Fatal(err)
	}
	b, err := src.Next()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, slices.Clone(b.Frames)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Tap{{File: "written", Interface: "left", Link: LinkEthernet, Speed: 100e9}, {File: "written", Link: LinkInfiniBand, SnapLen: 4, Dropped: 7}}, src.Taps()); d != "" {
		t.Error(d)
	}
	if _, err := src.Next(); err != io.EOF {
		t.Error(err)
	}
}

// full takes n bytes.
type full struct{ n int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriterFull: what cannot be written is said at the latest by Flush, and stays said.
func TestWriterFull(t *testing.T) {
	w := NewWriter(&full{100 << 10}, "")
	if _, err := w.AddTap(Tap{Link: LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	f := Frame{Data: make([]byte, 1000)}
	var err error
	for range 300 {
		err = w.Write(&f, "")
	}
	if !errors.Is(err, errFull) || !errors.Is(w.Flush(), errFull) {
		t.Error(err)
	}
	w = NewWriter(&full{}, "")
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
