package attach_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/scenario"
	"ibwitness/internal/view/report"
)

// library is the C library, built once for all tests of this package: as they are, by its profile (make bench) or without.
var library = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "libibwitness"); err != nil {
		return "", err
	}
	profile := "off"
	if about, ok := debug.ReadBuildInfo(); ok {
		for _, s := range about.Settings {
			if s.Key == "-pgo" {
				profile = "testbench.pgo"
			}
		}
	}
	cmd := exec.Command("go", "build", "-pgo="+profile, "-buildmode=c-shared", "-o", filepath.Join(dir, "libibwitness.so"), ".")
	cmd.Dir = filepath.Join("..", "cmd", "libibwitness")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = errors.New(string(out))
	}
	return dir, err
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, _ := library(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

// compile compiles a program in C against the library, and returns where it is.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	dir, err := library()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	args := append([]string{"-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-I", "c"}, flags...)
	args = append(args, "-o", program, source, "-L", dir, "-libwitness", "-lpthread", "-Wl,-rpath,"+dir)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return program
}

// pushed is a run as c/testdata/push.c takes it.
type pushed struct{ bytes.Buffer }

func (p *pushed) put(kind byte, numbers ...uint64) {
	p.WriteByte(kind)
	for _, n := range numbers {
		_ = binary.Write(p, binary.LittleEndian, n)
	}
}

func (p *pushed) text(kind byte, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	p.put(kind, uint64(len(text)))
	p.Write(text)
}

// source pushes all frames of a capture.
func (p *pushed) source(src fabricagent.Source) {
	described := 0
	for {
		b, err := src.Next()
		if b != nil {
			for ; described < len(src.Taps()); described++ {
				t := &src.Taps()[described]
				tap := map[string]any{"name": t.File, "interface": t.Interface, "snaplen": t.SnapLen, "speed": t.Speed, "link": linkOf(b, described, t)}
				if described == 0 {
					p.text('C', map[string]any{"time": "unix", "taps": []any{tap}})
				} else {
					p.text('T', tap)
				}
			}
			for i := range b.Frames {
				f := &b.Frames[i]
				p.put('F', uint64(f.Tap), uint64(f.Way), uint64(f.Time), uint64(f.Len), uint64(len(f.Data)))
				p.Write(f.Data)
			}
			b.Release()
		}
		if errors.Is(err, io.EOF) || b == nil && err != nil {
			break
		}
	}
	for i := range src.Taps() {
		if n := src.Taps()[i].Dropped; n > 0 {
			p.put('L', uint64(i), n)
		}
	}
}

// linkOf is the link of the frames of a tap, which in ERF is not that of the file.
func linkOf(b *fabricagent.Batch, tap int, t *fabricagent.Tap) fabricagent.LinkType {
	for i := range b.Frames {
		if int(b.Frames[i].Tap) == tap {
			return b.Frames[i].Link
		}
	}
	return t.Link
}

// checked is what check says of a capture, as JSON.
func checked(t *testing.T, src fabricagent.Source, opt agent.Options) []byte {
	t.Helper()
	result, _ := agent.Run(context.Background(), src, opt)
	sink, err := report.New("json", report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := sink.Report(&out, &report.Run{Result: result}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestLibraryEqualsCheck: a capture that is pushed through the library in C, frame by frame, gives what check says of it, byte for byte.
func TestLibraryEqualsCheck(t *testing.T) {
	push := compile(t, "c/testdata/push.c")
	for _, name := range captures(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := fabricagent.Open([]string{name})
			if src == nil {
				t.Fatal(err)
			}
			want := checked(t, src, agent.Options{Workers: 1})
			src.Close()
			src, _ = fabricagent.Open([]string{name})
			var run pushed
			run.source(src)
			src.Close()
			if got := run.through(t, push); !bytes.Equal(got, want) {
				t.Errorf("library and check differ:\n%s", differ(got, want))
			}
		})
	}
}

// captures are those that tests may read: of the repository, and others beside it where they are.
func captures(t *testing.T) (list []string) {
	for _, pattern := range []string{"../testdata/captures/*", "../../shared/captures/*/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			info, err := os.Stat(name)
			if err == nil && strings.Contains(name, ".pcap") && info.Size() < 4<<20 {
				list = append(list, name)
			}
		}
	}
	if len(list) == 0 {
		t.Fatal("no captures")
	}
	return list
}

// through pushes a run, and returns the report.
func (p *pushed) through(t *testing.T, push string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.Command(push, "json", name)
	cmd.Stdin = p
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// differ shows the first lines that differ.
func differ(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "got  " + x + "\nwant " + y
		}
	}
	return ""
}

// TestLibraryEqualsSimulate: the frames and verbs events of a scenario, pushed through the library in their order, give what simulate says of it.
func TestLibraryEqualsSimulate(t *testing.T) {
	push := compile(t, "c/testdata/push.c")
	names, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			sc, err := scenario.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r, texts := simulated(t, sc)
			var logs []*hcaagent.Log
			for i, text := range texts {
				log, err := eventlog.Read(r.HCAs[i].Name, strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				logs = append(logs, log)
			}
			want := checked(t, r.Source, agent.Options{Workers: 1, Near: r.NearAddrs(), Events: logs})
			var run pushed
			r, texts = simulated(t, sc)
			run.scenario(r, texts)
			if got := run.through(t, push); !bytes.Equal(got, want) {
				t.Errorf("library and simulate differ:\n%s", differ(got, want))
			}
		})
	}
}

// simulated runs a scenario to its end, and returns the logs of its adapters.
func simulated(t *testing.T, sc *scenario.Scenario) (*scenario.Run, []string) {
	t.Helper()
	r, err := sc.Start(scenario.Options{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Finish()
	var logs []string
	for i, log := range r.Logs() {
		var text strings.Builder
		w, err := eventlog.NewWriter(&text, r.HCAs[i].Addr, true)
		if err != nil {
			t.Fatal(err)
		}
		for k := range log.Events {
			if err := w.Write(&log.Events[k]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		logs = append(logs, text.String())
	}
	return r, logs
}

// scenario pushes a run that has come to its end, in the order of each, which is that of agent.Run.
func (p *pushed) scenario(r *scenario.Run, texts []string) {
	var near []string
	for _, a := range r.NearAddrs() {
		near = append(near, a.String())
	}
	var taps, hcas []any
	for _, tap := range r.Source.Taps() {
		taps = append(taps, map[string]any{"name": tap.File, "interface": tap.Interface, "link": tap.Link, "snaplen": tap.SnapLen, "speed": tap.Speed, "near": near})
	}
	logs := r.Logs()
	lines := make([][]string, len(logs))
	for i := range logs {
		hcas = append(hcas, map[string]any{"name": r.HCAs[i].Name, "gid": r.HCAs[i].Addr.String()})
		lines[i] = strings.SplitAfter(texts[i], "\n")
	}
	p.text('C', map[string]any{"time": "unix", "taps": taps, "hcas": hcas})
	event := func(log int, at int64, line string) {
		p.put('E', uint64(log), uint64(at), uint64(len(line)))
		p.WriteString(line)
	}
	for i := range logs {
		event(i, 1, lines[i][0]) // a remark: whose log it is
	}
	each(r, func(log, i int) {
		event(log, logs[log].Events[i].Time, lines[log][1+i])
	}, func(f *fabricagent.Frame) {
		p.put('F', uint64(f.Tap), uint64(f.Way), uint64(f.Time), uint64(f.Len), uint64(len(f.Data)))
		p.Write(f.Data)
	})
}
