package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ibwitness/cq"
	"ibwitness/internal/testkit/sample"
)

// TestValid: the transport agent finds nothing invalid in the work of random scenarios, and the events are the same whether it would let that through or not.
func TestValid(t *testing.T) {
	for seed := *first; seed < *first+uint64(sample.Part(*runs, 10)/2+1); seed++ {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 3)), kinds: *kinds, taps: []string{"a", "b"}, more: seed%2 == 0}
		text := c.scenario(seed)
		var lists [2][]string
		for i := range lists {
			s, err := Read(fmt.Sprintf("seed%d.yaml", seed), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Start(Options{valid: i > 0, Event: func(hca string, e *cq.Event) {
				lists[i] = append(lists[i], fmt.Sprint(hca, e.Time, e.Kind, e.State, e.Failed, e.Summed, e.Sum, e.QP, e.CQ, e.Completion != nil))
			}})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if r.Finish(); r.Problems() != nil {
				t.Errorf("seed %d: %v", seed, r.Problems())
			}
		}
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("seed %d: %d events, %d where the work is validated", seed, len(lists[0]), len(lists[1]))
		}
	}
}
