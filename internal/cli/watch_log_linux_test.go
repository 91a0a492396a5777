package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

// logged is a line of the log, or of standard output.
type logged struct {
	Seq                                       uint64
	Kind, Rule, Name, Class, Expected, Actual string
	Number                                    uint64 // of an incident
	State                                     string // of an incident
	Frame                                     uint64
	PSN                                       uint32
	Accused                                   struct {
		Address string
		QPN     uint32
	}
}

func (l *logged) same() string {
	if l.Kind == "incident" {
		return fmt.Sprintf("incident %d %s", l.Number, l.State)
	}
	return fmt.Sprintf("%d %s %d %v: %s, %s", l.Frame, l.Rule, l.PSN, l.Accused, l.Expected, l.Actual)
}

// lines reads lines of JSON, and drops one that is torn at the end of standard output.
func lines(t *testing.T, path string, whole bool) (list []logged) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !whole {
		b = b[:bytes.LastIndexByte(b, '\n')+1]
	}
	for s := range strings.Lines(string(b)) {
		var l logged
		if err := json.Unmarshal([]byte(s), &l); err != nil || !strings.HasSuffix(s, "\n") {
			t.Fatalf("%v: %q", err, s)
		}
		list = append(list, l)
	}
	return list
}

// TestWatchLog kills the program again and again while traffic flows: the log has all findings and incidents that were told, once each, with numbers that leave no
// gap, and although each run joins connections in mid-stream, nobody is accused whose traffic is correct.
func TestWatchLog(t *testing.T) {
	sample.Skip(t, "several runs have to be killed while traffic flows")
	if !veth.Network(t) {
		return
	}
	shape := traffic.Small(40)
	shape.Faults, shape.Seed = 60, 3
	raw := traffic.Capture(shape, 60_000)
	path := filepath.Join(t.TempDir(), "findings.jsonl")
	// The traffic goes by what watches it, and not by the time: else there would be fewer runs on a slow machine.
	over, watched := make(chan bool), make(chan int)
	go func() {
		defer close(over)
		send := veth.Sender(t, "left")
		left := 0                                 // frames until it waits for the next run
		correct := traffic.New(traffic.Small(40)) // beside it, between other hosts
		for b, n := raw[24:], 0; len(b) > 16; n++ {
			if left--; left < 0 {
				left = <-watched
			}
			size := int(b[8]) | int(b[9])<<8 | int(b[10])<<16
			send(b[16 : 16+size])
			var p packet.Packet
			src, dst := correct.Next(&p)
			p.Src.Lo += 1 << 16
			p.Dst.Lo += 1 << 16
			p.Complete()
			send(p.AppendEthernet(nil, src, dst))
			if b = b[16+size:]; n%50 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
	}()
	var told [][]logged
	for run := 0; ; run++ {
		p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "", "--repeats", "0", "--log", path)
		p.logs("watching")
		// It is killed when it has told something, in the middle of whatever it does. What is still sent then nobody sees.
		ended := false
		select {
		case <-over:
			ended = true
		case watched <- 16_000 + 1850*run:
			select {
			case <-over:
				ended = true
			case watched <- 1000:
			}
		}
		if ended {
			p.stop()
		} else {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait()
		}
		told = append(told, lines(t, p.out, false))
		if p.ProcessState.ExitCode() == 0 {
			break
		}
		if run == 0 { // as if it had been killed in the middle of a line
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString(`{"seq":999999,"level":"err`); err != nil {
				t.Fatal(err)
			}
			f.Close()
		} else if run == 1 {
			p.logs("the last line was torn")
		}
	}
	runs := [][]logged{}
	violations := 0
	for i, l := range lines(t, path, true) {
		if l.Seq != uint64(i)+1 {
			t.Fatalf("line %d has number %d", i+1, l.Seq)
		}
		switch l.Kind {
		case "started":
			runs = append(runs, nil)
		case "ended":
		default:
			runs[len(runs)-1] = append(runs[len(runs)-1], l)
		}
		if l.Class == "violation" {
			violations++
			if !strings.HasPrefix(l.Accused.Address, "10.0.") {
				t.Errorf("in run %d: %+v", len(runs), l)
			}
		}
	}
	if len(runs) < 3 || len(runs) != len(told) || violations < 30 {
		t.Fatalf("%d runs of %d, %d violations", len(runs), len(told), violations)
	}
	for i := range runs {
		in := map[string]int{}
		for _, l := range runs[i] {
			in[l.same()]++
		}
		for _, l := range told[i] {
			if in[l.same()]--; in[l.same()] < 0 {
				t.Errorf("run %d: the log lacks %+v", i+1, l)
			}
		}
		delete(in, "")
		for s, n := range in {
			if n > 0 && i == len(runs)-1 {
				t.Errorf("the log has %s, which was not told", s)
			}
		}
		t.Logf("run %d: %d findings", i+1, len(runs[i]))
	}
}
