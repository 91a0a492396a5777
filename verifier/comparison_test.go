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
	shown := map[rule.ID]map[string]bool{}
	each(t, func(d *datadriven.TestData, o *options, s *scenario) {
		for i := range s.agent.Rec.Findings {
			f := &s.agent.Rec.Findings[i]
			if f.Class == rule.Event || !verifier.Judges(f.Rule) {
				if f.Comparison != nil {
					t.Errorf("%s: %s has a comparison", d.Pos, s.line(f))
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
				t.Errorf("%s: %s: no field of the comparison differs", d.Pos, s.line(f))
			case f.Comparison == nil && f.Tap == 0 && !sometimesBare[f.Rule]:
				t.Errorf("%s: %s: nothing differs", d.Pos, s.line(f))
			}
		}
	})
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(shown)) {
		fmt.Fprintf(&b, "%v\n", id)
		for i, l := range slices.Sorted(maps.Keys(shown[id])) {
			if i < 6 {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
	}
	const path = "testdata/comparisons"
	if was, err := os.ReadFile(path); err != nil || string(was) != b.String() {
		if !tally.Rewriting() {
			t.Errorf("%s says something else: run go test ./verifier -run TestComparisons -rewrite, and review the difference", path)
		} else if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// sometimesBare are rules that judge fields, and of which some findings have no comparison: they are made of a packet of before, of which little is kept, or about
// another end than the one that sent the packet.
var sometimesBare = map[rule.ID]bool{
	rule.BTH007: true, rule.BTH011: true, rule.BTH012: true, rule.BTH019: true, rule.NETGRH007: true, rule.NETGRH009: true, rule.RCACK002: true, rule.RCPSN003: true, rule.RCPSN004: true,
	rule.RCRES001: true, rule.RCRES002: true, rule.RCRSP006: true, rule.RCRSP013: true, rule.RCRSP018: true, rule.RCRTY008: true, rule.RDRSY001: true, rule.ROCV2012: true,
	rule.ROCV2014: true, rule.ROCV2029: true, rule.UCADR001: true,
}

// each runs the scenarios on InfiniBand and RoCE.
func each(t *testing.T, f func(d *datadriven.TestData, o *options, s *scenario)) {
	t.Helper()
	for _, path := range scenarioFiles(t) {
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
					matched[key] = id
				default:
					departs[key], why[key] = id, text
				}
			}
		}
	})
	for key, id := range departs { // told at the end: a failure would stop the reading of the files
		if _, ok := matched[key]; !ok && !notCompared[id] {
			t.Error(why[key])
		}
	}
	for _, id := range matched {
		compared++
		rules[id] = true
	}
	if len(rules) < leastTwins {
		t.Errorf("findings of %d rules have a twin to compare with, of %d before", len(rules), leastTwins)
	}
	t.Logf("%d findings of %d rules compared with a twin: %v", compared, len(rules), slices.Sorted(maps.Keys(rules)))
}

// notCompared are rules of which a finding has no clean scenario with the expected packet among those that begin like it. Whether what is determined there is
// right is not shown by this test.
var notCompared = map[rule.ID]bool{
	rule.NETGRH008: true,
	rule.RCLEN001:  true,
	rule.RCPSN001:  true,
	rule.RCRSP006:  true,
	rule.RCSEQ005:  true,
	rule.UCLEN003:  true,
	rule.UCPSN001:  true,
	rule.UCPSN002:  true,
	rule.UDMC001:   true,
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
