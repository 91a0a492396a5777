package verifier_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/expect"
	"ibwitness/internal/testkit/tally"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier"
)

// TestComparisons shows, of the findings of all scenarios, which fields of their packets differ from the expected ones: testdata/comparisons says it by rule, and
// -rewrite writes it. A rule that is said to judge fields of a packet has to show one that differs in each of its findings on that, but for sometimesBare.
func TestComparisons(t *testing.T) {
	var wrong []string // told at the end: a failure would stop the reading of the files
	shown, bare := map[rule.ID]map[string]bool{}, map[rule.ID]int{}
	each(t, func(d *datadriven.TestData, o *options, s *scenario) {
		for i := range s.agent.Rec.Findings {
			f := &s.agent.Rec.Findings[i]
			if f.Class == rule.Event || !verifier.Judges(f.Rule) && !ofEvents[f.Rule] {
				if f.Comparison != nil {
					wrong = append(wrong, fmt.Sprintf("%s: %s has a comparison", d.Pos, s.line(f)))
				}
				continue
			}
			text := "nothing differs"
			if c := f.Comparison; c != nil {
				text = s.plain(fieldTexts(c.Differ()))
			}
			if shown[f.Rule] == nil {
				shown[f.Rule] = map[string]bool{}
			}
			shown[f.Rule][fmt.Sprintf("%s | %s | %s", s.plain(f.Expected), s.plain(f.Actual), text)] = true
			switch {
			case f.Comparison != nil && len(f.Comparison.Differ()) == 0:
				wrong = append(wrong, fmt.Sprintf("%s: %s: no field of the comparison differs", d.Pos, s.line(f)))
			case f.Comparison == nil && f.Tap == 0:
				if bare[f.Rule]++; sometimesBare[f.Rule] == "" {
					wrong = append(wrong, fmt.Sprintf("%s: %s: nothing differs", d.Pos, s.line(f)))
				}
			}
		}
	})
	for _, w := range wrong {
		t.Error(w)
	}
	for id := range sometimesBare {
		if bare[id] == 0 {
			t.Errorf("each finding of %v is compared: it is none of sometimesBare", id)
		}
	}
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		fmt.Fprintf(&b, "%v\n", id)
		for i, l := range slices.Sorted(maps.Keys(shown[id])) {
			if i < 6 {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
	}
	golden(t, "testdata/comparisons", "TestComparisons", b.String())
}

// ofEvents are the rules that packets break which depart from their work request, or from what their responder owes it.
var ofEvents = map[rule.ID]bool{
	rule.RCSEQ006: true, rule.RCLEN009: true, rule.RCLEN010: true, rule.RCATM003: true, rule.CPLLEN004: true, rule.CPLMEM003: true, rule.UDQKEY002: true, rule.UDAH001: true,
	rule.RCRSP011: true, rule.RCRSP012: true, rule.RCRSP020: true, rule.RCRSP024: true, rule.RCRSP038: true, rule.RCRSP039: true, rule.XRCSRQ001: true, rule.CPLINV002: true,
	rule.QPSACT001: true, rule.FLW003: true, rule.FLW007: true, rule.FLW009: true, rule.CPLMEM005: true,
}

// sometimesBare are the rules that judge fields, and of which some findings have no comparison, and why.
var sometimesBare = func() map[rule.ID]string {
	const (
		later  = "it is told later, of a packet of which little is kept"
		other  = "the packet is that of another end than the accused"
		memory = "the consumer finds it, and no packet shows it"
		unsent = "no field is wrong: it should not have been sent, or not yet"
		events = "the events of its queue pair show it, and the request is not kept"
	)
	return map[rule.ID]string{
		rule.BTH011:    later,
		rule.BTH019:    other,
		rule.NETGRH007: later,
		rule.NETGRH009: "without a GRH there is no address to compare",
		rule.RCRSP001:  "by a completion the request is wrong for its responder only, and as its requester was told to send it",
		rule.RCACK002:  later,
		rule.RCPSN001:  events,
		rule.RCPSN003:  later,
		rule.RCPSN004:  later,
		rule.RCSEQ006:  "no work request asks for the packet",
		rule.RCRES002:  later,
		rule.RCRSP013:  later,
		rule.RCRSP011:  memory,
		rule.UCLEN001:  "by a completion the message is wrong for its receiver only, which was to drop it",
		rule.UCPSN001:  events,
		rule.XRCSRQ001: memory,
		rule.RCRNR002:  unsent,
		rule.RCRTY008:  unsent,
		rule.RDRSY001:  "a refusal has no payload, and whether it was right is not said",
		rule.ROCV2012:  later,
		rule.ROCV2014:  "how long the packet would be without its extension headers is not kept",
		rule.ROCV2029:  other,
		rule.UCADR001:  other,
	}
}()

// each runs all scenarios on InfiniBand and RoCE.
func each(t *testing.T, f func(d *datadriven.TestData, o *options, s *scenario)) {
	t.Helper()
	for _, path := range scenarioFiles(t) {
		eachOf(t, path, f)
	}
}

// eachOf runs those of a file.
func eachOf(t *testing.T, path string, f func(d *datadriven.TestData, o *options, s *scenario)) {
	t.Helper()
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		o, err := parseOptions(d)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		for _, e := range o.encaps {
			s := newScenario(o, e)
			s.keeps = true
			if err := s.run(d.Input); err != nil {
				d.Fatalf(t, "%v", err)
			}
			f(d, o, s)
		}
		return d.Expected
	})
}

