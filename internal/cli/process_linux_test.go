package cli

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/internal/veth"
)

// asCommand is the environment variable that makes the test's binary the command.
const asCommand = "IBWITNESS_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	drop = func(string) error { return nil } // this process needs its privileges
	os.Exit(m.Run())
}

// process is the command in a process of its own.
type process struct {
	*exec.Cmd
	t        *testing.T
	out, log string // paths of what it writes
}

// start runs the command. It is ended with the test.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, nil, os.Args[0], args...)
}

// launch runs a program with more in its environment.
func launch(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()
	return launchAs(t, nil, env, program, args...)
}

// launchAs runs it as another user, or with other capabilities.
func launchAs(t *testing.T, attr *syscall.SysProcAttr, env []string, program string, args ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{exec.Command(program, args...), t, filepath.Join(dir, "out"), filepath.Join(dir, "log")}
	p.SysProcAttr = attr
	p.Env = append(append(os.Environ(), asCommand+"=1"), env...)
	for path, w := range map[string]*io.Writer{p.out: &p.Stdout, p.log: &p.Stderr} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		*w = f
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	return p
}

// logs waits until the process has logged something, and returns the first submatch, or the match.
func (p *process) logs(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var b []byte
	for range 1500 {
		b, _ = os.ReadFile(p.log)
		if m := re.FindSubmatch(b); m != nil {
			return string(m[len(m)-1])
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("it does not log %s:\n%s", pattern, b)
	return ""
}

// stop ends the process as an administrator does, and expects that it ends well.
func (p *process) stop() {
	p.t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		b, _ := os.ReadFile(p.log)
		p.t.Errorf("%v: %s", err, b)
	}
}

// replayFile sends the frames of a capture, in the time that they took.
func replayFile(t *testing.T, path, name string) {
	t.Helper()
	src, err := fabricagent.Open([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	send := veth.Sender(t, name)
	began, first := time.Now(), int64(0)
	for {
		b, err := src.Next()
		if b != nil {
			for i := range b.Frames {
				if first == 0 {
					first = b.Frames[i].Time
				}
				time.Sleep(time.Until(began.Add(time.Duration(b.Frames[i].Time - first))))
				send(b.Frames[i].Data)
			}
			b.Release()
		}
		if err != nil {
			return
		}
	}
}

// metricsOf fetches the metrics of a process.
func (p *process) metricsOf(address string) string {
	p.t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// tell waits until the metrics have a line.
func (p *process) tell(address, line string) {
	p.t.Helper()
	page := ""
	for range 150 {
		if page = p.metricsOf(address); strings.Contains(page, line+"\n") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	log, _ := os.ReadFile(p.log)
	metric, _, _ := strings.Cut(line, "{")
	metric, _, _ = strings.Cut(metric, " ")
	p.t.Fatalf("no %s but\n%s\n%s", line, regexp.MustCompile(`(?m)^`+metric+`\b.*`).FindAllString(page, 50), log)
}

// arrive waits until so many frames were captured, or dropped by the kernel, as on a busy machine.
func (p *process) arrive(address string, frames int) {
	p.t.Helper()
	line := regexp.MustCompile(`(?m)^ibwitness_capture_(?:frames|drops)_total\{.*\} (\S+)$`)
	n := 0
	for range 150 {
		n = 0
		for _, m := range line.FindAllStringSubmatch(p.metricsOf(address), -1) {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				p.t.Fatal(err)
			}
			n += int(v)
		}
		if n == frames {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Fatalf("%d frames arrive or are dropped, of %d", n, frames)
}
