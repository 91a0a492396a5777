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
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/traffic"
	"ibwitness/internal/veth"
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
	for range 500 {
		time.Sleep(10 * time.Millisecond)
		b, _ := os.ReadFile(logs.Name())
		if m := regexp.MustCompile(`"address":"([^"]+)"`).FindSubmatch(b); m != nil && bytes.Contains(b, []byte("watching")) {
			address = string(m[1])
			break
		}
	}
	if address == "" {
		b, _ := os.ReadFile(logs.Name())
		t.Fatalf("it does not start: %s", b)
	}
	frames := replay(t, raw, "left")
	get := func(path string) string {
		r, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v: %s", path, r.Status, err, b)
		}
		return string(b)
	}
	page, lacks := "", []string{}
	for range 200 {
		time.Sleep(100 * time.Millisecond)
		page = get("/metrics")
		lacks = slices.DeleteFunc([]string{
			fmt.Sprintf("ibwitness_capture_frames_total{interface=\"right\"} %d\n", frames), `ibwitness_capture_drops_total{interface="right"} 0`,
			`ibwitness_packets_total{class="ack",service="RC"}`, "ibwitness_connections 6", `ibwitness_violations_total{accused="sender",rule="BTH-`,
			"ibwitness_duplicate_requests_packets_total ", "ibwitness_engine_lag_seconds ",
		}, func(want string) bool { return strings.Contains(page, want) })
		if len(lacks) == 0 {
			break
		}
	}
	if len(lacks) > 0 {
		t.Errorf("the metrics lack %q:\n%s", lacks, page)
	}
	get("/healthz")
	get("/readyz")
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
	w *fabricagent.Writer
	t *testing.T
}

func (s *tee) Next() (*fabricagent.Batch, error) {
	b, err := s.Source.Next()
	if b != nil {
		for i := range b.Frames {
			if err := s.w.Write(&b.Frames[i], ""); err != nil {
				s.t.Error(err)
			}
		}
	}
	return b, err
}

// TestWatchAgrees: what is found in live frames is what is found in the same frames when they are read from a file.
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
	w := fabricagent.NewWriter(&kept, "")
	if _, err := w.AddTap(src.Taps()[0]); err != nil {
		t.Fatal(err)
	}
	var got []rule.Finding
	sent, last := uint64(0), uint64(0)
	_, err = agent.Run(context.Background(), &tee{src, w, t}, agent.Options{Watch: &agent.Watch{
		Settle: 200 * time.Millisecond, Every: 50 * time.Millisecond,
		Found: func(list []rule.Finding) { got = append(got, list...) },
		Status: func(s *agent.Status) {
			if sent == 0 {
				go func() {
					sent = uint64(replay(t, raw, "left"))
					delivered(src, sent)
					src.Stop()
				}()
				sent = 1
			}
			last = s.Packets
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if last != sent || src.Taps()[0].Dropped > 0 {
		t.Errorf("%d frames sent, %d seen, %d dropped", sent, last, src.Taps()[0].Dropped)
	}
	file, err := fabricagent.OpenReader("kept", &kept)
	if err != nil {
		t.Fatal(err)
	}
	r, err := agent.Run(context.Background(), file, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(told(r.Findings), told(got)); d != "" || len(got) < 100 {
		t.Errorf("%d findings; check (-), watch (+):\n%s", len(got), d)
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
