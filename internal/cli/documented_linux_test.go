package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibwitness/internal/need"
	"ibwitness/internal/veth"
)

// documented are the commands that the README, the pages of docs/ and --help of each command give as examples, each once and without remarks.
func documented(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, f := range append(files, "../../README.md") {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(b, -1) {
			texts = append(texts, string(block[1]))
		}
	}
	indented := regexp.MustCompile(`(?m)^    (\S.*)$`)
	for _, c := range []interface{ Help() string }{checkCommand{}, watchCommand{}, rulesCommand{}, simulateCommand{}} {
		for _, m := range indented.FindAllStringSubmatch(c.Help(), -1) {
			texts = append(texts, m[1])
		}
	}
	for _, l := range strings.Split(strings.Join(texts, "\n"), "\n") {
		l, _, _ = strings.Cut(l, "  #")
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "ibwitness ") && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// TestDocumented runs every example of the documentation, with captures of its names: each does what it is there for, and what a pipe ends in has no gap.
func TestDocumented(t *testing.T) {
	need.Program(t, "jq")
	bash := need.Program(t, "bash")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	capture, err := os.ReadFile("../../testdata/captures/rnr_retry_exceeded.pcap")
	if err != nil {
		t.Fatal(err)
	}
	list := documented(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"trace.pcap", "trace.pcapng", "trace.pcap.gz", "t.pcap", "left.pcap", "right.pcap", "nightly-1.pcap", "nightly-2.pcap"} {
		if err := os.WriteFile(filepath.Join(dir, name), capture, 0o600); err != nil { // what it is, is seen in its first bytes
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "ibwitness")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	run := func(line string) (stdout, stderr string, status int) {
		t.Helper()
		c := exec.Command(bash, "-o", "pipefail", "-c", line)
		c.Dir = dir
		c.Env = append(os.Environ(), asCommand+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
		var out, log bytes.Buffer
		c.Stdout, c.Stderr = &out, &log
		_ = c.Run()
		return out.String(), log.String(), c.ProcessState.ExitCode()
	}
	if _, log, status := run("ibwitness simulate --write lost.pcapng --events lost.jsonl examples/lost-request.yaml && cp lost.a.jsonl a.jsonl && cp lost.a.jsonl client.jsonl && cp lost.b.jsonl server.jsonl"); status != 0 {
		t.Fatal(log)
	}
	ran := 0
	for _, line := range list {
		if strings.HasPrefix(line, "ibwitness watch ") || strings.HasPrefix(line, "ibwitness completion ") || strings.Contains(line, " --web ") {
			continue
		}
		ran++
		out, log, status := run(line)
		if status > 1 || strings.TrimSpace(out) == "" || strings.HasPrefix(out, "null") || strings.Contains(out, "\nnull\n") {
			t.Errorf("$ %s\nends with %d and prints %q, %q", line, status, out, log)
		}
	}
	if ran < 15 {
		t.Errorf("only %d examples were found", ran)
	}
}

// TestDocumentedWatch starts ibwitness watch as every example does.
func TestDocumentedWatch(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	list := documented(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("web.yaml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, line := range list {
		args, watch := strings.CutPrefix(line, "ibwitness watch ")
		if !watch {
			continue
		}
		ran++
		args, _, _ = strings.Cut(args, " | ")
		args = strings.NewReplacer("eth0", "left", "eth1", "right", "mirror0", "left").Replace(args)
		p := start(t, append([]string{"watch"}, strings.Fields(args)...)...)
		p.logs("watching")
		p.stop()
	}
	if ran < 4 {
		t.Errorf("only %d examples were found", ran)
	}
}
