package cli

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/internal/testkit/veth"
)

var (
	soak   = flag.Duration("cli.soak", 16*time.Second, "how long TestSoak goes on")
	opened = flag.Int("cli.opened", 4000, "connections that TestSoak opens and closes")
)

// TestSoak watches connections that CM opens and closes, thousands of them, and is killed in the middle: its memory and its goroutines do not grow, the
// log loses nothing that it had, has each fault that came while somebody watched, and accuses nobody else, although the second run joins in mid-stream.
func TestSoak(t *testing.T) {
	sample.Skip(t, "what grows shows late")
	if !veth.Network(t) {
		return
	}
	const messages, least = 8, 21 // frames of a connection
	churn := traffic.NewChurn(200, messages, 500, 1)
	rate := int(float64(*opened) * least / soak.Seconds())
	path := filepath.Join(t.TempDir(), "findings.jsonl")
	args := []string{
		"watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--log", path, "--repeats", "0",
		"--recorder", "2", // MiB, which are full before memory is measured first
		"--idle", max(min(*soak/20, 5*time.Minute), 2*time.Second).String(),
	}
	sent := 0
	half := func() {} // called in the middle of a flood
	flood := func(d time.Duration) {
		n := int(d.Seconds() * float64(rate))
		middle := n / 2
		var frames [64][]byte // that may not have been sent yet
		veth.Flood(t, "left", rate, func() []byte {
			if n--; n < 0 {
				return nil
			}
			if n == middle {
				half()
			}
			sent++
			f := &frames[n%len(frames)]
			*f = churn.Next((*f)[:0])
			return *f
		})
	}
	// run has traffic while a process watches, and returns what it used when it had seen a third of that, and at the end.
	run := func(p *process) (early, late consumed) {
		p.logs("watching")
		sent = 0
		flood(*soak / 6)
		p.arrive("127.0.0.1:9846", sent)
		early = used(t)
		flood(*soak / 3)
		p.arrive("127.0.0.1:9846", sent)
		late = used(t)
		p.settled("127.0.0.1:9846")
		return early, late
	}
	check := func(early, late consumed) {
		t.Helper()
		t.Logf("memory %d, then %d MiB; goroutines %v, then %v; connections %v, then %v", early.bytes>>20, late.bytes>>20, early.goroutines, late.goroutines, early.connections, late.connections)
		if late.goroutines > early.goroutines+3 || late.bytes > early.bytes*5/4+16<<20 {
			t.Error("those grow")
		}
	}

	first := start(t, args...)
	check(run(first))
	spoiled := churn.Spoiled
	half = func() { _ = first.Process.Kill() }
	flood(time.Second)
	half = func() {}
	_ = first.Wait()
	before := lines(t, path, false)
	if n := violations(before); n < spoiled {
		t.Errorf("%d violations are in the log, and %d packets were spoiled", n, spoiled)
	}
	flood(time.Second) // nobody watches

	second := start(t, args...)
	second.logs("watching")
	spoiled = churn.Spoiled
	check(run(second))
	spoiled = churn.Spoiled - spoiled
	second.stop()
	all := lines(t, path, true)
	for i, l := range all {
		if i < len(before) && l.same() != before[i].same() || l.Rule != "BTH-009" && l.Class == "violation" || l.Seq != uint64(i)+1 {
			t.Errorf("line %d of the log: %+v", i, l)
		}
	}
	if n := violations(all[len(before):]); n != spoiled {
		t.Errorf("%d violations came to the log, and %d packets were spoiled", n, spoiled)
	}
	t.Logf("%d connections opened, %d closed, %d violations in the log", churn.Opened, churn.Closed, violations(all))
}

func violations(list []logged) (n uint64) {
	for i := range list {
		if list[i].Class == "violation" {
			n++
		}
	}
	return n
}

// consumed is what a process uses, as its metrics say.
type consumed struct {
	bytes, goroutines, connections int
}

func used(t *testing.T) (u consumed) {
	t.Helper()
	r, err := http.Get("http://127.0.0.1:9846/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*int{"process_resident_memory_bytes": &u.bytes, "go_goroutines": &u.goroutines, "ibwitness_connections": &u.connections} {
		m := regexp.MustCompile(fmt.Sprintf(`(?m)^%s (\S+)$`, name)).FindSubmatch(b)
		if m == nil {
			t.Fatalf("no %s", name)
		}
		f, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		*v = int(f)
	}
	return u
}
