package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ibwitness/internal/testkit/sample"
)

// TestReproducible: the same sources give the same program in whichever folder, and make run shows it.
func TestReproducible(t *testing.T) {
	sample.Skip(t, "it builds the program twice")
	var programs [2][]byte
	dir := ""
	for i := range programs {
		dir = filepath.Join(t.TempDir(), "sources")
		if err := copyTree(dir, "../.."); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("make", "build", "VERSION=test")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, "bin", "ibwitness"))
		if err != nil {
			t.Fatal(err)
		}
		if programs[i] = b; bytes.Contains(b, []byte(dir)) {
			t.Error("it contains the path of its folder")
		}
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("two folders give two programs")
	}
	captures, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(captures, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", "run", "VERSION=test")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("\nVIOLATED  ")) || !bytes.Contains(out, []byte("\nExit status 1: ")) {
		t.Errorf("make run: %v: %s", err, out)
	}
}

// copyTree copies the sources, without what is built from them.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "bin", "dist", "testdata"}, d.Name()) {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o644)
	})
}
