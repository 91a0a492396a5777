package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/cq"
	"ibwitness/expect"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
	"ibwitness/rule"
)

// departing are faults of an adapter that sends another packet than its work request lets expect, and the fields in which it differs.
var departing = map[string][]expect.ID{
	"read-other-address": {expect.VA}, "read-other-key": {expect.RKey}, "read-other-length": {expect.DMALen},
	"write-other-address": {expect.VA}, "write-other-key": {expect.RKey}, "write-other-data": {expect.Payload}, "write-immediate-other": {expect.Imm},
	"send-other-data": {expect.Payload}, "other-immediate": {expect.Imm}, "immediate-forgotten": {expect.Opcode}, "immediate-added": {expect.Opcode},
	"atomic-other-address": {expect.VA}, "atomic-other-key": {expect.RKey}, "other-operand": {expect.SwapAdd}, "swap-other-operand": {expect.SwapAdd},
	"compare-other-operand": {expect.Compare}, "add-for-swap": {expect.Opcode},
	"write-for-send": {expect.Opcode}, "read-for-atomic": {expect.Opcode}, "message-short": {expect.Payload}, "message-long": {expect.Payload},
	"uc-other-address": {expect.VA}, "uc-other-data": {expect.Payload}, "datagram-other-data": {expect.Payload}, "datagram-other-qkey": {expect.QKey},
}

// TestDeparting: what a Session says of a faulty adapter carries the packet beside the one that the work request lets expect, with its payload, and just the field
// that the fault changes differs.
func TestDeparting(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	for name, want := range departing {
		shown := 0
		for seed := uint64(1); seed <= 60 && shown < 3; seed++ {
			for _, f := range deviating(t, seed, name) {
				shown++
				if f.Comparison == nil {
					t.Errorf("%s, seed %d: the finding on frame %d, expected %s, actual %s, has no comparison", name, seed, f.Frame, f.Expected, f.Actual)
					continue
				}
				var got []expect.ID
				for _, d := range f.Comparison.Differ() {
					got = append(got, d.ID)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, seed %d: %v differ: %v", name, seed, got, f.Comparison.Differ())
				}
				if expected, actual := f.Comparison.Payload(); want[0] == expect.Payload && len(expected) == len(actual) && slices.Equal(expected, actual) {
					t.Errorf("%s, seed %d: the bytes of the payload are not shown", name, seed)
				}
			}
		}
		if shown == 0 {
			t.Errorf("%s was never found", name)
		}
	}
}

// deviating runs a random scenario in which an adapter has a fault, and returns what a Session says of that at the packet.
func deviating(t *testing.T, seed uint64, fault string) (list []rule.Finding) {
	c := &chance{Rand: rand.New(rand.NewPCG(seed, 13)), taps: []string{"a, b"}}
	text := strings.Replace(c.scenario(seed), "  a: {address", fmt.Sprintf("  a: {fault: %s, address", fault), 1)
	s, err := Read(fmt.Sprintf("seed%d.yaml", seed), []byte("packets: 20000\n"+text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := s.Start(Options{Keep: true, payload: 1 << 20})
	if err != nil {
		return nil // the fault keeps a queue pair from being set up
	}
	r.Finish()
	session := agent.NewSession(agent.Options{Near: r.NearAddrs()})
	for _, tap := range r.Source.Taps() {
		if _, err := session.Tap(tap); err != nil {
			t.Fatal(err)
		}
	}
	id := soft.Faults[fault].Rule
	take := func(changes []rule.Change, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if f := &c.Finding; c.Kind == rule.Found && f.Rule.String() == id && f.Frame != 0 {
				list = append(list, *f)
			}
		}
	}
	replay(r, func(log int, e *cq.Event) { take(session.Event(e)) }, func(f *fabricagent.Frame) { take(session.Frame(f)) })
	return list
}
