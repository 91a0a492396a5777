package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepository looks at all texts of this module.
func TestRepository(t *testing.T) {
	hits, err := tree(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		t.Errorf("%s:%d: %q: say %s", h.path, h.line, h.phrase, h.use)
	}
}

// TestTree finds phrases in each kind of file, with their lines, and nothing else.
func TestTree(t *testing.T) {
	files := map[string]string{
		"a.go":            "package a\n\n// The ACK behind it.\nvar a = []string{\n\t\"the packet is sent \" +\n\t\t\"again\",\n\t`no packet\nbehind it`,\n\t\"rnr-resend-early\", \"behind\",\n\t\"the ladder stands\", // words: a ladder does stand\n\t\"the tap stands\", // words:\n} /* sent\nanew */\n\n// The switch stands. words: a switch does stand\n\n",
		"a_test.go":       "package a\n\nvar b = \"the frame behind it\" // the ACK alone\n",
		"agent/a_test.go": "package agent\n\nvar b = \"the frame behind it\" // the frame anew\n",
		"docs/a.md":       "A port\nbehind a mirror port, and one behind it.\nThe name is `rnr-resend-early`.\n",
		"page/a.js":       "// what stands here\nconst alone = text(\"alone\", \"the first alone\");\n",
		"testdata/a.md":   "behind it\n",
		".hidden/a.md":    "behind it\n",
		"examples/a.yaml": "about: The request comes again.\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := tree(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, h := range hits {
		name, err := filepath.Rel(dir, h.path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s:%d: %s\n", filepath.ToSlash(name), h.line, h.phrase)
	}
	const want = `a.go:3: behind
a.go:5: sent again
a.go:8: behind
a.go:11: stands
a.go:13: anew
a_test.go:3: alone
a_test.go:3: behind
agent/a_test.go:3: anew
agent/a_test.go:3: behind
docs/a.md:2: behind
examples/a.yaml:1: comes again
page/a.js:2: alone
`
	if got.String() != want {
		t.Errorf("found\n%s\nwant\n%s", got.String(), want)
	}
}

// TestList has a phrase for each word of the list, so that none has an expression that matches nothing.
func TestList(t *testing.T) {
	texts := []string{
		"sends the request again", "comes again", "the packet behind it", "learned anew", "the ACK alone", "an ACK stands for it", "it bears a RETH", "a younger PSN",
		"an older request", "held against the requester", "a new life", "could not be anchored", "where the tap is, is not known", "put to the test", "packets under way",
		"for want of an answer", "of its own accord", "out of sight of the tap", "a deaf tap", "headers that do not hold together",
	}
	if len(texts) != len(list) {
		t.Fatalf("%d texts for %d words", len(texts), len(list))
	}
	for i, text := range texts {
		if hits := find("", 1, text); len(hits) != 1 || hits[0].use != list[i].use {
			t.Errorf("%q: %v, want one that says %s", text, hits, list[i].use)
		}
	}
}
