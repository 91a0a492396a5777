package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/testkit/posted"
	"ibwitness/packet"
)

// solicits is what the device of surf_* does otherwise, and misled what it does after a loss: it sends messages with the data of others (rule CPL-LEN-004).
var (
	solicits = regexp.MustCompile(`RC SEND (First|Middle) .*: Solicited Event 1, expected 0; Invariant CRC \S+ expected \S+; the fast path says that it departs in Solicited Event$`)
	misled   = "surf_loss"
)

// TestPosted: each packet of soft-RoCE and of hardware in simulation whose work request the event logs tell is the one that the request lets expect, in all fields
// that it determines.
func TestPosted(t *testing.T) {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "captures")
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if len(logs) == 0 {
		t.Skipf("no event logs at %s; set IBWITNESS_CAPTURES", dir)
	}
	captures := map[string][]string{}
	for _, path := range logs {
		base, _, _ := strings.Cut(filepath.Base(path), ".")
		if base == misled {
			continue
		}
		base = filepath.Join(filepath.Dir(path), base)
		captures[base] = append(captures[base], path)
	}
	requests, known := 0, 0
	opcodes := map[packet.Opcode]int{}
	for base, logs := range captures {
		c := checked(t, base, logs)
		if c == nil {
			continue
		}
		t.Logf("%s: the work requests of %d of %d packets are known", filepath.Base(base), c.Known, c.Requests)
		requests, known = requests+c.Requests, known+c.Known
		for o, n := range c.Opcodes {
			opcodes[o] += n
		}
		for _, d := range c.Differs {
			if strings.HasPrefix(filepath.Base(base), "surf_") && solicits.MatchString(d) {
				continue // that device sets SE in First and Middle packets too: rule BTH-012
			}
			t.Errorf("%s: %s", filepath.Base(base), d)
		}
	}
	t.Logf("the work requests of %d of %d packets are known: %v", known, requests, opcodes)
}

// checked compares the packets of a capture with its logs.
func checked(t *testing.T, base string, logs []string) *posted.Check {
	path, _ := filepath.Glob(base + ".pcap*")
	if len(path) == 0 {
		return nil
	}
	src, err := fabricagent.Open(path[:1])
	if err != nil {
		t.Error(err)
		return nil
	}
	defer src.Close()
	c := newCompletions(nil)
	for _, name := range logs {
		l, err := eventlog.ReadFile(name)
		if err != nil {
			t.Error(err)
			return nil
		}
		c.logs.add(l)
		c.sources = append(c.sources, c.queues.Source(l.Name, l.Addr, l.Exact))
	}
	check := &posted.Check{Queues: c.queues, Wire: c.wire}
	d := decoder{whole: true}
	for {
		b, err := src.Next()
		if err != nil {
			return check
		}
		for i := range b.Frames {
			var p packet.Packet
			if !d.packet(&b.Frames[i], &p) {
				continue
			}
			for _, e := range c.logs.upTo(p.Time) {
				c.event(e.log, e.Event)
			}
			check.Packet(&p)
		}
		b.Release()
	}
}
