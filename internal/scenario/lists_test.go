package scenario

import (
	"context"
	"math/rand/v2"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// TestListsNotOutstanding: no list is given while the request that it was given to is outstanding, whatever is refused in between.
func TestListsNotOutstanding(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	var l lists
	var queue []uint64
	next, most := uint64(0), 0
	for range 100_000 {
		if chance.IntN(2) == 0 && len(queue) > 0 {
			queue = queue[min(len(queue), 1+chance.IntN(300)):]
		}
		l.newest = notGiven
		at, ok := l.oldest(len(queue))
		if !ok {
			at = next
			next++
			l.add(at)
		}
		for _, used := range queue {
			if used == at {
				t.Fatalf("list %d is given again while its request is outstanding", at)
			}
		}
		if chance.IntN(4) == 0 || len(queue) >= 1000 {
			l.refused()
			continue
		}
		queue = append(queue, at)
		most = max(most, len(queue))
	}
	if len(l.at) > max(most+1, leastLists) {
		t.Errorf("%d lists where at most %d requests were outstanding", len(l.at), most)
	}
}

// TestListsGivenAgain: a run whose requests complete keeps to the lists of those that are outstanding at the same time, and nothing is found.
func TestListsGivenAgain(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	s, err := Read("again", []byte(`hcas: {a: 10.0.0.1, b: 10.0.0.2}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
work:
  - {qp: b1, op: receive, length: [2000, 2000], repeat: 4000, every: 2us}
  - {qp: a1, op: send, length: [1000, 3000], repeat: 4000, at: 1us, every: 2us}
  - {qp: a1, op: read, length: 4000, repeat: 4000, every: 2us}
errors:
  - {do: drop, from: a, op: send, probability: 0.001}
`))
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	r, err := s.Start(Options{Live: true, Event: func(_ string, e *cq.Event) {
		if e.Kind == cq.EvPostSend {
			last = max(last, e.Send.Segments[0].VA)
		}
		if e.Kind == cq.EvPostReceive {
			last = max(last, e.Receive.Segments[0].VA)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	res, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Events: r.Logs()})
	if err != nil || r.Problems() != nil {
		t.Fatal(err, r.Problems())
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Class == rule.Violation {
			t.Error(f)
		}
	}
	if most := uint64(localVA + 8<<20); last > most {
		t.Errorf("a list begins at %#x, beyond %#x", last, most)
	}
}