func fieldTexts(list []expect.Field) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s, not %s", f.Name, f.Expected, f.Actual)
	}
	return b.String()
}

// TestEventComparisons: each finding of testdata/event_expected.txt shows the fields and bytes that differ from what the work request lets expect, and no others:
// testdata/event_expected says which.
func TestEventComparisons(t *testing.T) {
	var b strings.Builder
	n, last := 0, ""
	eachOf(t, "testdata/event_expected.txt", func(d *datadriven.TestData, _ *options, s *scenario) {
		if d.Pos != last {
			n, last = n+1, d.Pos
		}
		for i := range s.agent.Rec.Findings {
			if f := &s.agent.Rec.Findings[i]; f.Class != rule.Event {
				fmt.Fprintf(&b, "scenario %d, %s, frame %d, %v: %s\n", n, s.encap.name, f.Frame, f.Rule, differing(f.Comparison))
			}
		}
	})
	golden(t, "testdata/event_expected", "TestEventComparisons", b.String())
}

// differing is what a comparison marks, down to the bytes of the payload.
func differing(c *expect.Comparison) string {
	if c == nil {
		return "not compared"
	}
	text := fieldTexts(c.Differ())
	expected, actual := c.Payload()
	for i := range min(len(expected), len(actual)) {
		if expected[i] != actual[i] {
			text += fmt.Sprintf("; byte %d: %02x, not %02x", i, expected[i], actual[i])
		}
	}
	return text
}

