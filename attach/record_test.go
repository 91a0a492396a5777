package attach_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/attach"
	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/internal/cli"
	"ibwitness/internal/scenario"
	"ibwitness/packet"
)

// attachedRun is a scenario that is handed to a run as a testbench does, with a recording.
type attachedRun struct {
	*attach.Run
	t     *testing.T
	dir   string
	hcas  []string
	begin int64  // of the scenario
	now   uint64 // ps
	n     int    // items
}

// items hands over what has happened, in its order, and calls between before each.
func (a *attachedRun) items(r *scenario.Run, texts []string, between func()) {
	logs := r.Logs()
	lines := make([][]string, len(texts))
	for i := range texts {
		lines[i] = strings.Split(texts[i], "\n")[1:]
	}
	each(r, func(log, i int) {
		e := &logs[log].Events[i]
		a.comes(e.Time, between)
		a.event(log, e, lines[log][i])
	}, func(f *fabricagent.Frame) {
		a.comes(f.Time, between)
		if _, err := a.Frame(int(f.Tap), f.Way, a.now, f.Data, int(f.Len)); err != nil {
			a.t.Fatal(err)
		}
	})
}

// each goes through the events of the logs of a run that has come to its end, by their places, and its frames, in their order: events before the frames of their time.
func each(r *scenario.Run, event func(log, i int), frame func(*fabricagent.Frame)) {
	logs := r.Logs()
	next := make([]int, len(logs))
	upTo := func(now int64) {
		for {
			first := -1
			for i, l := range logs {
				if next[i] < len(l.Events) && l.Events[next[i]].Time <= now && (first < 0 || l.Events[next[i]].Time < logs[first].Events[next[first]].Time) {
					first = i
				}
			}
			if first < 0 {
				return
			}
			event(first, next[first])
			next[first]++
		}
	}
	for {
		b, err := r.Source.Next()
		if b != nil {
			for i := range b.Frames {
				upTo(b.Frames[i].Time)
				frame(&b.Frames[i])
			}
			b.Release()
		}
		if err != nil {
			break
		}
	}
	upTo(1<<63 - 1)
}

// comes goes on to the time of an item. A testbench tells the time as it likes.
func (a *attachedRun) comes(at int64, between func()) {
	between()
	if a.begin == 0 {
		a.begin = at
	}
	to := uint64(max(at-a.begin, 0)) * 1000
	for steps := a.n % 5; steps > 0 && to > a.now; steps-- {
		if _, err := a.Advance(a.now + (to-a.now)/uint64(steps+1)); err != nil {
			a.t.Fatal(err)
		}
	}
	a.now = max(a.now, to)
	a.n++
}

// event hands over an event, every other one where that is possible by the calls that take no line.
func (a *attachedRun) event(hca int, e *cq.Event, line string) {
	var err error
	switch {
	case a.n%2 == 0 && e.Kind == cq.EvPostSend && !e.Failed && e.Send.Window == nil:
		_, err = a.Send(hca, a.now, e.QP.QPN, e.Send, e.Data)
	case a.n%2 == 0 && e.Kind == cq.EvPostReceive && !e.Failed:
		_, err = a.Receive(hca, a.now, e.QP.QPN, e.SRQ, e.Receive)
	case a.n%2 == 0 && e.Kind == cq.EvCompletion:
		_, err = a.Complete(hca, a.now, e.CQ, e.Completion)
	default:
		_, err = a.Event(hca, a.now, []byte(line))
	}
	if err != nil {
		a.t.Fatalf("%v\n%s", err, line)
	}
}

