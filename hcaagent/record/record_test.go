package record

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
)

var update = flag.Bool("update", false, "write testdata/all.jsonl again")

// once is the folder of what built compiles.
var once string

func TestMain(m *testing.M) {
	status := m.Run()
	if once != "" {
		_ = os.RemoveAll(once)
	}
	os.Exit(status)
}

// built compiles, once, the library, a libibverbs with an adapter in memory, and a program that uses it. It returns how that is recorded, and a folder for the logs.
func built(t testing.TB) (o *Options, dir string) {
	t.Helper()
	if _, err := os.Stat("/usr/include/infiniband/verbs.h"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the headers of libibverbs are not there: make deps installs libibverbs-dev")
		}
		t.Skip("the headers of libibverbs are not there: make deps installs libibverbs-dev")
	}
	if once == "" {
		dir, err := os.MkdirTemp("", "record")
		if err != nil {
			t.Fatal(err)
		}
		once = dir
		sources, err := filepath.Glob("c/*.c")
		if err != nil {
			t.Fatal(err)
		}
		gcc(t, append([]string{"-std=gnu11", "-Wextra", "-fPIC", "-shared", "-Wl,--version-script=c/record.map", "-o", filepath.Join(dir, LibraryName)}, append(sources, "-ldl", "-lpthread")...)...)
		gcc(t, "-fPIC", "-shared", "-Wl,-soname,libibverbs.so.1", "-o", filepath.Join(dir, "libibverbs.so.1"), "testdata/fake.c", "-lpthread")
		gcc(t, "-o", filepath.Join(dir, "program"), "testdata/program.c", filepath.Join(dir, "libibverbs.so.1"), "-lpthread")
	}
	t.Setenv("LD_LIBRARY_PATH", once)
	dir = t.TempDir()
	return &Options{Library: filepath.Join(once, LibraryName), Prefix: filepath.Join(dir, "log."), Checksums: true}, dir
}

