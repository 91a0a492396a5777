//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoDescriptors: while no file can be opened the journal goes on in the one that it has, and no older one is lost.
func TestNoDescriptors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var failures []error
	l, _ := open(t, path, Options{Size: 300, Files: 2, Failed: func(err error) { failures = append(failures, err) }})
	lines := func(n int) {
		for range n {
			write(t, l, "some text that takes a while")
			l.Flush()
		}
	}
	lines(25)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	lines(200)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	list := read(t, path+".2", path+".1", path)
	follows(t, list, 226-uint64(len(list)), uint64(len(list)))
	if len(list) < 205 || len(failures) != 1 || l.Stats() != (Stats{Lines: 225}) {
		t.Errorf("%d lines are kept, %v, %+v", len(list), failures, l.Stats())
	}
	lines(1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if last := read(t, path); len(last) != 1 || last[0].Seq != 226 {
		t.Errorf("it did not turn: %v", last)
	}
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("a file is left")
	}
}
