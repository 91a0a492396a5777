package cli

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/veth"
)

// asCommand is the environment variable that makes the test's binary the command.
const asCommand = "IBWITNESS_TEST_AS_COMMAND"

// tellPeak is the environment variable that has the command leave in a file what /proc tells of it at its end: the peak that its parent is told includes the
// parent's own.
const tellPeak = "IBWITNESS_TEST_TELL_PEAK"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		status := Main(os.Args[1:], os.Stdout, os.Stderr)
		if path := os.Getenv(tellPeak); path != "" {
			told, err := os.ReadFile("/proc/self/status")
			if err := errors.Join(err, os.WriteFile(path, told, 0o600)); err != nil {
				panic(err)
			}
		}
		os.Exit(status)
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

// eventually is how long tests wait for what must happen. It distinguishes a machine that is slow, or stops for seconds, from a program that hangs.
const eventually = 2 * time.Minute

// until waits until done is true, and reports whether it is.
func until(done func() bool) bool {
	for end := time.Now().Add(eventually); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// logs waits until the process has logged something, and returns the first submatch, or the match.
func (p *process) logs(pattern string) (found string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	var b []byte
	if !until(func() bool {
		b, _ = os.ReadFile(p.log)
		m := re.FindSubmatch(b)
		if m != nil {
			found = string(m[len(m)-1])
		}
		return m != nil
	}) {
		p.t.Fatalf("it does not log %s:\n%s", pattern, b)
	}
	return found
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

// replayFile sends the frames of a capture, in the time that they took, and returns by how much the latest of them was late.
func replayFile(t *testing.T, path, name string) (late time.Duration) {
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
				due := began.Add(time.Duration(b.Frames[i].Time - first))
				time.Sleep(time.Until(due))
				send(b.Frames[i].Data)
				late = max(late, time.Since(due))
			}
			b.Release()
		}
		if err != nil {
			return late
		}
	}
}

// naks is a capture in which a responder sends four NAKs that it must not. How many of them are proven depends on when its packets come: where none is
// later than inTime, all are.
const (
	naks     = "../../testdata/captures/rnr_retry_exceeded.pcap"
	nakSends = 16 // packets of the requester
	inTime   = 200 * time.Microsecond
)

// violate replays naks until enough reports that what was wanted is found. Where the machine has kept the times, the first time must do.
func violate(t *testing.T, enough func() bool) (times int) {
	t.Helper()
	if !until(func() bool {
		times++
		late := replayFile(t, naks, "left")
		found := enough()
		if !found && late < inTime {
			t.Fatalf("the packets came in time, within %v, and what they violate is not found", late)
		}
		return found
	}) {
		t.Fatal("the machine never sends the packets in their time")
	}
	return times
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
	if until(func() bool {
		page = p.metricsOf(address)
		return strings.Contains(page, line+"\n")
	}) {
		return
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
	if !until(func() bool {
		n = 0
		for _, m := range line.FindAllStringSubmatch(p.metricsOf(address), -1) {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				p.t.Fatal(err)
			}
			n += int(v)
		}
		return n == frames
	}) {
		p.t.Fatalf("%d frames arrive or are dropped, of %d", n, frames)
	}
}

// settled waits until all that was sent so far was judged, told and written, and what was configured so far is in force: until a tick after the one at
// which the newest findings could be told.
func (p *process) settled(address string) {
	p.t.Helper()
	lag := regexp.MustCompile(`(?m)^ibwitness_engine_lag_seconds (\S+)$`)
	// judged returns the bounds of the time up to which all is judged.
	judged := func() (from, to time.Time) {
		began := time.Now()
		page := p.metricsOf(address)
		ended := time.Now()
		m := lag.FindStringSubmatch(page)
		if m == nil {
			return from, to
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			p.t.Fatal(err)
		}
		lag := time.Duration(v * 1e9)
		return began.Add(-lag), ended.Add(-lag)
	}
	told := time.Now().Add(settle)
	var last time.Time // 0: the tick at which all is told has not been
	if !until(func() bool {
		from, to := judged()
		if last.IsZero() {
			if from.After(told) {
				last = to
			}
			return false
		}
		return from.After(last)
	}) {
		log, _ := os.ReadFile(p.log)
		p.t.Fatalf("what was sent is not judged:\n%s", log)
	}
}

// counted returns the value of a metric, 0 where it is not there.
func (p *process) counted(address, metric string) int {
	p.t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(metric) + ` (\S+)$`).FindStringSubmatch(p.metricsOf(address))
	if m == nil {
		return 0
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return int(v)
}

// nakViolated is the metric of the violations that naks shows.
const nakViolated = `ibwitness_violations_total{accused="responder",rule="RC-RSP-043",severity="error"}`

// TestTermEnds: the first SIGTERM, or SIGHUP as the terminal is gone, ends the program although nobody reads what it writes.
func TestTermEnds(t *testing.T) {
	const capture = "../../testdata/captures/cm_rping_ipv6.pcap"
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		args   []string
	}{
		{"report", syscall.SIGTERM, []string{"check", "-q", "--format", "json", capture}},
		{"hangup", syscall.SIGHUP, []string{"check", "-q", "--format", "json", capture}},
		{"file", syscall.SIGTERM, []string{"check", "-q", "--format", "json", "--html", "FIFO", capture}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			t.Parallel()
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], args...)
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			defer write.Close()
			if i := slices.Index(args, "FIFO"); i < 0 {
				cmd.Stdout = write
			} else {
				cmd.Args[1+i] = fifo
				if read, err = os.OpenFile(fifo, os.O_RDWR, 0); err != nil {
					t.Fatal(err)
				}
				defer read.Close()
			}
			cmd.Env = append(os.Environ(), asCommand+"=1")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := read.Read(make([]byte, 1)); err != nil { // it writes, more than a pipe holds
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(eventually):
				_ = cmd.Process.Kill()
				t.Fatal("it goes on")
			}
			if got := cmd.ProcessState.ExitCode(); got != 2 {
				t.Errorf("exit status %d", got)
			}
		})
	}
}

// TestInterruptLog: one Ctrl-C ends a check that waits for a log of verbs events from a pipe that nobody writes to.
func TestInterruptLog(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "events")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "check", "--events", pipe, naks)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when the program reads it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if log, _ := os.ReadFile(p.log); p.ProcessState.ExitCode() != 2 || !strings.Contains(string(log), `"interrupted"`) {
		t.Errorf("%v: %s", p.ProcessState, log)
	}
}
