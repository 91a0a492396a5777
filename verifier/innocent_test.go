package verifier_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

var (
	simRuns = flag.Int("sim.runs", 200, "simulated connections in each setting of TestInnocent; with 1 and -v the connection is shown")
	simSeed = flag.Uint64("sim.seed", 0, "seed of the first of them")
)

// innocentSetting is what the connections of a part of TestInnocent have in common.
type innocentSetting struct {
	near  string // endpoints that the tap is near
	start string // CM: the capture holds the CM exchange; first: it begins with the first packet; later: in mid-stream
	lossy bool   // packets are lost, though none between the tap and an endpoint that it is near
}

func (i innocentSetting) String() string {
	path := "whole"
	if i.lossy {
		path = "lossy"
	}
	return path + "/near=" + i.near + "/" + i.start
}

var innocentSettings = func() (all []innocentSetting) {
	for _, lossy := range []bool{false, true} {
		for _, near := range []string{"", "A", "B", "AB"} {
			for _, start := range []string{"CM", "first", "later"} {
				if !lossy || near != "AB" { // between which nothing is lost
					all = append(all, innocentSetting{near: near, start: start, lossy: lossy})
				}
			}
		}
	}
	return all
}()

// TestInnocent: nobody is accused while both ends are correct, wherever packets are lost.
func TestInnocent(t *testing.T) {
	for _, setting := range innocentSettings {
		t.Run(setting.String(), func(t *testing.T) {
			shortest := map[rule.ID]*innocent{}
			count := map[rule.ID]int{}
			for n := range sample.Part(*simRuns, 10) {
				run := newInnocent(t, setting, *simSeed+uint64(n))
				accused := run.accused(t, run.lines)
				for id := range accused {
					count[id]++
					if b := shortest[id]; b == nil || len(run.lines) < len(b.lines) {
						shortest[id] = run
					}
				}
				if *simRuns == 1 && testing.Verbose() {
					t.Log(run.show(t))
				}
			}
			for id, run := range shortest {
				t.Errorf("%v accuses in %d of %d connections; seed %d on %s:\n%s", id, count[id], *simRuns, run.seed, run.encap, strings.Join(run.shorten(t, id), "\n"))
			}
		})
	}
}

// innocent is a simulated connection.
type innocent struct {
	innocentSetting
	seed  uint64
	encap string
	lines []string
}

// newInnocent simulates a connection.
func newInnocent(t *testing.T, setting innocentSetting, seed uint64) *innocent {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &simulation{Rand: r, pmtu: 256 << r.IntN(3)}
	s.most, s.timeout = 1+r.IntN(6), 500_000+r.Int64N(2_000_000)
	s.epsn, s.saved = []int{100, 0xfffff0, 0, 5000}[r.IntN(4)], map[int]int{}
	if r.IntN(3) == 0 {
		s.scarce = 0.1
	}
	if setting.lossy {
		p := []float64{0.01, 0.03, 0.1}[r.IntN(3)]
		s.loss = [4]float64{p, p, p, p}
		if strings.Contains(setting.near, "A") {
			s.loss[0], s.loss[3] = 0, 0
		}
		if strings.Contains(setting.near, "B") {
			s.loss[1], s.loss[2] = 0, 0
		}
	}
	run := &innocent{innocentSetting: setting, seed: seed, encap: []string{"v4", "v4", "v6", "ib"}[r.IntN(4)]}
	if setting.start == "CM" {
		run.lines = []string{"0us A>B CM_REQ psn=500", fmt.Sprintf("100us B>A CM_REP psn=%d", s.epsn), "200us A>B CM_RTU"}
		run.lines[0] += fmt.Sprintf(" pmtu=%d", s.pmtu)
		s.now = 300_000
	}
	s.prepare(3+r.IntN(25), s.epsn)
	if !s.run() {
		t.Fatalf("seed %d: the simulated connection is stuck", seed)
	}
	if setting.start == "later" {
		s.seen = s.seen[r.IntN(len(s.seen)):]
	}
	for _, l := range s.seen {
		run.lines = append(run.lines, fmt.Sprintf("%dns %s", l.at, l.text))
	}
	return run
}

// verify runs lines of the connection as a scenario.
func (i *innocent) verify(t *testing.T, lines []string) *scenario {
	o, err := parseOptions(&datadriven.TestData{Cmd: "trace"})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range i.near {
		o.near = append(o.near, string(end))
	}
	s := newScenario(o, encapByName[i.encap])
	if err := s.run(strings.Join(lines, "\n")); err != nil {
		t.Fatal(err)
	}
	return s
}

// accused returns the rules that some endpoint is found to have broken, and the newest frame that proves it.
func (i *innocent) accused(t *testing.T, lines []string) map[rule.ID]int {
	m := map[rule.ID]int{}
	for _, f := range i.verify(t, lines).agent.Rec.Findings {
		if _, ok := m[f.Rule]; f.Class == rule.Violation && !ok {
			m[f.Rule] = int(slices.Max(append(f.Evidence, f.Frame)))
		}
	}
	return m
}

// shorten returns the shortest stretch of the connection found in which rule id still accuses.
func (i *innocent) shorten(t *testing.T, id rule.ID) []string {
	lines := i.lines
	if n := min(i.accused(t, lines)[id]+1, len(lines)); i.accuses(t, lines[:n], id) {
		lines = lines[:n]
	}
	if i.start == "CM" { // without which the rest would be another connection
		return lines
	}
	for first := len(lines) - 1; first > 0; first-- {
		if i.accuses(t, lines[first:], id) {
			return lines[first:]
		}
	}
	return lines
}

func (i *innocent) accuses(t *testing.T, lines []string, id rule.ID) bool {
	_, ok := i.accused(t, lines)[id]
	return ok
}

// show is the connection and what is found of it.
func (i *innocent) show(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d on %s\n", i.seed, i.encap)
	for n, text := range i.lines {
		fmt.Fprintf(&b, "%3d %s\n", n+1, text)
	}
	s := i.verify(t, i.lines)
	s.options.events = true
	return b.String() + s.print()
}
