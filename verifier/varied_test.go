package verifier_test

import (
	"cmp"
	"flag"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"

	"github.com/cockroachdb/datadriven"

	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/tally"
	"ibwitness/rule"
	"ibwitness/verifier"
)

const (
	variations  = 16 // of each scenario
	listed      = 4  // of which findings are in the golden file
	differences = 20 // that are told
)

// enough reports whether no more differences are to be told: with -failfast, one is.
func enough(told int) bool {
	return told >= differences || told > 0 && flag.Lookup("test.failfast").Value.String() == "true"
}

// TestVaried holds what is said of scenarios, and of simulated connections, with random changes in them: a packet lost, repeated, reordered, late, cut or with
// another field; another tap; another number in a line. Nobody has judged whether that is right: it shows what a change of the verifiers changes beyond the
// scenarios. testdata/varied has a line for each scenario, and make golden writes it. Where behaviour was meant to change, look at some of the differences first: the
// test shows each of them whole.
//
// A line has of the first variations the findings, as rule, frame, class and accused, and of each a checksum of all that is said of it, with coverage and connections.
func TestVaried(t *testing.T) {
	told := 0
	file := func(name string, list []*datadriven.TestData) {
		if enough(told) {
			return
		}
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			golden := filepath.Join("testdata", "varied", name)
			was := readVaried(t, golden)
			var out strings.Builder
			times, taken := map[string]int{}, uint64(0)
			for i, d := range list {
				key := scenarioKey(d)
				if times[key]++; times[key] > 1 {
					key += fmt.Sprint(" #", times[key])
				}
				if i%sample.Stride(3) > 0 {
					continue
				}
				fmt.Fprint(&out, key)
				frames := map[string]uint64{}
				for k := 0; k < variations; k += sample.Stride(variations) {
					v := vary(t, d, key, uint64(k), frames)
					taken += v.taken
					said := v.brief(k < listed)
					fmt.Fprintf(&out, " | %s", said)
					if old := was[key]; !tally.Rewriting() && (k >= len(old) || old[k] != said) {
						t.Errorf("%s: %s, %s:\n  now %s\n  was %s\nNow this is said of it:\n%s", d.Pos, key, strings.Join(v.about, ", "), said, strings.Join(old[min(k, len(old)):min(k+1, len(old))], ""), v.whole())
						if told++; enough(told) {
							t.Fatal("and perhaps more; make golden writes what is said now")
						}
					}
				}
				fmt.Fprintln(&out)
			}
			key, said := "the fast path of RC", fmt.Sprintf("took %d packets of all these", taken)
			fmt.Fprintf(&out, "%s | %s\n", key, said)
			if old := strings.Join(was[key], ""); old != said && !tally.Rewriting() && !testing.Short() {
				t.Errorf("%s %s, and was: %s", key, said, old)
			}
			if tally.Rewriting() {
				if err := os.WriteFile(golden, []byte(out.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	for _, path := range scenarioFiles(t) {
		file(filepath.Base(path), scenarios(t, path))
	}
	file("simulated_rc.txt", simulated(func(set innocentSetting, seed uint64) *innocent { return newInnocent(t, set, seed) }))
	file("simulated_xrc.txt", simulated(func(set innocentSetting, seed uint64) *innocent { return newInnocentXRC(t, set, seed) }))
	file("simulated_rd.txt", simulated(newInnocentRD))
}

// simulated returns simulated connections in all settings as scenarios.
func simulated(simulate func(innocentSetting, uint64) *innocent) (list []*datadriven.TestData) {
	for i, setting := range innocentSettings {
		run := simulate(setting, uint64(1000+i))
		d := &datadriven.TestData{Pos: setting.String(), Cmd: "trace", Input: strings.Join(run.lines, "\n")}
		d.CmdArgs = []datadriven.CmdArg{{Key: "encap", Vals: []string{run.encap}}, {Key: "near", Vals: strings.Split(setting.near, "")}}
		list = append(list, d)
	}
	return list
}

// readVaried reads a file of testdata/varied: what is said of the variations of each scenario.
func readVaried(t *testing.T, path string) map[string][]string {
	b, err := os.ReadFile(path)
	if err != nil && !tally.Rewriting() {
		t.Error(err)
	}
	was := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		was[parts[0]] = parts[1:]
	}
	return was
}

// scenarios returns the scenarios of a file.
func scenarios(t *testing.T, path string) (list []*datadriven.TestData) {
	t.Helper()
	datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
		c := *d
		list = append(list, &c)
		return d.Expected
	})
	return list
}

// scenarioKey names a scenario: its directive and a checksum of its packets.
func scenarioKey(d *datadriven.TestData) string {
	h := fnv.New32a()
	fmt.Fprint(h, d.CmdArgs, d.Input)
	rules := ""
	for _, a := range d.CmdArgs {
		if _, ok := rule.Lookup(a.Key); ok {
			rules += " " + a.Key
		}
	}
	return fmt.Sprintf("%s%s %08x", d.Cmd, rules, h.Sum32())
}

// brief is what the golden file has of a run.
func (s *scenario) brief(findings bool) string {
	sum := crc32.ChecksumIEEE([]byte(s.whole())) & 0xffff
	if !findings {
		return fmt.Sprintf("%04x", sum)
	}
	var b strings.Builder
	for i := range s.agent.Rec.Findings {
		if f := &s.agent.Rec.Findings[i]; f.Class != rule.Event {
			fmt.Fprintf(&b, "%v@%d%c%s ", f.Rule, f.Frame, f.Class.String()[0], s.name(f.Accused))
		}
	}
	return fmt.Sprintf("%s%04x", b.String(), sum)
}

// whole is all that is said of a run.
func (s *scenario) whole() string {
	var b strings.Builder
	found := slices.SortedStableFunc(slices.Values(s.agent.Rec.Findings), func(x, y rule.Finding) int {
		return cmp.Or(cmp.Compare(x.Frame, y.Frame), cmp.Compare(x.Seq, y.Seq))
	})
	for _, f := range found {
		fmt.Fprintf(&b, "  %v %v frame %d %v evidence %v by %v (%v): expected %s, actual %s; %s; gap %v, leans %v, cut %v, time %d\n",
			f.Rule, f.Class, f.Frame, f.PSN, f.Evidence, f.Accused, f.Peer, f.Expected, f.Actual, f.Detail, f.Gap, f.Assumes, f.Cut, f.Time-epoch)
	}
	b.WriteString("  ")
	for id, c := range s.agent.Rec.Cover {
		if c != (rule.Count{}) {
			fmt.Fprintf(&b, "%v %v ", rule.ID(id), c)
		}
	}
	skipped := s.verifier().Skipped[:]
	for len(skipped) > int(verifier.SkipGap)+1 && skipped[len(skipped)-1] == 0 {
		skipped = skipped[:len(skipped)-1] // so that one more reason changes only what has it
	}
	fmt.Fprintf(&b, "\n  not judged %v", skipped)
	if l := s.rc().Latencies; l != nil {
		for i := range l {
			fmt.Fprintf(&b, ", interval %d: %d, %d ns", i, l[i].Count(), l[i].Sum)
		}
	}
	for _, c := range s.agent.Connections() {
		fmt.Fprintf(&b, "\n  %v path MTU %d: %v, %v", c.Service, c.PMTU, sums(&c.Ends[0]), sums(&c.Ends[1]))
	}
	return b.String()
}

// sums is what an end has sent, without what incidents are told by.
func sums(e *agent.End) string {
	return fmt.Sprint("{", e.Addr, " ", e.QPN, " ", e.QPNKnown, " ", e.Near, " ", e.Packets, " ", e.Bytes, " ", e.Messages, " ", e.Retransmissions, " ", e.Duplicates, " ", e.NAKs, " ",
		e.SequenceNAKs, " ", e.RNRNAKs, " ", e.Open, " ", e.OpenFrame, " ", e.OpenSince, "}")
}
