package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func open(t *testing.T, path string, o Options) (*Log, Opened) {
	t.Helper()
	l, found, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return l, found
}

func write(t *testing.T, l *Log, text string) {
	t.Helper()
	if _, err := fmt.Fprintf(l, "{\"text\":%q}\n", text); err != nil {
		t.Fatal(err)
	}
}

type line struct {
	Seq  uint64
	Text string
}

// read returns the lines of files, each of which must be whole.
func read(t *testing.T, paths ...string) (list []line) {
	t.Helper()
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for s := range strings.Lines(string(b)) {
			var l line
			if err := json.Unmarshal([]byte(s), &l); err != nil || !strings.HasSuffix(s, "\n") || !strings.HasPrefix(s, `{"seq":`) {
				t.Fatalf("%s: %v: %q", path, err, s)
			}
			list = append(list, l)
		}
	}
	return list
}

// follows checks that lines have the numbers from one on, without a gap.
func follows(t *testing.T, list []line, from, n uint64) {
	t.Helper()
	if uint64(len(list)) != n {
		t.Fatalf("%d lines, not %d", len(list), n)
	}
	for i := range list {
		if list[i].Seq != from+uint64(i) {
			t.Fatalf("line %d has number %d", i, list[i].Seq)
		}
	}
}

// TestTorn: wherever a line was torn, what was whole stays, and the numbers go on.
func TestTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, found := open(t, path, Options{})
	if found != (Opened{Next: 1}) {
		t.Errorf("%+v", found)
	}
	for _, s := range []string{"one", "two", strings.Repeat("three ", 2000)} {
		write(t, l, s)
		l.Flush()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	third := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for size := 0; size <= len(whole); size++ {
		if size > third+100 && size < len(whole)-20 && size%500 != 0 {
			continue
		}
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		l, found := open(t, path, Options{})
		write(t, l, "next")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		list := read(t, path)
		follows(t, list, 1, found.Next)
		lines := uint64(bytes.Count(whole[:size], []byte("\n")))
		closed := size > 0 && whole[size-1] == '}' // only the end is missing
		if closed {
			lines++
		}
		cut := int64(size) - int64(bytes.LastIndexByte(whole[:size], '\n')+1)
		if closed {
			cut = 0
		}
		if found != (Opened{Next: lines + 1, Cut: cut, Closed: closed}) {
			t.Fatalf("%d bytes: %+v", size, found)
		}
	}
}

// TestTurns: a file that is large enough is turned away, the oldest ones are removed, and the numbers go on, also where the program ends between.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	o := Options{Size: 300, Files: 3}
	n := uint64(0)
	for range 5 {
		l, found := open(t, path, o)
		if found.Next != n+1 {
			t.Fatalf("%+v after %d lines", found, n)
		}
		for range 37 {
			write(t, l, "some text")
			n++
			if n%3 == 0 {
				l.Flush()
				l.Sync()
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		list := read(t, path+".3", path+".2", path+".1", path)
		follows(t, list, n+1-uint64(len(list)), uint64(len(list)))
		if _, err := os.Stat(path + ".4"); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, p := range []string{path + ".1", path + ".2", path + ".3"} {
			if i, err := os.Stat(p); err != nil || i.Size() < o.Size || i.Size() > 2*o.Size {
				t.Errorf("%v %v", i, err)
			}
		}
	}
	if err := os.Rename(path, path+".1"); err != nil { // as one that is killed while it turns leaves it
		t.Fatal(err)
	}
	l, found := open(t, path, o)
	defer l.Close()
	if found.Next != n+1 {
		t.Errorf("%+v after %d lines", found, n)
	}
}

// TestRefused: what is no journal is not touched, and of two programs one writes.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _ := open(t, path, Options{})
	defer l.Close()
	if _, _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("some notes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(other, Options{}); err == nil || !strings.Contains(err.Error(), "no journal") {
		t.Error(err)
	}
	if b, _ := os.ReadFile(other); string(b) != "some notes\n" {
		t.Errorf("%q", b)
	}
	if _, err := l.Write([]byte("text\n")); err == nil {
		t.Error("a line that is no JSON is taken")
	}
}

// TestFull: while the disk is full, lines wait; those for which there is no room are a gap in the numbers.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	told := 0
	l, _ := open(t, path, Options{Failed: func(err error) {
		told++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Error(err)
		}
	}})
	write(t, l, "before")
	l.Flush()
	good := l.f
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	l.f = full
	const size = 1 << 16
	for range mostWaiting/size + 10 {
		write(t, l, strings.Repeat("x", size))
		l.Flush()
	}
	l.f = good
	lost := l.Stats().Lost
	l.Flush()
	write(t, l, "after")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list := read(t, path)
	n := uint64(len(list))
	follows(t, list[:n-1], 1, n-1)
	if last := list[n-1]; told != 1 || lost < 10 || last.Text != "after" || last.Seq != n+lost || l.Stats().Lines != n {
		t.Errorf("told %d times; %d lost; the last of %d is %d; %+v", told, lost, n, last.Seq, l.Stats())
	}
}

// TestMany: of lines that come at once none is lost, however many they are, as long as the file takes them.
func TestMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, _ := open(t, path, Options{})
	const n = 3 * mostWaiting / 1000
	for range n {
		write(t, l, strings.Repeat("x", 1000))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	follows(t, read(t, path), 1, n)
	if l.Stats() != (Stats{Lines: n}) {
		t.Errorf("%+v", l.Stats())
	}
}
