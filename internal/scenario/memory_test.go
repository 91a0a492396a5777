package scenario

import (
	"context"
	"runtime"
	"testing"

	"ibwitness/agent"
)

// TestMemory: what a run with the events of both adapters holds does not grow with its packets.
func TestMemory(t *testing.T) {
	if raced {
		t.Skip(oneRoutine)
	}
	s, err := Read("load", []byte(load))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Start(Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	const step = 50_000
	var held []uint64 // after each step, bytes
	opt := agent.Options{Near: r.NearAddrs(), Workers: 1, Events: r.Logs()}
	opt.Progress = func(packets uint64) {
		if packets < step*uint64(len(held)+1) {
			return
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		held = append(held, m.HeapAlloc)
	}
	res, err := agent.Run(context.Background(), r.Source, opt)
	if err != nil || len(res.Findings) > 0 {
		t.Fatal(err, res.Findings)
	}
	if len(held) < 5 {
		t.Fatalf("%d packets", res.RDMA)
	}
	first, last := held[0], held[len(held)-1]
	if last > first+256<<10 {
		t.Errorf("it holds %d bytes after %d packets, and %d after %d: all of it %v", first, step, last, step*len(held), held)
	}
	t.Log(held)
}
