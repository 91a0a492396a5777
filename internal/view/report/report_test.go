package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/rule"
)

var update = flag.Bool("update", false, "rewrite the golden files; read them before committing")

// TestGolden compares whole reports with files that were read by eye.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file   string
		format string
		run    *Run
		opt    Options
	}{
		{"violated.txt", "text", violated(), Options{}},
		{"violated_all.txt", "text", violated(), Options{All: true}},
		{"violated_color.txt", "text", violated(), Options{Color: true, Width: 72}},
		{"violated.json", "json", violated(), Options{}},
		{"violated_all.json", "json", violated(), Options{All: true}},
		{"violated.xml", "junit", violated(), Options{}},
		{"violated.sarif", "sarif", violated(), Options{}},
		{"warned.xml", "junit", warned(), Options{}},
		{"unproven.xml", "junit", unproven(), Options{}},
		{"unproven.sarif", "sarif", unproven(), Options{}},
		{"garbage.xml", "junit", garbage(), Options{}},
		{"garbage.sarif", "sarif", garbage(), Options{}},
		{"nothing.xml", "junit", nothing(), Options{}},
		{"clean.txt", "text", clean(), Options{}},
		{"unproven.txt", "text", unproven(), Options{}},
		{"warned.txt", "text", warned(), Options{}},
		{"nothing.txt", "text", nothing(), Options{}},
		{"nothing.json", "json", nothing(), Options{}},
		{"open.txt", "text", open(), Options{}},
		{"open.json", "json", open(), Options{}},
		{"open.xml", "junit", open(), Options{}},
		{"open.sarif", "sarif", open(), Options{}},
		{"deaf.txt", "text", missed(), Options{}},
		{"clock.txt", "text", clock(), Options{}},
		{"clock.json", "json", clock(), Options{}},
		{"clock.xml", "junit", clock(), Options{}},
		{"clock.sarif", "sarif", clock(), Options{}},
		{"stopped.txt", "text", stopped(), Options{}},
		{"unjudged.txt", "text", unjudged(), Options{}},
		{"unjudged.json", "json", unjudged(), Options{}},
		{"unjudged.xml", "junit", unjudged(), Options{}},
		{"unjudged.sarif", "sarif", unjudged(), Options{}},
		{"garbage.txt", "text", garbage(), Options{}},
		{"interrupted.txt", "text", interrupted(), Options{}},
		{"many.txt", "text", many(), Options{}},
		{"taps.txt", "text", taps(), Options{}},
	} {
		t.Run(c.file, func(t *testing.T) {
			sink, err := New(c.format, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := sink.Report(&got, c.run); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, withoutCatalogue(got.Bytes()))
		})
	}
}

// withoutCatalogue drops what depends on the size of the catalogue, so that a new rule does not change the golden files: the JSON
// lines of rules that were not exercised, and the sentences that count and list them. TestCoverage tests those.
func withoutCatalogue(out []byte) []byte {
	var kept []byte
	skip := false
	for line := range bytes.Lines(out) {
		has := func(s string) bool { return bytes.Contains(line, []byte(s)) }
		switch {
		case has(`"kind":"rule"`) && has(`"exercised":0,"passed":0,"violated":0,"unproven":0`):
			continue
		case has("Rules") || has("  not exercised, so"):
			skip = true
			kept = append(kept, "[coverage]\n"...)
		case len(line) == 1 || has("rule  ") && has("exercised"):
			skip = false
		}
		if !skip {
			kept = append(kept, line...)
		}
	}
	return rulesTotal.ReplaceAll(kept, []byte("${1}N"))
}

var rulesTotal = regexp.MustCompile(`("rules_total":|nothing violated[^;]*; \d+ of )\d+`)

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got); go test ./internal/view/report -update rewrites it:\n%s", path, d)
	}
}

// TestNarrow: on a terminal of 44 columns no line is wider, so that it breaks no word.
func TestNarrow(t *testing.T) {
	for name, run := range map[string]*Run{"violated": violated(), "unproven": unproven(), "open": open(), "warned": warned(), "missed": missed()} {
		for _, color := range []bool{false, true} {
			sink, err := New("text", Options{Width: 44, Color: color})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := sink.Report(&out, run); err != nil {
				t.Fatal(err)
			}
			for _, l := range strings.Split(out.String(), "\n") {
				if ansi.StringWidth(l) > 44 || strings.HasSuffix(ansi.Strip(l), "-") {
					t.Errorf("%s: %q", name, l)
				}
			}
		}
	}
}

