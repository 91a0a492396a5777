package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/internal/testkit/programs"
)

// TestInstall: what make install lays down is a service that systemd takes, with little to attack, and a configuration that the program takes.
func TestInstall(t *testing.T) {
	dir := t.TempDir()
	prefix, etc := filepath.Join(dir, "usr"), filepath.Join(dir, "etc")
	make := func() {
		t.Helper()
		cmd := exec.Command("make", "-C", "..", "install", "PREFIX="+prefix, "SYSCONFDIR="+etc)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	make()
	program, unit, config := filepath.Join(prefix, "bin", "ibwitness"), filepath.Join(prefix, "lib/systemd/system/ibwitness.service"), filepath.Join(etc, "ibwitness/watch.yaml")
	for _, args := range [][]string{{"verify", unit}, {"security", "--offline=true", "--threshold=20", "--no-pager", unit}} {
		if out, err := exec.Command(programs.Find(t, "systemd-analyze"), args...).CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %q: %v\n%s", args, err, out)
		}
	}
	raw, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	if want := "ExecStart=" + program + " watch --config " + config + "\n"; !strings.Contains(string(raw), want) {
		t.Errorf("no %s in\n%s", want, raw)
	}

	// The configuration is taken, as it is and with all that it only mentions: what is wrong is that there is no such interface here.
	example, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	example = regexp.MustCompile(`eth0`).ReplaceAll(example, []byte("nowhere0"))
	all := regexp.MustCompile(`(?m)^# ([a-z-]+: .*)$`).ReplaceAll(example, []byte("$1"))
	all = regexp.MustCompile(`(?m)^web-config:.*`).ReplaceAll(all, nil)
	if strings.Count(string(all), "\n# ") > 1 {
		t.Errorf("not all is used:\n%s", all)
	}
	for _, text := range [][]byte{example, all} {
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "watch", "--config", config).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "nowhere0: find it") {
			t.Errorf("%v: %s\n%s", err, out, text)
		}
	}
	make()
	if now, err := os.ReadFile(config); err != nil || string(now) != string(all) {
		t.Errorf("a configuration that was there is gone: %v", err)
	}
}
