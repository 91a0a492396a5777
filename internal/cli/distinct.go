package cli

import (
	"fmt"
	"os"
	"path/filepath"
)

// file is a file that a command reads or writes, and what on the command line names it.
type file struct {
	as, path string
	written  bool
}

// reads and writes list files; a path that is empty is no file, and - is standard input where it is read.
func reads(as string, paths ...string) (list []file)  { return files(as, false, paths) }
func writes(as string, paths ...string) (list []file) { return files(as, true, paths) }

func files(as string, written bool, paths []string) (list []file) {
	for _, p := range paths {
		if p != "" && (p != "-" || !written) {
			list = append(list, file{as, p, written})
		}
	}
	return list
}

// distinct reports a file that is written and is another one of the list too, also by way of links. Terminals, pipes and the like hold nothing that could
// be lost.
func distinct(lists ...[]file) error {
	var all []file
	for _, l := range lists {
		all = append(all, l...)
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if (a.written || b.written) && same(a.path, b.path) {
				w, other := a, b
				if !a.written {
					w, other = b, a
				}
				return fmt.Errorf("cli: %s %s would overwrite %s %s: give another file", w.as, w.path, other.as, other.path)
			}
		}
	}
	return nil
}

// same reports whether two paths are of the same regular file, or will be once it is there.
func same(a, b string) bool {
	x, err1 := stat(a)
	y, err2 := stat(b)
	if err1 == nil && err2 == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return err1 != nil && err2 != nil && target(a) == target(b)
}

// stat describes a file, or standard input.
func stat(path string) (os.FileInfo, error) {
	if path == "-" {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
}

// target is where a file will be that is not there yet.
func target(path string) string {
	const most = 40 // links
	for range most {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path
}
