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
	"ibwitness/internal/testkit/sample"
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
	sample.Skip(t, "nothing runs beside it")
	captures := map[string][]string{}
	for _, folder := range recorded(t) {
		logs, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range logs {
			base, _, _ := strings.Cut(filepath.Base(path), ".")
			if base == misled {
				continue
			}
			base = filepath.Join(folder, base)
			captures[base] = append(captures[base], path)
		}
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
	for _, o := range []packet.Opcode{
		packet.Op(packet.RC, packet.SendOnly), packet.Op(packet.RC, packet.WriteFirst), packet.Op(packet.RC, packet.ReadRequest), packet.Op(packet.RC, packet.FetchAdd),
		packet.Op(packet.UC, packet.SendMiddle), packet.Op(packet.UC, packet.WriteLast), packet.Op(packet.UD, packet.SendOnly),
	} {
		if opcodes[o] == 0 {
			t.Errorf("of no %v the work request is known", o)
		}
	}
}

// recorded are the folders with captures and logs of verbs events: those of the folder of captures, where it is here, else those of the repository. A folder that IBWITNESS_CAPTURES
// names must be whole.
func recorded(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("IBWITNESS_CAPTURES")
	named := dir != ""
	if !named {
		dir = "../../shared/captures"
	}
	rxe, _ := filepath.Glob(dir + "/rxe/*.jsonl")
	rtl, _ := filepath.Glob(dir + "/rtl/*.jsonl")
	switch {
	case len(rxe) > 0 && len(rtl) > 0:
		return []string{dir + "/rxe", dir + "/rtl"}
	case named:
		t.Fatalf("no logs of verbs events are in rxe and rtl of %s, which IBWITNESS_CAPTURES names", dir)
	}
	t.Logf("%s is not here, only the captures of the repository are verified: IBWITNESS_CAPTURES names the folder of captures", dir)
	const planted = "../internal/testkit/planted/testdata"
	return []string{"testdata/logged", planted, planted + "/hardware"}
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
