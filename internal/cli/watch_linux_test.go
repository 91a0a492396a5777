package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
	"ibwitness/rule"
)

// found are the findings of JSON lines, without what depends on the time.
func found(t *testing.T, r io.Reader) (list []string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var f struct {
			Kind, Rule, Class, Expected, Actual string
			Frame                               uint64
			PSN                                 uint32
			Accused                             any
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if f.Kind == "finding" && f.Class != "event" {
			list = append(list, fmt.Sprintf("%d %s %s %d %v: %s, %s", f.Frame, f.Rule, f.Class, f.PSN, f.Accused, f.Expected, f.Actual))
		}
	}
	slices.Sort(list)
	return list
}

// TestWatch replays traffic with faults: watch finds in each packet what check finds in it, and tells Prometheus. What depends on when packets
// came differs from the file: see TestWatchAgrees.
func TestWatch(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	shape := traffic.Small(60)
	shape.Faults = 500
	raw := traffic.Capture(shape, 40_000)

	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	logs, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int)
	go func() {
		n := Main([]string{"watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:0", "--repeats", "0"}, in, logs)
		in.Close()
		status <- n
	}()
	var got []string
	read := make(chan bool)
	go func() {
		got = found(t, out)
		close(read)
	}()
	address := ""
	if !until(func() bool {
		b, _ := os.ReadFile(logs.Name())
		if m := regexp.MustCompile(`"address":"([^"]+)"`).FindSubmatch(b); m != nil && bytes.Contains(b, []byte("watching")) {
			address = string(m[1])
		}
		return address != ""
	}) {
		b, _ := os.ReadFile(logs.Name())
		t.Fatalf("it does not start: %s", b)
	}
	frames := replay(t, raw, "left")
	ask := func(path string) (int, string) {
		r, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return r.StatusCode, string(b)
	}
	page, lacks := "", []string{}
	until(func() bool {
		_, page = ask("/metrics")
		lacks = slices.DeleteFunc([]string{
			fmt.Sprintf("ibwitness_capture_frames_total{interface=\"right\"} %d\n", frames), `ibwitness_capture_drops_total{interface="right"} 0`,
			`ibwitness_packets_total{class="ack",service="RC"}`, "ibwitness_connections 6", `ibwitness_violations_total{accused="sender",rule="BTH-`,
			"ibwitness_duplicate_requests_packets_total ", "ibwitness_engine_lag_seconds ",
		}, func(want string) bool { return strings.Contains(page, want) })
		return len(lacks) == 0
	})
	if len(lacks) > 0 {
		t.Errorf("the metrics lack %q:\n%s", lacks, page)
	}
	if status, text := ask("/healthz"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	text := ""
	if !until(func() bool { // once it has caught up
		status, why := ask("/readyz")
		text = why
		return status == http.StatusOK
	}) {
		t.Errorf("it is not ready: %s", text)
	}
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n := <-status; n != 0 {
		b, _ := os.ReadFile(logs.Name())
		t.Errorf("exit status %d: %s", n, b)
	}
	<-read

	path := filepath.Join(t.TempDir(), "same.pcap")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := os.Create(filepath.Join(t.TempDir(), "report"))
	if err != nil {
		t.Fatal(err)
	}
	if n := Main([]string{"check", "--format", "json", "--all", path}, report, logs); n != 1 {
		t.Errorf("check: exit status %d", n)
	}
	if _, err := report.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	want, got := bytewise(found(t, report)), bytewise(got)
	if d := cmp.Diff(want, got); d != "" || len(want) < 20 {
		t.Errorf("%d findings; check (-), watch (+):\n%s", len(want), d)
	}
}

// bytewise are the findings on the bytes of a packet.
func bytewise(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool {
		_, rest, _ := strings.Cut(s, " ")
		return !strings.HasPrefix(rest, "BTH-") && !strings.HasPrefix(rest, "ROC-") && !strings.HasPrefix(rest, "PKY-")
	})
}

// tee keeps what a source delivers.
type tee struct {
	*live.Source
	t    *testing.T
	w    *fabricagent.Writer
	n    int   // frames
	last int64 // the time of the newest
	gap  int64 // the longest time between two
	pace int64 // where not 0, how much later than the one before each frame is said to be, whenever it came
}

// keep returns a source that keeps what src delivers in a file.
func keep(t *testing.T, src *live.Source, file io.Writer) *tee {
	t.Helper()
	w := fabricagent.NewWriter(file, "")
	if _, err := w.AddTap(src.Taps()[0]); err != nil {
		t.Fatal(err)
	}
	return &tee{Source: src, t: t, w: w}
}

func (s *tee) Next() (*fabricagent.Batch, error) {
	b, err := s.Source.Next()
	if b != nil {
		for i := range b.Frames {
			f := &b.Frames[i]
			if s.pace > 0 {
				f.Time = s.Now() + s.pace
			}
			if s.n++; s.last > 0 {
				s.gap = max(s.gap, f.Time-s.last)
			}
			s.last = f.Time
			if err := s.w.Write(f, ""); err != nil {
				s.t.Error(err)
			}
		}
	}
	return b, err
}

func (s *tee) Now() int64 {
	switch {
	case s.pace == 0:
		return s.Source.Now()
	case s.last == 0:
		return 1_800_000_000e9
	}
	return s.last
}

func (s *tee) close() {
	s.t.Helper()
	if err := s.w.Flush(); err != nil {
		s.t.Fatal(err)
	}
}

// TestWatchAgrees: what is found in live frames is what is found in the same frames when they are read from a file. Their pace is not that of the machine:
// what is told goes by it, and where it falters, before what explains it has come.
func TestWatchAgrees(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	shape := traffic.Small(60)
	shape.Faults, shape.Seed = 300, 5
	raw := traffic.Capture(shape, 40_000)
	src, err := live.Open(live.Options{Interfaces: []string{"right"}, Promiscuous: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var kept bytes.Buffer
	file := keep(t, src, &kept)
	file.pace = int64(25 * time.Microsecond)
	var got []rule.Finding
	sent, last := make(chan uint64, 1), uint64(0)
	begin := sync.OnceFunc(func() {
		go func() {
			n := uint64(replay(t, raw, "left"))
			delivered(src, n)
			sent <- n
			src.Stop()
		}()
	})
	early := 0 // findings that are told while it goes on
	if _, err = agent.Run(context.Background(), file, agent.Options{Watch: &agent.Watch{
		Settle: 200 * time.Millisecond, Every: 50 * time.Millisecond,
		Found: func(list []rule.Finding) { got = append(got, list...) },
		Status: func(s *agent.Status) {
			begin()
			if last = s.Packets; last < 30_000 {
				early = len(got)
			}
		},
	}}); err != nil {
		t.Fatal(err)
	}
	file.close()
	if n := <-sent; last != n || src.Taps()[0].Dropped > 0 {
		t.Errorf("%d frames sent, %d seen, %d dropped", n, last, src.Taps()[0].Dropped)
	}
	want := checked(t, &kept)
	if d := cmp.Diff(told(want), told(got)); d != "" || len(got) < 100 || early < 50 {
		t.Errorf("%d findings, %d of them early; check (-), watch (+):\n%s", len(got), early, d)
	}
}

// replay sends the frames of a capture and returns how many.
func replay(t *testing.T, raw []byte, name string) (n int) {
	t.Helper()
	send := veth.Sender(t, name)
	for b := raw[24:]; len(b) > 16; n++ {
		size := int(b[8]) | int(b[9])<<8 | int(b[10])<<16
		send(b[16 : 16+size])
		b = b[16+size:]
	}
	return n
}
