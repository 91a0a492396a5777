package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parseWatch parses a command line of watch with a configuration file, which it names {}.
func parseWatch(t *testing.T, file string, args ...string) (*grammar, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "watch.yaml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = parser.Parse(append([]string{"watch", "--config", path}, args...)); err != nil {
		return nil, strings.ReplaceAll(err.Error(), path, "{}")
	}
	return &g, ""
}

func TestConfig(t *testing.T) {
	const file = `
# what an administrator writes
interface: [eth0, eth1]
near: 10.0.0.1
idle: 90s
repeats: 3
events: yes
listen: ""
log-level: debug
`
	g, problem := parseWatch(t, file)
	if problem != "" {
		t.Fatal(problem)
	}
	w := &g.Watch
	if d := cmp.Diff([]string{"eth0", "eth1"}, w.Interface); d != "" || len(w.Near) != 1 || w.Idle != 90*time.Second || w.Repeats != 3 || !w.Events ||
		w.Listen != "" || g.LogLevel != "debug" || w.Sockets != 1 {
		t.Errorf("%+v, %s", *w, d)
	}
	if g, problem = parseWatch(t, file, "-i", "eth7", "--repeats=5", "--log-level=info", "--events=false"); problem != "" {
		t.Fatal(problem)
	}
	if w = &g.Watch; len(w.Interface) != 1 || w.Interface[0] != "eth7" || w.Repeats != 5 || w.Events || g.LogLevel != "info" || w.Idle != 90*time.Second {
		t.Errorf("flags do not win: %+v", *w)
	}
	if g, problem = parseWatch(t, "", "-i", "eth0"); problem != "" || g.Watch.Repeats != 10 {
		t.Errorf("an empty file: %s", problem)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"interface: eth0\nrepeat: 3\n", `{}:2: unknown key "repeat": did you mean repeats?`},
		{"interface: eth0\nweb_config: x\n", `{}:2: unknown key "web_config": did you mean web-config?`},
		{"interface: eth0\nconfig: x\n", `{}:2: unknown key "config": give any of log-level, `},
		{"interface: eth0\nrepeats: many\nidle: soon\n", "{}:2: repeats: expected a valid 64 bit int but got \"many\"\n{}:3: idle: "},
		{"interface: eth0\nrepeats: [1, 2]\n", "{}:2: repeats: give a value"},
		{"interface: eth0\nrepeats:\n", "{}:2: repeats: give a value"},
		{"interface: []\n", "{}:1: interface: give a value"},
		{"interface: [eth0, [eth1]]\n", "{}:1: interface: give a list of values"},
		{"interface: eth0\ninterface: eth1\n", "{}:2: interface is given twice"},
		{"near: [10.0.0.1, me]\n", `{}:1: near: "me" is no address`},
		{"log-level: loud\ninterface: eth0\n", `--log-level must be one of`},
		{"- interface\n", "{}: give lines like"},
		{"interface: [eth0\n", "{}: line 1, column 12:"},
		{"repeats: 3\n", "missing flags: --interface"},
	} {
		if _, got := parseWatch(t, c.file); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.file, got, c.want)
		}
	}
	var g grammar
	parser, err := newParser(&g, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = parser.Parse([]string{"watch", "--config", "/nowhere/at/all"}); err == nil || !strings.Contains(err.Error(), "/nowhere/at/all: no such file") {
		t.Errorf("a file that is missing: %v", err)
	}
}

func TestAlike(t *testing.T) {
	names := []string{"interface", "idle", "near", "listen", "log-level"}
	for s, want := range map[string]string{
		"interfaces": "interface?", "LOG_LEVEL": "log-level?", "idl": "idle?", "nera": "near?", "pcap": "give any of interface, idle, near, listen, log-level",
	} {
		if got := alike(s, names); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
