package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"ibwitness/internal/testkit/programs"
	"ibwitness/internal/testkit/veth"
)

// example is how a command that the documentation shows is run.
type example int

const (
	exampleEnds   example = iota // it ends by itself
	exampleShell                 // it sets up the completion of a shell
	examplePage                  // it serves a page until Ctrl-C
	exampleWatch                 // it captures until Ctrl-C
	exampleAsks                  // it asks a program that captures
	exampleExtcap                // it has Wireshark find the program
	exampleElsewhere
)

// elsewhere are the commands that are not run here, and why.
var elsewhere = map[string]string{
	"make run":                         "TestReproducible runs it in a copy of the sources",
	"make test":                        "it runs this test",
	"systemctl enable --now ibwitness": "it needs a running systemd; TestInstall has systemd verify the service",
	"systemctl reload ibwitness":       "it needs a running systemd; TestNotify and TestReload do as it does",
	"journalctl -u ibwitness -o cat":   "it needs a running systemd",
	"ibwitness conform run --dut 10.0.0.7:4700 --secret FILE -i eth1": "it needs a device on another machine; TestConformLive has one on a network of its own",
}

func exampleOf(line string) example {
	switch _, listed := elsewhere[line]; {
	case listed:
		return exampleElsewhere
	case strings.Contains(line, "ibwitness completion "):
		return exampleShell
	case strings.Contains(line, " --web "):
		return examplePage
	case strings.HasPrefix(line, "ibwitness watch "), strings.HasPrefix(line, "tcpdump "):
		return exampleWatch
	case strings.HasPrefix(line, "curl "):
		return exampleAsks
	case strings.Contains(line, "wireshark/extcap"):
		return exampleExtcap
	}
	return exampleEnds
}

