package attach_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shown is the block of docs/attach.md in a language that has a text in it.
func shown(t *testing.T, language, with string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/attach.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		if block, _, _ = strings.Cut(block, "\n```"); strings.Contains(block, with) {
			return block
		}
	}
	t.Fatalf("docs/attach.md has no %s with %s", language, with)
	return ""
}

// TestDocumentedCxx: what the documentation shows of C++ compiles without a warning, and runs.
func TestDocumentedCxx(t *testing.T) {
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	include, body, _ := strings.Cut(shown(t, "c++", "ibw_on_finding"), "\n")
	source := include + `
#include <cstdio>
static uint64_t main_time_ps = 1000;
int main() {
  uint8_t data[64] = {0};
  size_t size = sizeof data;
` + body + "\n  return errors;\n}\n"
	name := filepath.Join(folder, "main.cpp")
	if err := os.WriteFile(name, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs("c")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "main")
	out, err := exec.Command("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", header, "-o", program, name, "-L", dir, "-libwitness", "-Wl,-rpath,"+dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, report := range []string{"run.html", "run.xml"} {
		if info, err := os.Stat(filepath.Join(folder, report)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", report, err)
		}
	}
}

// TestDocumentedPython: what the documentation shows of Python has no error in its syntax.
func TestDocumentedPython(t *testing.T) {
	cmd := exec.Command("python3", "-c", "import sys; compile(sys.stdin.read(), 'docs/attach.md', 'exec')")
	cmd.Stdin = strings.NewReader(shown(t, "python", "StreamMonitor"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestDocumentedGo: the commands that the documentation has for a module of one's own make one that finds package attach.
func TestDocumentedGo(t *testing.T) {
	text, err := os.ReadFile("../docs/attach.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`(go mod edit [^`]*)` and `(go mod tidy)`").FindSubmatch(text)
	if found == nil {
		t.Fatal("docs/attach.md does not say how a module finds ibwitness")
	}
	dir := t.TempDir()
	const source = `package main

import "ibwitness/attach"

func main() {
	r, err := attach.Open(nil)
	if err == nil {
		_, err = r.End(0)
	}
	if err != nil {
		panic(err)
	}
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", "go mod init example\n"+string(found[1])+"\n"+string(found[2])+"\ngo run .")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IBW="+root, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