func gcc(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("gcc", append([]string{"-O2", "-Wall", "-Werror"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// program runs the program recorded, and returns what it says and its exit status.
func (o *Options) program(t testing.TB, args ...string) (string, int) {
	t.Helper()
	c, err := o.Command(filepath.Join(once, "program"), args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// logs are the logs of a run, and their texts.
func (o *Options) logs(t testing.TB) (logs []*hcaagent.Log, texts []string) {
	t.Helper()
	names, err := o.Logs()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		log, err := eventlog.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		logs, texts = append(logs, log), append(texts, string(text))
	}
	return logs, texts
}

// TestAll: each verb is a line, as docs/events.md has it, refused ones among them.
func TestAll(t *testing.T) {
	o, _ := built(t)
	if out, status := o.program(t, "all"); status != 0 || out != "" {
		t.Fatalf("exit status %d: %s", status, out)
	}
	logs, texts := o.logs(t)
	if len(logs) != 1 || logs[0].Addr.String() != "10.0.0.1" || !logs[0].Complete {
		t.Fatalf("%d logs: %+v", len(logs), logs)
	}
	text := regexp.MustCompile(`"t":\d+,`).ReplaceAllString(texts[0], "")
	empty := regexp.MustCompile(`\{"ev":"empty","cq":\d+\}\n`) // one line for each 200 ms of polling
	if n := len(empty.FindAllString(text, -1)); n == 0 {
		t.Error("no line says that a completion queue is empty")
	}
	text = empty.ReplaceAllString(text, "")
	if at := regexp.MustCompile(`"addr":(\d+)`).FindStringSubmatch(text); at != nil { // where the memory is differs
		first, _ := strconv.Atoi(at[1])
		text = regexp.MustCompile(`"addr":[1-9]\d+`).ReplaceAllStringFunc(text, func(s string) string {
			n, _ := strconv.Atoi(strings.TrimPrefix(s, `"addr":`))
			return fmt.Sprintf(`"addr":%d`, 0x1000+n-first)
		})
	}
	const golden = "testdata/all.jsonl"
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the log, without times, is\n%s\nnot\n%s", text, want)
	}
	for i, e := range logs[0].Events[1:] {
		if e.Time < logs[0].Events[i].Time && e.Kind != cq.EvPostSend {
			t.Errorf("line %d is %d ns before the line above it", e.Line, logs[0].Events[i].Time-e.Time)
		}
	}
}

// TestEndpoint: a log is of the address that its datagrams come from, whatever other GIDs the device has. Where no request has said it, it is the only IPv4 address.
func TestEndpoint(t *testing.T) {
	for _, c := range []struct{ receives, index, want string }{
		{"1", "0", "fe80::1"},
		{"1", "1", "10.0.0.1"},
		{"1", "", "10.0.0.1"},
		{"5000", "0", "10.0.0.1"}, // it has to be told within 4096 events
	} {
		o, _ := built(t)
		if out, status := o.program(t, "datagrams", c.receives, c.index); status != 0 {
			t.Fatalf("exit status %d: %s", status, out)
		}
		logs, texts := o.logs(t)
		if len(logs) != 1 || logs[0].Addr.String() != c.want || strings.Count(texts[0], `"gid"`) != 1 || !logs[0].Complete {
			t.Errorf("%+v: %d logs, of %v", c, len(logs), logs[0].Addr)
		}
	}
}

// TestThreads: threads post and poll at the same time, and the log has the order of the device: no completion comes before its request, and those of a queue are in order.
func TestThreads(t *testing.T) {
	const count = 5000
	o, _ := built(t)
	if out, status := o.program(t, "threads", strconv.Itoa(count)); status != 0 {
		t.Fatalf("exit status %d: %s", status, out)
	}
	logs, _ := o.logs(t)
	type queue struct {
		qpn     uint32
		receive bool
	}
	posted, done := map[queue]uint64{}, map[queue]uint64{}
	for _, e := range logs[0].Events {
		switch e.Kind {
		case cq.EvPostSend, cq.EvPostReceive:
			q := queue{e.QP.QPN, e.Kind == cq.EvPostReceive}
			posted[q]++
		case cq.EvCompletion:
			q := queue{e.Completion.QP.QPN, e.Completion.Op == cq.DoneRecv}
			if e.Completion.ID != done[q] || done[q] >= posted[q] {
				t.Fatalf("line %d: completion of request %d of %+v, after %d of %d", e.Line, e.Completion.ID, q, done[q], posted[q])
			}
			done[q]++
		}
	}
	for q, n := range done {
		if n != count || posted[q] != count {
			t.Errorf("%+v: %d requests, %d completions", q, posted[q], n)
		}
	}
	if len(done) != 4 {
		t.Errorf("%d queues", len(done))
	}
}

// TestProgram: the program is the same recorded: exit status, signals, children, and what it does without a place for its log.
func TestProgram(t *testing.T) {
	o, dir := built(t)
	if out, status := o.program(t, "status", "7"); status != 7 || out != "" {
		t.Errorf("exit status %d: %s", status, out)
	}
	if _, texts := o.logs(t); len(texts) != 1 || !strings.HasSuffix(texts[0], `"ev":"end"}`+"\n") {
		t.Errorf("logs of a program that only returned: %q", texts)
	}
	o.Prefix = filepath.Join(dir, "killed.")
	if _, status := o.program(t, "killed"); status != -1 {
		t.Errorf("exit status %d of a program that was killed", status)
	}
	if _, texts := o.logs(t); len(texts) != 1 || !strings.Contains(texts[0], `"to":"RTS"`) {
		t.Errorf("logs of a program that was killed: %q", texts)
	}
	o.Prefix = filepath.Join(dir, "fork.")
	if out, status := o.program(t, "fork"); status != 0 {
		t.Errorf("exit status %d: %s", status, out)
	}
	if _, texts := o.logs(t); len(texts) != 2 || strings.Contains(texts[0], "post_send") == strings.Contains(texts[1], "post_send") {
		t.Errorf("logs of a program and its child: %q", texts)
	}
	c, err := o.Command(filepath.Join(once, "program"), "all")
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "IBWITNESS_RECORD=/nowhere/log.")
	if out, err := c.CombinedOutput(); err != nil || strings.Count(string(out), "cannot write") != 1 {
		t.Errorf("without a place for the log: %v, %s", err, out)
	}
}

// TestLive: who reads a FIFO or a socket takes the log as it is written, and misses no line where he is slow.
func TestLive(t *testing.T) {
	for name, open := range map[string]func(path string) (func() (io.ReadCloser, error), error){
		"fifo": func(path string) (func() (io.ReadCloser, error), error) {
			return func() (io.ReadCloser, error) { return os.Open(path) }, exec.Command("mkfifo", path).Run()
		},
		"socket": func(path string) (func() (io.ReadCloser, error), error) {
			l, err := net.Listen("unix", path)
			return func() (io.ReadCloser, error) { return l.Accept() }, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			const count = 3000
			o, dir := built(t)
			o.Live = filepath.Join(dir, name)
			reader, err := open(o.Live)
			if err != nil {
				t.Fatal(err)
			}
			got := make(chan string)
			go func() {
				r, err := reader()
				if err != nil {
					got <- err.Error()
					return
				}
				defer r.Close()
				var text bytes.Buffer
				for b := make([]byte, 1<<16); ; time.Sleep(100 * time.Microsecond) {
					n, err := r.Read(b)
					text.Write(b[:n])
					if err != nil {
						break
					}
				}
				got <- text.String()
			}()
			if out, status := o.program(t, "threads", strconv.Itoa(count)); status != 0 {
				t.Fatalf("exit status %d: %s", status, out)
			}
			text := <-got
			if n := strings.Count(text, `"ev":"post_send"`); n != 2*count || !strings.HasSuffix(text, `"ev":"end"}`+"\n") {
				t.Errorf("%d requests, of %d", n, 2*count)
			}
		})
	}
}

// TestReaderGone: the program goes on where nobody reads its log any more.
func TestReaderGone(t *testing.T) {
	o, dir := built(t)
	o.Live = filepath.Join(dir, "fifo")
	if err := exec.Command("mkfifo", o.Live).Run(); err != nil {
		t.Fatal(err)
	}
	go func() {
		if r, err := os.Open(o.Live); err == nil {
			_ = r.Close()
		}
	}()
	if out, status := o.program(t, "threads", "3000"); status != 0 || strings.Count(out, "nothing more of fake0 is recorded") != 1 {
		t.Errorf("exit status %d: %s", status, out)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Library: "/a b/x.so", Prefix: "log."}, "record: /a b/x.so: the loader takes no library whose path has a space or a colon: move it"},
		{Options{Library: "/x.so", Live: "/dev/null"}, "record: /dev/null is neither a FIFO nor a socket: make one with mkfifo"},
		{Options{Library: "/x.so", Prefix: "/nowhere/log."}, "record: logs cannot be written there: stat /nowhere: no such file or directory"},
	} {
		if _, err := c.o.Command("true"); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
	if _, err := Library(); err == nil || !strings.Contains(err.Error(), "make record") {
		t.Errorf("no library: %v", err)
	}
}

// BenchmarkVerb is what recording takes of a verb: of four, two post a request and two bring a completion, up to eight of which one call takes.
func BenchmarkVerb(b *testing.B) {
	o, _ := built(b)
	o.Checksums = false
	plain, recorded := 0.0, 0.0
	measure := func(c *exec.Cmd) float64 {
		if out, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return float64(c.ProcessState.UserTime()+c.ProcessState.SystemTime()) / 4
	}
	for b.Loop() {
		const count = 1000000
		plain += measure(exec.Command(filepath.Join(once, "program"), "speed", strconv.Itoa(count))) / count
		c, err := o.Command(filepath.Join(once, "program"), "speed", strconv.Itoa(count))
		if err != nil {
			b.Fatal(err)
		}
		recorded += measure(c) / count
	}
	b.ReportMetric((recorded-plain)/float64(b.N), "ns/verb")
}