// golden compares a text with that of a file, which -rewrite writes.
func golden(t *testing.T, path, test, text string) {
	t.Helper()
	if was, err := os.ReadFile(path); err != nil || string(was) != text {
		if !tally.Rewriting() {
			t.Errorf("%s says something else: run go test ./verifier -run %s -rewrite, and review the difference", path, test)
		} else if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// TestEventFlood: of the packets that depart from their work requests in a second of the capture, the first eight of a rule are compared, and so are those of the
// next second. Which packet a finding is about does not depend on that.
func TestEventFlood(t *testing.T) {
	var b strings.Builder
	b.WriteString("1us A ready peer=B\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%dus A post_send wr_id=%d opcode=SEND_WITH_IMM length=1032 imm=7 flags=2\n", 10*i+5, i)
		fmt.Fprintf(&b, "%dus A>B SEND_FIRST\n%dus A>B SEND_LAST_IMM len=8 imm=8 ackreq\n%dus B>A ACK\n", 10*i+6, 10*i+7, 10*i+8)
	}
	for i := range 200 {
		at := 1_000_000 + 10*i
		fmt.Fprintf(&b, "%dus A post_send wr_id=%d opcode=SEND_WITH_IMM length=1032 imm=7 flags=2\n", at+5, 200+i)
		fmt.Fprintf(&b, "%dus A>B SEND_FIRST\n%dus A>B SEND_LAST_IMM len=8 imm=8 ackreq\n%dus B>A ACK\n", at+6, at+7, at+8)
	}
	d := &datadriven.TestData{Cmd: "trace"}
	o, err := parseOptions(d)
	if err != nil {
		t.Fatal(err)
	}
	s := newScenario(o, o.encaps[0])
	if err := s.run(b.String()); err != nil {
		t.Fatal(err)
	}
	made := map[int64]int{}
	n := 0
	for _, f := range s.agent.Rec.Findings {
		if f.Rule != rule.RCLEN010 {
			continue
		}
		n++
		if f.Comparison != nil {
			made[f.Time/1e9]++
		}
		if f.Frame%3 != 2 {
			t.Errorf("a finding on frame %d, which has no immediate data", f.Frame)
		}
	}
	if n != 400 || len(made) != 2 || slices.Max(slices.Collect(maps.Values(made))) != 8 || slices.Min(slices.Collect(maps.Values(made))) != 8 {
		t.Errorf("%d findings, compared by second %v", n, made)
	}
}

// TestTwins: where clean scenarios of a rule are the same as one that fires up to the packet of the finding, and go on with a packet of the kind that was expected,
// what is determined of the expected packet is as in the packet of one of them.
func TestTwins(t *testing.T) {
	type fired struct {
		pos   string
		rule  rule.ID
		shown [][]byte
		f     rule.Finding
		encap packet.Encap
	}
	waiting := map[rule.ID][]fired{}
	compared, rules := 0, map[rule.ID]bool{}
	matched, departs := map[string]rule.ID{}, map[string]rule.ID{} // findings, by scenario and frame
	sealed := map[packet.Encap]int{}                               // those of which the whole packet is expected, with its ICRC
	why := map[string]string{}
	each(t, func(d *datadriven.TestData, o *options, s *scenario) {
		if o.cmd == "fires" || o.cmd == "unproven" {
			for _, f := range s.agent.Rec.Findings {
				if f.Comparison != nil && f.Rule == o.rules[0] && f.Frame <= uint64(len(s.shown)) {
					waiting[f.Rule] = append(waiting[f.Rule], fired{d.Pos, f.Rule, s.shown, f, s.encap.encap})
				}
			}
			return
		}
		if o.cmd != "clean" {
			return
		}
		for _, id := range o.rules {
			for _, w := range waiting[id] {
				n := int(w.f.Frame)
				if id == rule.NETGRH010 || id == rule.LNKLID003 { // their twins go to another address, or to QP 0
					continue
				}
				if w.encap != s.encap.encap || n > len(s.shown) || !alike(w.shown[:n-1], s.shown) {
					continue
				}
				is, text := twin(w.pos, d.Pos, &w.f, s.shown[n-1])
				key := fmt.Sprint(w.pos, w.encap, w.f.Frame)
				switch {
				case !is:
				case text == "":
					if matched[key] = id; w.f.Comparison.Whole() {
						sealed[w.encap]++
					}
				default:
					departs[key], why[key] = id, text
				}
			}
		}
	})
	for key := range departs { // told at the end: a failure would stop the reading of the files
		if _, ok := matched[key]; !ok {
			t.Error(why[key])
		}
	}
	for _, id := range matched {
		compared++
		rules[id] = true
	}
	for _, e := range []packet.Encap{packet.RoCEv2IPv4, packet.RoCEv2IPv6, packet.RoCEv1} {
		if sealed[e] == 0 {
			t.Errorf("no finding on %v expects a whole packet, of which a twin has the ICRC", e)
		}
	}
	if len(rules) < leastTwins {
		t.Errorf("findings of %d rules have a twin to compare with, of %d before", len(rules), leastTwins)
	}
	t.Logf("%d findings of %d rules compared with a twin: %v", compared, len(rules), slices.Sorted(maps.Keys(rules)))
}

// leastTwins is of how many rules a finding has a twin at least.
const leastTwins = 80

// alike reports whether a scenario begins with the packets of another.
func alike(begin, all [][]byte) bool {
	return slices.EqualFunc(begin, all[:len(begin)], bytes.Equal)
}

// twin compares the packet that a finding expects with that of the clean scenario.
func twin(fires, clean string, f *rule.Finding, twin []byte) (is bool, wrong string) {
	data, mask := f.Comparison.Expected()
	actual := f.Comparison.Actual()
	at := opcodeAt(f.Comparison)
	if at < 0 || at >= len(twin) || mask[at] != 0xFF || f.Comparison.Outcome(expect.Opcode) == expect.Equal && twin[at] != actual[at] {
		return false, "" // another kind of packet: no twin
	}
	for _, g := range f.Comparison.Fields() {
		if (g.ID == expect.Src || g.ID == expect.SLID) && g.Outcome == expect.Equal && !bytes.Equal(twin[g.At:g.At+g.Size], actual[g.At:g.At+g.Size]) {
			return false, "" // one of another sender
		}
	}
	if len(twin) >= len(actual) && bytes.Equal(twin[:len(actual)], actual) && f.Comparison.Outcome(expect.ICRC) != expect.Differs {
		return false, "" // the packet is right there, by other attributes
	}
	if len(twin) < len(data) || !bytes.Equal(masked(data, mask), masked(twin[:len(data)], mask)) {
		return true, fmt.Sprintf("%s, %v on frame %d, expects of what is determined\n%x\n%x\nand its twin, %s, has\n%x\nactual\n%x\n%s", fires, f.Rule, f.Frame, data, mask, clean, twin, actual, fieldTexts(f.Comparison.Fields()))
	}
	return true, ""
}

func opcodeAt(c *expect.Comparison) int {
	for _, f := range c.Fields() {
		if f.ID == expect.Opcode {
			return f.At
		}
	}
	return -1
}

func masked(b, mask []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i] & mask[i]
	}
	return out
}
