package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibwitness/agent"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
)

// TestWorkersAgree: of random scenarios in which a device has a fault, and with the events of both, the same is found with 1, 2 and 8 workers.
func TestWorkersAgree(t *testing.T) {
	names, found := slices.DeleteFunc(soft.FaultNames(), func(name string) bool { return soft.Faults[name].Needs == soft.Tester }), 0 // those that a scenario can show
	for k := range sample.Part(min(*runs, 200), 10) {
		seed := *first + uint64(k)
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 6)), kinds: *kinds, taps: []string{"a", "b", "middle"}, more: seed%2 == 0}
		text := c.scenario(seed)
		text = strings.Replace(text, "  a: {address", fmt.Sprintf("  a: {fault: %s, address", names[c.IntN(len(names))]), 1)
		s, err := Read(fmt.Sprintf("seed%d.yaml", seed), []byte("packets: 20000\n"+text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var want *agent.Result
		for _, workers := range []int{1, 2, 8} {
			r, err := s.Start(Options{Live: true})
			if err != nil {
				break // the fault keeps a queue pair from being set up
			}
			got, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Workers: workers, Events: r.Logs(), Coverage: true})
			switch {
			case err != nil:
				t.Fatal(err)
			case want == nil:
				want = got
				found += len(got.Findings)
			case cmp.Diff(want, got) != "":
				t.Errorf("seed %d, one worker (-) and %d (+):\n%s", seed, workers, cmp.Diff(want, got))
			}
		}
	}
	if found == 0 {
		t.Error("nothing is found: the faults do not show")
	}
	t.Logf("%d findings", found)
}
