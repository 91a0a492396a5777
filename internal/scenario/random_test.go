package scenario

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
	"ibwitness/verifier"
)

var (
	runs  = flag.Int("scenario.runs", 200, "random scenarios")
	first = flag.Uint64("scenario.seed", 1, "the first seed")
	keep  = flag.String("scenario.keep", "", "folder for the scenarios that show something wrong")
	kinds = flag.String("scenario.errors", "drop corrupt duplicate reorder delay mark", "the errors that random scenarios have")
)

// chance makes up scenarios.
type chance struct {
	*rand.Rand
	strings.Builder
	kinds  string // of errors
	taps   []string
	more   bool // XRC, FLUSH, ATOMIC WRITE and multicast too
	groups [2]string

	profile verifier.Profile
}

func (c *chance) line(format string, args ...any) { fmt.Fprintf(&c.Builder, format+"\n", args...) }

func (c *chance) is(p float64) bool { return c.Float64() < p }

func pick[T any](c *chance, list ...T) T { return list[c.IntN(len(list))] }

// scenario makes up a scenario in which each device does as it should and the network does not.
func (c *chance) scenario(seed uint64) string {
	a, b, groups := "10.0.0.1", "10.0.0.2", [2]string{"239.1.1.1", "239.2.2.2"}
	if c.is(0.3) {
		a, b, groups = "fd00::1", "fd00::2", [2]string{"'ff0e::1'", "'ff0e::2'"}
	}
	c.groups = groups
	rate := ""
	if c.more {
		rate = pick(c, "", ", rate: 10G", ", rate: 50G")
	}
	c.line("seed: %d\nlink: {delay: %dns%s}\ntaps: [%s]\nhcas:", seed, 200+c.IntN(5000), rate, pick(c, c.taps...))
	credits, cnps := c.is(0.3), c.cnps()
	for _, h := range [][2]string{{"a", a}, {"b", b}} {
		c.line("  %s: {address: '%s', credits: %v, window: %d, ack_delay: %dns, ack_every: %d%s}", h[0], h[1], credits, 4+c.IntN(60), pick(c, 0, 0, c.IntN(8000)), c.IntN(4), cnps)
	}
	var types []string
	n := 1 + c.IntN(3)
	if c.more {
		c.sharedQueues(n)
	}
	c.line("qps:")
	for i := range n {
		t := pick(c, "RC", "RC", "RC", "RC", "UC", "UD")
		if c.more {
			t = pick(c, "RC", "RC", "XRC", "XRC", "UC", "UD", "UD")
		}
		types = append(types, t)
		pmtu, res := 256<<c.IntN(5), 1+c.IntN(8)
		timeout, rnr := 8+c.IntN(3), 1+c.IntN(12)
		for k, h := range []string{"a", "b"} {
			peer := fmt.Sprintf("peer: %s%d, ", []string{"b", "a"}[k], i)
			if t == "UD" {
				peer = c.joins()
			}
			if half(t, h) == "XRC-target" {
				peer += fmt.Sprintf("domain: d%d, ", i)
			}
			psn := c.IntN(1 << 24)
			if i == 0 && c.is(0.3) {
				psn = 1<<24 - 1 - c.IntN(20)
			}
			c.line("  %s%d: {hca: %s, %stype: %s, pmtu: %d, psn: %d, timeout: %d, min_rnr_timer: %d, max_rd_atomic: %d, max_dest_rd_atomic: %d, traffic_class: %d}",
				h, i, h, peer, half(t, h), pmtu, psn, timeout, rnr, res, res, c.ecn())
		}
	}
	c.line("work:")
	for i, t := range types {
		c.work(i, t, "a", "b")
		if t != "XRC" && c.is(0.5) {
			c.work(i, t, "b", "a")
		}
	}
	c.errors(c.kinds, a != "10.0.0.1")
	return c.String()
}

// work has a queue pair send something to its peer.
func (c *chance) work(i int, typ, from, to string) {
	ops := []string{"send", "send_imm", "write", "write_imm", "read", "cmp_swap", "fetch_add"}
	switch typ {
	case "UC":
		ops = ops[:4]
	case "UD":
		ops = ops[:2]
	case "RC":
		if c.more {
			ops = append(ops, "flush", "atomic_write", "send_inv")
		}
	}
	n := 3 + c.IntN(30)
	c.receive(i, typ, to, n)
	for range n {
		op := pick(c, ops...)
		length := pick(c, c.IntN(200), c.IntN(2000), c.IntN(12000))
		if typ == "UD" {
			length = c.IntN(257)
		}
		if op == "cmp_swap" || op == "fetch_add" || op == "atomic_write" {
			length = 8
		}
		dest := c.dest(i, typ, to, op)
		c.line("  - {qp: %s%d, op: %s, length: %d, at: %dns, offset: %d, signaled: %v, solicited: %v, fence: %v%s}", from, i, op, length,
			pick(c, 0, 0, c.IntN(100000)), 8*c.IntN(1000), c.is(0.8), c.is(0.2), op == "send_inv" || c.is(0.1), dest)
	}
}

