package scenario

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ibwitness/cq"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/posted"
	"ibwitness/internal/testkit/sample"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/message"
)

// TestPosted: whatever the network does, each packet that a software adapter sends is the one that its work request lets expect, with its payload.
func TestPosted(t *testing.T) {
	requests, known, payloads := 0, 0, 0
	opcodes := map[packet.Opcode]int{}
	for seed := *first; seed < *first+uint64(sample.Part(*runs, 10)); seed++ {
		c := &chance{Rand: rand.New(rand.NewPCG(seed, 12)), taps: []string{"a", "b", "a, b"}, more: seed%2 == 0, kinds: "drop duplicate reorder delay"}
		k := checkPosted(t, fmt.Sprintf("seed%d.yaml", seed), c.scenario(seed))
		requests, known, payloads = requests+k.Requests, known+k.Known, payloads+k.Payloads
		for o, n := range k.Opcodes {
			opcodes[o] += n
		}
		for _, d := range k.Differs {
			t.Errorf("seed %d: %s", seed, d)
		}
		if len(k.Differs) > 0 {
			break
		}
	}
	t.Logf("the work requests of %d of %d packets are known, and all of the payload of %d: %v", known, requests, payloads, opcodes)
	if known < requests || payloads < known {
		t.Error("not all are")
	}
}

// checkPosted runs a scenario and compares its packets.
func checkPosted(t *testing.T, name, text string) *posted.Check {
	s, err := Read(name, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := s.Start(Options{Keep: true, payload: 1 << 20})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r.Finish()
	var rec rule.Recorder
	queues := cq.New(&rec, func(packet.Addr) bool { return true })
	c := &posted.Check{Queues: queues, Wire: message.New(queues)}
	var sources []*cq.Source
	for _, l := range r.Logs() {
		sources = append(sources, queues.Source(l.Name, l.Addr, l.Exact))
	}
	var checker packet.Checker
	replay(r, func(log int, e *cq.Event) { queues.Event(sources[log], e) }, func(f *fabricagent.Frame) {
		var p packet.Packet
		if fabricagent.Decode(f, &p).IsRDMA() {
			checker.ICRC(&p)
			c.Packet(&p)
		}
	})
	return c
}

// replay hands over the events and frames of a run that has ended, in their order.
func replay(r *Run, event func(log int, e *cq.Event), frame func(*fabricagent.Frame)) {
	logs := r.Logs()
	next := make([]int, len(logs))
	upTo := func(now int64) {
		for {
			first := -1
			for i, l := range logs {
				if next[i] < len(l.Events) && l.Events[next[i]].Time <= now && (first < 0 || l.Events[next[i]].Time < logs[first].Events[next[first]].Time) {
					first = i
				}
			}
			if first < 0 {
				return
			}
			event(first, &logs[first].Events[next[first]])
			next[first]++
		}
	}
	for {
		b, err := r.Source.Next()
		if err != nil {
			return
		}
		for i := range b.Frames {
			upTo(b.Frames[i].Time)
			frame(&b.Frames[i])
		}
		b.Release()
	}
}
