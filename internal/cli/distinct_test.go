package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDistinct finds files that are the same by every way to name them.
func TestDistinct(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("in"), nil, 0o600), os.Link(at("in"), at("hard")), os.Symlink("in", at("soft")), os.Symlink("new", at("dangling")),
		os.Symlink(dir, at("folder")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, k := range []struct {
		a, b string
		same bool
	}{
		{at("in"), at("in"), true},
		{at("in"), "in", true},
		{at("in"), "./folder/in", true},
		{at("in"), at("hard"), true},
		{at("in"), at("soft"), true},
		{at("new"), "new", true},
		{at("new"), at("dangling"), true},
		{at("new"), "folder/new", true},
		{at("in"), at("new"), false},
		{at("new"), at("newer"), false},
		{"none/new", "none/new", true},
		{os.DevNull, os.DevNull, false},
	} {
		err := distinct(reads("the capture", k.a), writes("--html", k.b))
		if err != nil != k.same {
			t.Errorf("%s and %s: %v", k.a, k.b, err)
		}
		if k.same && !strings.Contains(err.Error(), "--html "+k.b+" would overwrite the capture "+k.a) {
			t.Error(err)
		}
		if err := distinct(reads("the capture", k.a), reads("--events", k.b)); err != nil {
			t.Errorf("read twice: %v", err)
		}
		if err := distinct(writes("--annotate", k.a), writes("--html", k.b)); err != nil != k.same {
			t.Errorf("both written, %s and %s: %v", k.a, k.b, err)
		}
	}
}

// TestDistinctStandardInput: what comes from a file by way of standard input is not overwritten either.
func TestDistinctStandardInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	old := os.Stdin
	defer func() { os.Stdin = old }()
	os.Stdin = f
	if err := distinct(reads("the capture", "-"), writes("--html", path)); err == nil || !strings.Contains(err.Error(), "--html "+path+" would overwrite the capture -") {
		t.Error(err)
	}
	if err := distinct(reads("the capture", "-"), writes("--html", path+"2")); err != nil {
		t.Error(err)
	}
}

// TestOverwrites refuses to write what a command reads or writes otherwise, and touches none of it.
func TestOverwrites(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	copies := map[string]string{}
	text, err := os.ReadFile("../../examples/send.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s.yaml", "s.b.yaml"} {
		copies[name] = string(text)
		if err := os.WriteFile(at(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("s.yaml", at("link")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "--annotate", at("new"), "--html", at("new"), at("s.yaml")},
		{"check", "--annotate", at("s.yaml"), at("link")},
		{"check", "--html", at("link"), at("s.yaml")},
		{"check", "--events", at("s.yaml"), "--annotate", at("link"), at("s.b.yaml")},
		{"simulate", "--write", at("s.yaml"), at("s.yaml")},
		{"simulate", "--write", at("s.yaml"), at("link")},
		{"simulate", "--write", at("x.a.jsonl"), "--events", at("x.jsonl"), at("s.yaml")},
		{"simulate", "--events", at("s.yaml"), at("s.b.yaml")},
		{"watch", "-i", "lo", "--config", at("s.c.yaml"), "--log", at("s.c.yaml")},
	} {
		if err := os.WriteFile(at("s.c.yaml"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, _, errs := run(t, args...); status != 2 || !strings.Contains(errs, "would overwrite") {
			t.Errorf("%q: exit status %d: %s", args, status, errs)
		}
		for name, text := range copies {
			if got, err := os.ReadFile(at(name)); err != nil || string(got) != text {
				t.Fatalf("%q has written %s", args, name)
			}
		}
	}
	if status, _, errs := run(t, "simulate", "/dev/zero"); status != 2 || !strings.Contains(errs, "give another file") {
		t.Errorf("/dev/zero: exit status %d: %s", status, errs)
	}
}

// TestUnwritable: a file that cannot be written is told of with what to do, after what was judged.
func TestUnwritable(t *testing.T) {
	for _, option := range []string{"--html", "--annotate"} {
		status, out, errs := run(t, "check", option, t.TempDir(), "../../testdata/captures/rnr_retry_exceeded.pcap")
		if status != 2 || !strings.HasPrefix(out, "VIOLATED") || !strings.Contains(errs, option) || !strings.Contains(errs, "give a file that can be written") {
			t.Errorf("%s: exit status %d: %s%s", option, status, out, errs)
		}
	}
}