// errors spoils the network. A late copy over IPv6 cannot be distinguished from a retransmission, so those come at once.
func (c *chance) errors(kinds string, ipv6 bool) {
	begun := false
	for _, from := range []string{"a", "b"} {
		for _, kind := range strings.Fields(kinds) {
			if !c.is(0.3) {
				continue
			}
			if !begun {
				c.line("errors:")
				begun = true
			}
			late := pick(c, 0, c.IntN(30000))
			if ipv6 {
				late = 0
			}
			more := map[string]string{
				"duplicate": fmt.Sprintf(", copies: %d, delay: %dns", 1+c.IntN(2), late),
				"reorder":   fmt.Sprintf(", overtaken_by: %d, at_most: %dus", 1+c.IntN(5), 1+c.IntN(50)),
				"delay":     fmt.Sprintf(", delay: %dns, jitter: %dns, hold: %v", c.IntN(3000), c.IntN(20000), c.is(0.5)),
				"corrupt":   ", flip: 1",
				"mark":      fmt.Sprintf(", queue: %dns", pick(c, 0, c.IntN(2000))),
			}[kind]
			c.line("  - {do: %s, from: %s, probability: %.4f, where: %s%s}", kind, from, 0.0001+c.Float64()*0.05, pick(c, "before", "after"), more)
		}
	}
}

// TestRandom: no device is accused, whatever the network does.
func TestRandom(t *testing.T) {
	n := sample.Part(*runs, 10)
	nobody(t, n, "seed", func(seed uint64) (*chance, string) {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 3)), kinds: *kinds, taps: []string{"a", "b", "middle"}, more: seed%2 == 0}
		return c, c.scenario(seed)
	})
}

// nobody runs n random scenarios, in which nobody is accused. Those that go wrong are kept by name, where that is asked for.
func nobody(t *testing.T, n int, name string, scenario func(seed uint64) (*chance, string)) {
	packets, bad := uint64(0), 0
	for seed := *first; seed < *first+uint64(n) && bad < 10; seed++ {
		c, text := scenario(seed)
		wrong, seen := judge(t, fmt.Sprintf("seed%d.yaml", seed), text, rule.Violation, &c.profile)
		packets += seen
		if wrong != "" {
			bad++
			t.Errorf("seed %d: %s", seed, wrong)
			if *keep != "" {
				if err := os.WriteFile(filepath.Join(*keep, fmt.Sprintf("%s%d.yaml", name, seed)), []byte(text), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}
	t.Logf("%d runs from seed %d, %d packets", n, *first, packets)
}

// TestWhole: on a network without errors, with the events of both devices and a tap at one of them, nothing is open either.
func TestWhole(t *testing.T) {
	n := sample.Part(*runs, 10)
	for seed := *first; seed < *first+uint64(n); seed++ {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 4)), taps: []string{"a", "b"}, more: seed%2 == 0}
		text := c.scenario(seed)
		if wrong, _ := judge(t, fmt.Sprintf("seed%d.yaml", seed), text, rule.Unproven, &c.profile); wrong != "" {
			t.Fatalf("seed %d: %s\n%s", seed, wrong, text)
		}
	}
}

// TestLogPart: a log that ends early, or begins when its objects were made, accuses nobody, whatever its clock is.
func TestLogPart(t *testing.T) {
	n := sample.Part(*runs, 10)
	for seed := *first; seed < *first+uint64(n); seed++ {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 5)), kinds: *kinds, taps: []string{"a", "b"}, more: seed%4 < 2}
		text := c.scenario(seed)
		wrong, _ := judgeWith(t, fmt.Sprintf("seed%d.yaml", seed), text, rule.Violation, &c.profile, func(logs []*hcaagent.Log) {
			for _, l := range logs {
				l.Exact, l.Complete = l.Exact && seed%3 > 0, false
				at := c.IntN(len(l.Events) + 1)
				if seed%2 == 0 {
					l.Events = l.Events[:at]
					continue
				}
				for i := range l.Events {
					if k := l.Events[i].Kind; k == cq.EvCreateQP || k == cq.EvRegisterMR {
						at = max(at, i+1)
					}
				}
				l.Events = l.Events[at:]
			}
		})
		if wrong != "" {
			t.Errorf("seed %d: %s", seed, wrong)
		}
	}
}

// judge runs a scenario and says what is wrong with the verdict on it: a finding of this class, or of a worse one.
func judge(t *testing.T, name, text string, least rule.Class, profile *verifier.Profile) (wrong string, packets uint64) {
	return judgeWith(t, name, text, least, profile, func([]*hcaagent.Log) {})
}

// judgeWith does so where the logs are changed.
func judgeWith(t *testing.T, name, text string, least rule.Class, profile *verifier.Profile, change func(logs []*hcaagent.Log)) (wrong string, packets uint64) {
	s, err := Read(name, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := s.Start(Options{Keep: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r.Finish()
	logs := r.Logs()
	change(logs)
	res, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Workers: 1, Events: logs, Profile: *profile})
	if err != nil {
		t.Fatal(err)
	}
	if r.Unfinished() {
		return "it did not end", res.RDMA
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Class >= least {
			return fmt.Sprintf("tap %v: %v (%v) at frame %d accuses %v: expected %s, actual %s", s.Taps, f.Rule, f.Class, f.Frame, f.Accused.Addr, f.Expected, f.Actual), res.RDMA
		}
	}
	return "", res.RDMA
}