// documented are the commands that the README, the pages of docs/ and --help show, each once and without remarks.
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
	helps := []string{about}
	for _, c := range []interface{ Help() string }{checkCommand{}, watchCommand{}, rulesCommand{}, simulateCommand{}, exerciseCommand{}, completionCommand{}, coverageCommand{}, coverageMerge{}, coverageList{}} {
		helps = append(helps, c.Help())
	}
	indented := regexp.MustCompile(`(?m)^    (\S.*)$`)
	for _, help := range helps {
		found := indented.FindAllStringSubmatch(help, -1)
		if len(found) == 0 {
			t.Fatalf("no example in the help %q", help)
		}
		for _, m := range found {
			texts = append(texts, m[1])
		}
	}
	for _, l := range strings.Split(strings.Join(texts, "\n"), "\n") {
		l, _, _ = strings.Cut(l, "  #")
		if l = strings.TrimSpace(l); l != "" && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// documentedAs are those that are run in one way.
func documentedAs(t *testing.T, how example) (list []string) {
	t.Helper()
	for _, line := range documented(t) {
		if exampleOf(line) == how {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		t.Fatal("the documentation shows none")
	}
	return list
}

// bench is a folder with the program and the files that the documentation names, which is the home of a user too.
type bench struct {
	t    *testing.T
	dir  string
	bash string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t, t.TempDir(), programs.Find(t, "bash")}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	capture, err := os.ReadFile(naks)
	if err != nil {
		t.Fatal(err)
	}
	// Where it has no such folder, fish fills it from all manual pages, and goes on with that after its end.
	if err := os.MkdirAll(filepath.Join(b.dir, ".local/share/fish/generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"web.yaml": nil, ".zshrc": nil}
	for _, name := range []string{"trace.pcap", "trace.pcapng", "trace.pcap.gz", "t.pcap", "left.pcap", "right.pcap", "before.pcap", "after.pcap", "good.pcap", "bad.pcap.gz", "nightly-1.pcap", "nightly-2.pcap"} {
		files[name] = capture // what it is, is seen in its first bytes
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"ibwitness": self, "examples": examples} {
		if err := os.Symlink(to, filepath.Join(b.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// tcpdumps has tcpdump run as root, and reports whether it does: it gives up its groups all the same, which cannot be in a user namespace.
func (b *bench) tcpdumps() bool {
	b.t.Helper()
	b.wrap("tcpdump", programs.Find(b.t, "tcpdump")+" -Z root")
	groups, err := os.ReadFile("/proc/self/setgroups")
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSpace(string(groups)) != "deny"
}

// wrap puts a program there that runs another command with its arguments.
func (b *bench) wrap(name, command string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o700); err != nil {
		b.t.Fatal(err)
	}
}

// env is the environment of what is run there.
func (b *bench) env() []string {
	return []string{asCommand + "=1", "PATH=" + b.dir + ":" + os.Getenv("PATH"), "HOME=" + b.dir, "XDG_CONFIG_HOME=", "TERM=dumb"}
}

// run runs a line to its end.
func (b *bench) run(line string) (stdout, stderr string, status int) {
	b.t.Helper()
	return b.command("", b.bash, "-o", "pipefail", "-c", line)
}

// command runs a program to its end.
func (b *bench) command(stdin, program string, args ...string) (stdout, stderr string, status int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), eventually)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), b.env()...)
	var out, log bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &log
	_ = c.Run()
	return out.String(), log.String(), c.ProcessState.ExitCode()
}

// start starts a line in a process group of its own, as in a terminal.
func (b *bench) start(line string) *process {
	b.t.Helper()
	return launchAs(b.t, &syscall.SysProcAttr{Setpgid: true}, append(b.env(), "PWD="+b.dir), b.bash, "-o", "pipefail", "-c", "cd "+b.dir+"\n"+line)
}

// interrupt presses Ctrl-C, and returns how the line ends.
func (p *process) interrupt() (status int) {
	p.t.Helper()
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

// TestDocumented runs every example that ends by itself: each does what it is there for, and what a pipe ends in has no gap.
func TestDocumented(t *testing.T) {
	if raced {
		t.Skip("make unit runs it without the race detector, under which it takes long: what it runs is tested under it elsewhere")
	}
	programs.Find(t, "jq")
	b := newBench(t)
	if _, log, status := b.run("ibwitness simulate --write lost.pcapng --events lost.jsonl examples/lost-request.yaml && cp lost.a.jsonl a.jsonl && cp lost.a.jsonl client.jsonl && cp lost.b.jsonl server.jsonl"); status != 0 {
		t.Fatal(log)
	}
	list := documentedAs(t, exampleEnds)
	for _, line := range list {
		out, log, status := b.run(line)
		if status > 1 || strings.TrimSpace(out) == "" || strings.HasPrefix(out, "null") || strings.Contains(out, "\nnull\n") {
			t.Errorf("$ %s\nends with %d and prints %q, %q", line, status, out, log)
		}
	}
	if len(list) < 15 {
		t.Errorf("only %d examples were found", len(list))
	}
}

// TestDocumentedElsewhere: what is said to be run elsewhere is shown.
func TestDocumentedElsewhere(t *testing.T) {
	list := documented(t)
	for line, why := range elsewhere {
		if !slices.Contains(list, line) {
			t.Errorf("%q is not in the documentation, so that need not be said: %s", line, why)
		}
	}
}

// TestDocumentedShell sets up the completion of each shell in each way, and completes a word there: now, and always, in the next shell of the same user.
func TestDocumentedShell(t *testing.T) {
	if raced {
		t.Skip("make unit runs it without the race detector, under which it takes long: what it runs is tested under it elsewhere")
	}
	script := programs.Find(t, "script")
	const typed, want = "ibwitness vers\t\n", "ibwitness " // and the version
	told := regexp.MustCompile(`(?m)^(?:\x1b\[\S*)?` + want + `\S+.*, go1\.`)
	shells := map[string]int{}
	for _, line := range documentedAs(t, exampleShell) {
		shell := regexp.MustCompile(`completion (\w+)`).FindStringSubmatch(line)[1]
		shells[shell]++
		t.Run(line, func(t *testing.T) {
			b := newBench(t)
			interactive := programs.Find(t, shell) + " -i"
			input := line + "\n" + typed + "exit\n"
			if strings.Contains(line, " >> ") {
				if out, _, status := b.command(line+"\nexit\n", script, "-qec", interactive, "/dev/null"); status != 0 {
					t.Fatalf("exit status %d:\n%s", status, out)
				}
				input = typed + "exit\n"
			}
			out, _, status := b.command(input, script, "-qec", interactive, "/dev/null")
			if status != 0 || !told.MatchString(out) {
				t.Errorf("exit status %d, and the word is not completed:\n%s", status, out)
			}
		})
	}
	if len(shells) != 3 || shells["bash"] < 2 || shells["zsh"] < 2 || shells["fish"] < 2 {
		t.Errorf("found %v", shells)
	}
}

// TestDocumentedPage opens each page that an example serves, and ends it by Ctrl-C.
func TestDocumentedPage(t *testing.T) {
	b := newBench(t)
	for _, line := range documentedAs(t, examplePage) {
		p := b.start(line)
		url := p.logs(`"url":"([^"]+)"`)
		r, err := http.Get(url + "api/summary")
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Verdict string }
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got.Verdict != "VIOLATED" {
			t.Errorf("$ %s\nshows %+v, %v", line, got, err)
		}
		r.Body.Close()
		if status := p.interrupt(); status != 1 {
			t.Errorf("$ %s\nends with %d", line, status)
		}
	}
}

// TestDocumentedLive: every example that captures finds what is sent, and ends by Ctrl-C; what asks such a program is answered.
func TestDocumentedLive(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	b := newBench(t)
	b.wrap("jq", programs.Find(t, "jq")+" --unbuffered") // as in a terminal, each line at once
	tcpdumps := b.tcpdumps()
	list, asks := documentedAs(t, exampleWatch), documentedAs(t, exampleAsks)
	for _, line := range list {
		watch := strings.HasPrefix(line, "ibwitness watch ")
		if !watch && !tcpdumps {
			t.Logf("$ %s\nis not run: tcpdump needs to be root", line)
			continue
		}
		p := b.start(strings.NewReplacer("eth0", "right", "eth1", "left", "mirror0", "right", "mlx5_0", "right").Replace(line))
		if !watch {
			p.logs("listening on")
			replayFile(t, naks, "left")
			time.Sleep(2 * time.Second) // tcpdump gets the packets once a second
			p.interrupt()
			if out, _ := os.ReadFile(p.out); !bytes.Contains(out, []byte("RC-RSP-043  nak-duplicate")) || !bytes.Contains(out, []byte("26 frames")) {
				log, _ := os.ReadFile(p.log)
				t.Errorf("$ %s\nprints\n%s%s", line, out, log)
			}
			continue
		}
		p.logs("watching")
		violate(t, func() bool {
			p.settled("127.0.0.1:9846")
			out, _ := os.ReadFile(p.out)
			return bytes.Contains(out, []byte("RC-RSP-043"))
		})
		for _, ask := range asks {
			if out, log, status := b.run(ask); status != 0 || !strings.Contains(out, "\nibwitness_violations_total{") {
				t.Errorf("$ %s\nends with %d and prints %q, %q", ask, status, out, log)
			}
		}
		if status := p.interrupt(); status != 0 && !strings.Contains(line, "|") { // jq is interrupted too
			log, _ := os.ReadFile(p.log)
			t.Errorf("$ %s\nends with %d: %s", line, status, log)
		}
	}
	if len(list) < 5 {
		t.Errorf("only %d examples were found", len(list))
	}
}

// TestDocumentedCI runs the steps that the README gives for GitHub Actions, with processes of their own, as pkill finds all of a name.
func TestDocumentedCI(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	b := newBench(t)
	b.wrap("sudo", "")
	if !b.tcpdumps() {
		t.Skip("in a user namespace tcpdump cannot give up its groups: run make test as root")
	}
	b.wrap("run-rdma-tests", "sh -c 'touch began; until [ -e done ]; do sleep 0.1; done'")
	programs.Find(t, "pkill")
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n# GitHub Actions.*?\n(.*?)```").FindSubmatch(text)
	var steps []struct{ Name, Run string }
	if block == nil || yaml.Unmarshal(block[1], &steps) != nil || len(steps) != 2 {
		t.Fatalf("README.md shows no two steps: %q", block)
	}
	go func() {
		sent := until(func() bool { _, err := os.Stat(filepath.Join(b.dir, "began")); return err == nil })
		if sent {
			replayFile(t, naks, "left")
		}
		_ = os.WriteFile(filepath.Join(b.dir, "done"), nil, 0o600)
	}()
	for i, want := range []struct {
		status int
		out    string
	}{{0, ""}, {1, "RC-RSP-043  nak-duplicate"}} {
		step := strings.ReplaceAll(steps[i].Run, "eth0", "right")
		if out, log, status := b.command("", programs.Find(t, "unshare"), "--pid", "--fork", "--mount-proc", "--kill-child", b.bash, "-e", "-c", step); status != want.status || !strings.Contains(out, want.out) {
			t.Errorf("%s: exit status %d: %s%s", steps[i].Name, status, out, log)
		}
	}
}