// TestStyled: text with colours is broken at blanks only, not at the hyphens of names.
func TestStyled(t *testing.T) {
	got := styled("\x1b[2malso 1 rnr-wait-request and 12 sequence-nak\x1b[22m", 20)
	want := []string{"\x1b[2malso 1", "rnr-wait-request and", "12 sequence-nak\x1b[22m"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestExitStatus is the table of docs/verdicts.md.
func TestExitStatus(t *testing.T) {
	with := func(r *Run, f FailOn) *Run {
		r.FailOn = f
		return r
	}
	cut := clean()
	cut.Problems = []Problem{{Message: "cut short", Kept: true}}
	garbageAndViolated := violated()
	garbageAndViolated.Problems = garbage().Problems
	interruptedAndViolated := violated()
	interruptedAndViolated.Interrupted = true
	for _, c := range []struct {
		name    string
		run     *Run
		verdict Verdict
		status  int
	}{
		{"clean", clean(), Clean, 0},
		{"unproven", unproven(), NotProven, 0},
		{"violated", violated(), Violated, 1},
		{"violated, never fail", with(violated(), FailNever), Violated, 0},
		{"warnings", with(warned(), FailOnError), Clean, 0},
		{"warnings, fail on them", with(warned(), FailOnWarning), Warned, 1},
		{"violated, fail on warnings", with(violated(), FailOnWarning), Violated, 1},
		{"cut in its last record", cut, Clean, 0},
		{"garbage", garbage(), Incomplete, 2},
		{"garbage, never fail", with(garbage(), FailNever), Incomplete, 2},
		{"garbage after a violation", garbageAndViolated, Violated, 1},
		{"interrupted", interrupted(), Incomplete, 2},
		{"interrupted after a violation", interruptedAndViolated, Violated, 1},
		{"no RDMA packet", nothing(), NotJudged, 2},
		{"no packet that could be judged", unjudged(), NotJudged, 2},
		{"requests without an answer", open(), Open, 0},
		{"requests without an answer, fail on warnings", with(open(), FailOnWarning), Open, 0},
		{"stopped under load", stopped(), Open, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v, s := c.run.Verdict(), c.run.ExitStatus(); v != c.verdict || s != c.status {
				t.Errorf("got %v, exit status %d; want %v, %d", v, s, c.verdict, c.status)
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	r := violated().Result
	c := coverageOf(r)
	total := 0
	for _, id := range rule.Rules() {
		if !id.NeedsEvents() {
			total++
		}
	}
	if c.exercised != 6 || c.passed != 2 || c.violated != 2 || c.warned != 1 || c.unproven != 1 || c.total != total {
		t.Errorf("%+v", c)
	}
	want := "6 of 200 exercised: 1 held, 3 violated, 1 warned, 1 not proven. 154 found nothing to judge in this traffic, so they were not verified. " +
		"40 cannot be judged from packets."
	if got := (coverage{200, 6, 1, 3, 1, 1, 40}).sentence(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := (coverage{total: 200, exercised: 200, passed: 200}).sentence(), "200 of 200 exercised: 200 held."; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestFormats(t *testing.T) {
	if _, err := New("yaml", Options{}); err == nil {
		t.Error("there is a format yaml")
	}
	if got := Formats(); !cmp.Equal(got, []string{"json", "junit", "sarif", "text"}) {
		t.Errorf("formats %v", got)
	}
}

// The runs below are made by hand: what is tested here is how they are shown.

const start = int64(1_764_000_000_000_000_000)

var (
	left  = addr("10.0.0.1")
	right = addr("10.0.0.2")
)

func addr(s string) packet.Addr {
	a, err := packet.ParseAddr(s)
	if err != nil {
		panic(err)
	}
	return a
}

func by(role rule.Role, a packet.Addr, qpn uint32) rule.Endpoint {
	return rule.Endpoint{Role: role, Addr: a, QPN: qpn, QPNKnown: qpn != 0}
}

// found is a finding on a packet of RC.
func found(id rule.ID, c rule.Class, frame uint64, op packet.Fn, psn packet.PSN, accused, peer rule.Endpoint) rule.Finding {
	return rule.Finding{
		Rule: id, Class: c, Service: packet.RC, Opcode: packet.Op(packet.RC, op), HasBTH: true, PSN: psn,
		Time: start + int64(frame)*1_250_000, Frame: frame, Accused: accused, Peer: peer,
	}
}

func result(findings ...rule.Finding) *agent.Result {
	slices.SortStableFunc(findings, func(a, b rule.Finding) int { return int(a.Frame) - int(b.Frame) })
	r := &agent.Result{
		Packets: 1327, RDMA: 1320, First: start, Last: start + 3_021_400_000, Findings: findings,
		Taps: []fabricagent.Tap{{File: "trace.pcap", Link: fabricagent.LinkEthernet}},
		Connections: []agent.Connection{{
			Service: packet.RC, Encap: packet.RoCEv2IPv4, PMTU: 1024, PairedBy: agent.ByPSN, First: start, FirstFrame: 1,
			Ends: [2]agent.End{
				{Addr: left, QPN: 0x11, QPNKnown: true, Packets: 1016, Bytes: 1_048_576, Messages: 300, Retransmissions: 12},
				{Addr: right, QPN: 0x1a, QPNKnown: true, Packets: 304, Duplicates: 3, NAKs: 8, SequenceNAKs: 4, RNRNAKs: 4},
			},
		}},
	}
	for _, id := range []rule.ID{rule.RCRSP005, rule.RCRSP006, rule.RCRSP008, rule.RCRSP013} {
		r.Cover[id] = rule.Count{Exercised: 300}
	}
	for i := range findings {
		switch f := &findings[i]; f.Class {
		case rule.Violation:
			r.Cover[f.Rule].Violated++
			r.Cover[f.Rule].Exercised++
		case rule.Unproven:
			r.Cover[f.Rule].Unproven++
			r.Cover[f.Rule].Exercised++
		}
	}
	return r
}

func clean() *Run { return &Run{Result: result()} }

func violated() *Run {
	var list []rule.Finding
	requester, responder := by(rule.Requester, left, 0x11), by(rule.Responder, right, 0x1a)
	for i := range uint64(7) {
		f := found(rule.RCRSP003, rule.Violation, 6+3*i, packet.Acknowledge, 0xec4820, responder, requester)
		f.Evidence = []uint64{4 + 3*i, 5 + 3*i}
		f.Expected = "no further NAK before the request at PSN 0xec4820 has come"
		f.Actual = "NAK PSN sequence error (syndrome 0x60)"
		f.Detail = "the responder had answered PSN 0xec4820 with an RNR NAK; the requests after it are to be dropped silently"
		list = append(list, f)
		e := found(rule.EvRNRNAK, rule.Event, 4+3*i, packet.Acknowledge, 0xec4820, responder, requester)
		e.Actual = "RNR NAK, timer 0.64 ms"
		list = append(list, e)
	}
	f := found(rule.RCRSP013, rule.Violation, 40, packet.Acknowledge, 0xec4831, by(rule.Responder, left, 0x11), by(rule.Requester, right, 0x1a))
	f.Expected, f.Actual = "MSN 17", "MSN 19"
	list = append(list, f)
	for i := range uint64(5) {
		f := found(rule.RCRSP004, rule.Violation, 50+i, packet.SendOnly, packet.PSN(0xec4900+i), responder, requester)
		f.Expected, f.Actual = "an answer to the duplicate", "none"
		list = append(list, f)
	}
	for i := range uint64(3) {
		e := found(rule.EvRetransmission, rule.Event, 60+i, packet.SendOnly, packet.PSN(0xec4910+i), requester, responder)
		list = append(list, e)
	}
	e := found(rule.EvRetransmission, rule.Event, 70, packet.SendOnly, 0x10, by(rule.Requester, right, 0x1a), requester)
	list = append(list, e)
	u := found(rule.RCRSP005, rule.Unproven, 80, packet.SendOnly, 0x11, responder, requester)
	u.Expected, u.Actual, u.Detail = "an ACK", "none until the capture ended", "the ACK may have been lost before the tap"
	list = append(list, u)
	run := &Run{Result: result(list...)}
	run.Result.NotJudged = []agent.Note{
		{Reason: "payload cut by the snap length: ICRC not computed", Count: 1200},
		{Reason: "the sender's QP is not known", Count: 3},
	}
	return run
}

func unproven() *Run {
	u := found(rule.RCRSP005, rule.Unproven, 80, packet.SendOnly, 0x11, by(rule.Responder, right, 0), by(rule.Requester, left, 0x11))
	u.Expected, u.Actual, u.Detail = "an ACK", "none until the capture ended", "the ACK may have been lost before the tap"
	return &Run{Result: result(u)}
}

func warned() *Run {
	var list []rule.Finding
	for i := range uint64(1234) {
		f := found(rule.RCRSP004, rule.Violation, 50+i, packet.SendOnly, packet.PSN(i), by(rule.Responder, right, 0x1a), by(rule.Requester, left, 0x11))
		f.Expected, f.Actual = "an answer to the duplicate", "none"
		list = append(list, f)
	}
	return &Run{Result: result(list...), FailOn: FailOnWarning}
}

func nothing() *Run {
	return &Run{Result: &agent.Result{
		Packets: 12, First: start, Last: start + 1e9, Taps: []fabricagent.Tap{{File: "dns.pcap"}},
	}}
}

// open is a run whose responder fell silent.
func open() *Run {
	r := clean()
	r.Result.Open = agent.Open{Requests: 3, Connections: 1, Again: true, Waited: 1_234_567_890, Frame: 1301}
	return r
}

// missed is a run whose tap recorded nothing for a while.
func missed() *Run {
	r := clean()
	r.Result.Gaps = 1
	return r
}

// clock is a run over frames of which those of one direction are stamped in 1970.
func clock() *Run {
	r := clean()
	r.Result.Clock = agent.ClockStep{Frame: 2, By: -498611 * time.Hour, Count: 640}
	return r
}

// stopped is a run that ended under load.
func stopped() *Run {
	r := clean()
	r.Result.Open = agent.Open{Requests: 16, Connections: 2, Waited: 12_345, Frame: 1310}
	return r
}

// unjudged is a run over nothing but manufacturer-specific opcodes.
func unjudged() *Run {
	return &Run{Result: &agent.Result{
		Packets: 1327, RDMA: 1320, Unjudged: 1320, First: start, Last: start + 1e9, Taps: []fabricagent.Tap{{File: "trace.pcap"}},
		NotJudged: []agent.Note{{Reason: "packets with manufacturer-specific opcodes: only the headers judged", Count: 1320}},
	}}
}

func garbage() *Run {
	r := clean()
	r.Problems = []Problem{{Message: "trace.pcap: garbage at byte 10240, frame 1328: record of 3.9 GB: everything before is used; copy the file again, or capture again"}}
	return r
}

func interrupted() *Run {
	r := clean()
	r.Interrupted = true
	return r
}

// many has more connections and accused than a page holds.
func many() *Run {
	r := result()
	r.Connections = nil
	for i := range uint32(50) {
		a := addr("fd77::1")
		a.Lo += uint64(i)
		r.Connections = append(r.Connections, agent.Connection{
			Service: packet.RC, Encap: packet.RoCEv2IPv6, PMTU: 4096, PairedBy: agent.ByCM, First: start,
			Ends: [2]agent.End{
				{Addr: a, QPN: 0x100 + i, QPNKnown: true, Packets: uint64(1000 + i), Bytes: uint64(i) << 32, Messages: uint64(i)},
				{Addr: addr("fd77::ffff"), QPN: 0x200 + i, QPNKnown: i%2 == 0, Packets: 17, Near: true},
			},
		})
		if i%2 == 0 {
			f := found(rule.RCRSP013, rule.Violation, uint64(i), packet.Acknowledge, packet.PSN(i),
				by(rule.Responder, addr("fd77::ffff"), 0x200+i), by(rule.Requester, a, 0x100+i))
			f.Expected, f.Actual = "MSN 1", "MSN 2"
			r.Findings = append(r.Findings, f)
			r.Cover[f.Rule].Violated++
		}
	}
	return &Run{Result: r}
}

// taps is one run seen from two places, one of which has a name that tries to steer the terminal.
func taps() *Run {
	r := result(found(rule.RCRSP013, rule.Violation, 3, packet.Acknowledge, 3, by(rule.Responder, right, 0x1a), by(rule.Requester, left, 0x11)))
	r.Findings[0].Tap = 1
	r.Taps = []fabricagent.Tap{{File: "a.pcapng", Interface: "eth0\x1b[31m"}, {File: "b.pcapng", Dropped: 7}}
	r.Repeated, r.Dropped = 660, 7
	return &Run{Result: r, Problems: []Problem{{Message: "b.pcapng: cut short at byte 77, frame 9: everything before is used", Kept: true}}}
}