// same compares the report of the run, which has ended, with what check says of its recording: byte for byte, but that there the taps are interfaces of a file, and logs are files.
func (a *attachedRun) same(workers ...string) {
	a.t.Helper()
	ways := [][]string{{"run.pcapng"}, {"annotated.pcapng"}}
	for _, n := range workers {
		ways = append(ways, []string{"run.pcapng", "--workers", n})
	}
	var live bytes.Buffer
	if err := a.WriteReport(&live, "json"); err != nil {
		a.t.Fatal(err)
	}
	for _, x := range ways {
		file := filepath.Join(a.dir, x[0])
		args := append([]string{"check", "--format", "json", file}, x[1:]...)
		names := []string{`"file":` + quoted(file) + `,"interface":`, `"file":`}
		logs, err := filepath.Glob(filepath.Join(a.dir, "run.*.jsonl"))
		if err != nil {
			a.t.Fatal(err)
		}
		for _, log := range logs {
			args = append(args, "--events", log)
		}
		for _, name := range a.hcas {
			log := filepath.Join(a.dir, "run."+name+".jsonl")
			names = append(names, `"log":`+quoted(log), `"log":`+quoted(name), log+" tells of", name+" tells of")
		}
		out, status, said := command(a.t, args...)
		if status == 2 && !strings.Contains(out, " tells of ") { // that a log tells of what no packet shows, the run says as well
			a.t.Fatalf("%s: %s", x[0], said)
		}
		if got := strings.NewReplacer(names...).Replace(out); got != live.String() {
			a.t.Errorf("check %s and the run differ:\n%s", strings.Join(x, " "), differ([]byte(got), live.Bytes()))
		}
	}
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// command runs a command of ibwitness.
func command(t *testing.T, args ...string) (out string, status int, said string) {
	t.Helper()
	var files [2]*os.File
	var texts [2]string
	for i := range files {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	status = cli.Main(args, files[0], files[1])
	for i, f := range files {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts[0], status, texts[1]
}

// begin begins a run of a scenario.
func begin(t *testing.T, r *scenario.Run, hcas bool, waive ...attach.Waiver) *attachedRun {
	t.Helper()
	a := &attachedRun{t: t, dir: t.TempDir()}
	var near []string
	for _, x := range r.NearAddrs() {
		near = append(near, x.String())
	}
	var taps, list []any
	for i, tap := range r.Source.Taps() {
		taps = append(taps, map[string]any{"name": "tap " + string(rune('a'+i)), "link": tap.Link, "snaplen": tap.SnapLen, "speed": tap.Speed, "near": near})
	}
	for i := range r.HCAs {
		if hcas {
			list = append(list, map[string]any{"name": r.HCAs[i].Name, "gid": r.HCAs[i].Addr.String()})
			a.hcas = append(a.hcas, r.HCAs[i].Name)
		}
	}
	config, err := json.Marshal(map[string]any{
		"taps": taps, "hcas": list, "waive": waive, "record": filepath.Join(a.dir, "run.pcapng"), "reports": map[string]string{"pcapng": filepath.Join(a.dir, "annotated.pcapng")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.Run, err = attach.Open(config); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRecordedEqualsCheck: what a run that was attached to a simulation has reported, check says of its recording.
func TestRecordedEqualsCheck(t *testing.T) {
	names, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range names {
		sc, err := scenario.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name  string
			event func(a *attachedRun) // what happens in the middle of the run
		}{
			{"all", nil},
			{"lost", func(a *attachedRun) {
				if _, err := a.Lost(0, 2); err != nil {
					a.t.Fatal(err)
				}
			}},
			{"reset", func(a *attachedRun) {
				if _, err := a.Reset(0, a.now); err != nil && len(a.hcas) > 0 && !strings.Contains(err.Error(), "near nobody") {
					a.t.Fatal(err)
				}
			}},
		} {
			t.Run(filepath.Base(name)+" "+x.name, func(t *testing.T) {
				r, texts := simulated(t, sc)
				all := 0
				for _, l := range r.Logs() {
					all += len(l.Events)
				}
				a := begin(t, r, true)
				a.items(r, texts, func() {
					if x.event != nil && a.n == all*2/3 {
						a.now += 1000 // nothing else happens at this time
						x.event(a)
						a.now += 1000
					}
				})
				if _, err := a.End(a.now + 1e9); err != nil {
					t.Fatal(err)
				}
				if x.event == nil {
					a.same("1", "2", "8")
				} else {
					a.same()
				}
			})
		}
	}
}

// TestRecordedWaived: what a run waives, check of its recording waives too, and check of another capture that is given the configuration of the run.
func TestRecordedWaived(t *testing.T) {
	sc, err := scenario.ReadFile("../examples/faulty-msn.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, accused := range []string{"", "10.0.0.2", "10.0.0.1"} {
		r, texts := simulated(t, sc)
		waiver := attach.Waiver{Rule: "RC-RSP-013", Accused: accused, Why: "a device of last year"}
		a := begin(t, r, true, waiver)
		a.items(r, texts, func() {})
		n, err := a.End(a.now)
		if err != nil {
			t.Fatal(err)
		}
		a.same("1", "2")
		applies := accused != "10.0.0.1"
		if applies != (len(a.Result().Waived) > 0) || applies != (n == 0) {
			t.Errorf("accused %q: %d errors, %d waived", accused, n, len(a.Result().Waived))
		}
		file, config := filepath.Join(a.dir, "run.pcapng"), filepath.Join(a.dir, "none.json")
		if err := os.WriteFile(config, []byte(`{"taps": [], "waive": []}`), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"check", file}
		for _, name := range a.hcas {
			args = append(args, "--events", filepath.Join(a.dir, "run."+name+".jsonl"))
		}
		if _, status, said := command(t, args...); status != map[bool]int{true: 0, false: 1}[applies] {
			t.Errorf("accused %q: exit status %d of check: %s", accused, status, said)
		}
		if _, status, said := command(t, append(args, "--waive", config)...); status != 1 {
			t.Errorf("accused %q: exit status %d of check where nothing is waived: %s", accused, status, said)
		}
	}
}

// TestRecordedReset: the reset of a device of which no verbs events come is recorded too.
func TestRecordedReset(t *testing.T) {
	sc, err := scenario.ReadFile("../examples/write.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := simulated(t, sc)
	a := begin(t, r, false)
	frames := 0
	for range 2 { // its PSNs begin again
		r, _ := simulated(t, sc)
		if _, err := a.Reset(0, a.now); err != nil {
			t.Fatal(err)
		}
		start := a.now
		for {
			b, err := r.Source.Next()
			if b != nil {
				for i := range b.Frames {
					f := &b.Frames[i]
					if a.begin == 0 {
						a.begin = f.Time
					}
					a.now = start + uint64(f.Time-a.begin+1)*1000
					if _, err := a.Frame(int(f.Tap), f.Way, a.now, f.Data, 0); err != nil {
						t.Fatal(err)
					}
					frames++
				}
				b.Release()
			}
			if err != nil {
				break
			}
		}
		a.now += 1e6
	}
	if n, err := a.End(a.now); err != nil || n != 0 || frames == 0 {
		t.Fatal(n, err, frames)
	}
	logs, _ := filepath.Glob(filepath.Join(a.dir, "*.jsonl"))
	if len(logs) != 1 {
		t.Fatalf("logs %v: want that of the device that was reset", logs)
	}
	text, err := os.ReadFile(logs[0])
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 2 || !strings.Contains(lines[1], `"ev":"reset"`) {
		t.Fatalf("%s: %s", logs[0], text)
	}
	a.same()
}

// TestOutdated: what an earlier run of the same name has recorded of the reset of a device says nothing of this run, and no other file is touched.
func TestOutdated(t *testing.T) {
	dir := t.TempDir()
	run := func(reset bool) {
		t.Helper()
		r, err := attach.Open([]byte(`{"taps": [{"near": ["10.0.0.1", "10.0.0.2"]}], "record": ` + quoted(filepath.Join(dir, "run.pcapng")) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Frame(0, packet.WayUnknown, 0, make([]byte, 60), 0); err != nil {
			t.Fatal(err)
		}
		if reset {
			if _, err := r.Reset(0, 1000); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.End(2000); err != nil {
			t.Fatal(err)
		}
	}
	log, own := filepath.Join(dir, "run.10.0.0.1.jsonl"), filepath.Join(dir, "run.10.0.0.2.jsonl")
	run(true)
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), `"ev":"reset"`) {
		t.Fatalf("%v: %s", err, text)
	}
	const mine = "what somebody has written\nhimself\n"
	if err := os.WriteFile(own, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	run(false)
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"ev":"device"`) {
		t.Errorf("the log of the run before, %v: %s", err, text)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != mine {
		t.Errorf("the file of somebody else, %v: %s", err, text)
	}
	if _, status, said := command(t, "check", filepath.Join(dir, "run.pcapng"), "--events", log); status != 2 || !strings.Contains(said, "recorded in a run") {
		t.Errorf("exit status %d: %s", status, said)
	}
}
