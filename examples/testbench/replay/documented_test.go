package replay

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	shown = regexp.MustCompile("(?s)```shell\n(.*?)```")
	fence = regexp.MustCompile("(?s)```.*?```")
	said  = regexp.MustCompile(`(?m)^    (\S.*)$`)
	line  = regexp.MustCompile(`\.vhd:\d+:\d+:`)
)

// What docs/attach.md shows works as it is written there, and says that.
func TestDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling takes long")
	}
	built(t, "verilator", "g++", "iverilog", "gcc", "ghdl", "bash")
	text, err := os.ReadFile(root + "/docs/attach.md")
	if err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	for _, m := range shown.FindAllSubmatch(text, -1) {
		script += string(m[1])
	}
	cmd := exec.Command("bash", "-c", strings.ReplaceAll(script, "bin/attach", filepath.Join(t.TempDir(), "attach")))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=OPT_FAST=-O0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	told := line.ReplaceAllString(string(out), ".vhd:")
	list := said.FindAllSubmatch(fence.ReplaceAll(text, nil), -1)
	if len(list) < 10 {
		t.Fatalf("docs/attach.md shows %d lines of output", len(list))
	}
	for _, m := range list {
		want := line.ReplaceAllString(string(m[1]), ".vhd:")
		_, after, ok := strings.Cut(told, want+"\n")
		if !ok {
			t.Fatalf("%q is not what comes next of\n%s", want, out)
		}
		told = after
	}
}
