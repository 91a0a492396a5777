package upper

import (
	"slices"
	"testing"
)

// TestPairs: commands that were answered are counted by opcode and namespace; not where there are more of both than are counted.
func TestPairs(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, nvmeConnect(0, 1))
	k.send(1, nvmeResponse(0, 0))
	cid := uint16(17)
	one := func(opcode uint8, namespace uint32) {
		k.send(0, nvmeCommand(opcode, cid, namespace, 0x1000, 0x1234, 4096))
		k.send(1, nvmeResponse(cid, 0))
		cid++
	}
	const write, read = 1, 2
	for range 2 {
		one(write, 1)
		one(read, 1)
		one(write, 2)
	}
	k.send(0, nvmeCommand(read, cid, 2, 0x1000, 0x1234, 4096)) // has no answer
	type pair struct {
		name, target string
		answers      uint64
	}
	var got []pair
	for _, p := range k.t.Pairs() {
		x := pair{name: k.t.Name(&k.t.Classes()[p.Class]), answers: p.Answered}
		if p.Target > 0 {
			x.target = k.t.TargetName(&k.t.Targets()[p.Target-1])
		}
		if got = append(got, x); p.Longest <= 0 || p.Sum < p.Longest {
			t.Errorf("%+v", p)
		}
	}
	want := []pair{{"NVMe Write", "namespace 1", 2}, {"NVMe Read", "namespace 1", 2}, {"NVMe Write", "namespace 2", 2}}
	if len(got) == 0 || !slices.Equal(got[len(got)-3:], want) {
		t.Errorf("%+v", got)
	}
	for namespace := range uint32(mostTargets) {
		for opcode := range uint8(5) {
			one(opcode, namespace+1)
		}
	}
	if list := k.t.Pairs(); list != nil || len(k.t.pairs) > mostPairs {
		t.Errorf("%d of %d", len(list), len(k.t.pairs))
	}
}
