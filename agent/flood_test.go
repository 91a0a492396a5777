package agent

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"testing"

	"ibwitness/agent/internal/connection"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
	"ibwitness/rule"
)

// What a packet of a flood may take at most, in the mean.
const (
	floodLooked = 2      // findings of earlier packets that are looked at
	floodAllocs = 20     // allocations
	floodBytes  = 12_000 // allocated
)

// TestFloods: whatever packets ask for, the work for each is bounded, and what is kept of it.
func TestFloods(t *testing.T) {
	for i := range traffic.Floods {
		f := &traffic.Floods[i]
		t.Run(f.Name, func(t *testing.T) {
			packets := sample.Part(10_000, 4)
			a := NewTransport(nil)
			looked, allocs, bytes := flood(a, f.Capture(packets), packets)
			t.Logf("a packet looks at %.2f findings and allocates %.2f times, %.0f bytes", looked, allocs, bytes)
			if looked > floodLooked || allocs > floodAllocs || bytes > floodBytes {
				t.Error("that is too much")
			}
			kept := a.table.Kept()
			if kept.Connections > packets || kept.Hosts > packets || kept.Flows > 4*packets || len(a.Rec.Findings) > 4*packets || kept.Searched > connection.Contexts+1 {
				t.Errorf("%+v and %d findings are kept", kept, len(a.Rec.Findings))
			}
		})
	}
}

// flood verifies a capture to its end, and returns what a packet of it took in the mean.
func flood(a *Transport, raw []byte, packets int) (looked, allocs, bytes float64) {
	var checker packet.Checker
	var p packet.Packet
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	raw = raw[24:]
	for n := uint64(1); len(raw) > 0; n++ {
		size := binary.LittleEndian.Uint32(raw[8:])
		frame := fabricagent.Frame{
			Time: int64(binary.LittleEndian.Uint32(raw))*1e9 + int64(binary.LittleEndian.Uint32(raw[4:])), Number: n,
			Link: fabricagent.LinkEthernet, Len: size, Data: raw[16 : 16+size],
		}
		raw = raw[16+size:]
		fabricagent.Decode(&frame, &p)
		checker.ICRC(&p)
		a.Packet(&p)
	}
	a.Finish(math.MaxInt64)
	Reconcile(a)
	runtime.ReadMemStats(&after)
	mean := func(total uint64) float64 { return float64(total) / float64(packets) }
	return mean(a.Rec.Looked()), mean(after.Mallocs - before.Mallocs), mean(after.TotalAlloc - before.TotalAlloc)
}

// TestFloodSettled: what later packets tell of earlier ones is found among very many.
func TestFloodSettled(t *testing.T) {
	for name, id := range map[string]rule.ID{"odd P_Keys": rule.PKY004, "changing ports": rule.ROCV2018} {
		i := slices.IndexFunc(traffic.Floods, func(f traffic.Flood) bool { return f.Name == name })
		a := NewTransport(nil)
		const packets = 15_000
		flood(a, traffic.Floods[i].Capture(packets), packets)
		if c := a.Rec.Cover[id]; c.Violated < 2999 || c.Unproven > 1 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestCrowded: pairs of hosts are crowded from the first packet that is refused until none is from one sweep to the next.
func TestCrowded(t *testing.T) {
	a := NewTransport(nil)
	p := packet.Packet{Src: packet.IPv4Addr([]byte{10, 9, 0, 0}), Dst: packet.IPv4Addr([]byte{10, 9, 0, 1})}
	if a.table.Crowded(&p) {
		t.Error("crowded before anything came")
	}
	flood(a, traffic.Floods[0].Capture(connection.MostAdmitted+1000), connection.MostAdmitted+1000)
	if !a.table.Crowded(&p) || a.table.Kept().Full != 1 {
		t.Errorf("not crowded, %d buckets are full", a.table.Kept().Full)
	}
	for c := range a.table.All() {
		c.Leave(true)
	}
	if a.forget(); !a.table.Crowded(&p) || a.table.Kept().Full != 0 {
		t.Errorf("not crowded just after it was, %d buckets are full", a.table.Kept().Full)
	}
	if a.forget(); a.table.Crowded(&p) {
		t.Error("crowded for good")
	}
}

// TestWaiting: directions that wait for the other one are counted, and those that are forgotten count no more.
func TestWaiting(t *testing.T) {
	a := NewTransport(nil)
	const packets = 200
	flood(a, traffic.Floods[0].Capture(packets), packets)
	if n := a.table.Waiting(); n != packets {
		t.Errorf("%d of %d directions wait", n, packets)
	}
	for i, c := range a.table.List() {
		c.Leave(i%4 != 0)
	}
	if a.forget(); a.table.Waiting() != packets/4 {
		t.Errorf("%d directions wait after all but %d were forgotten", a.table.Waiting(), packets/4)
	}
}

// TestExpect: packets are decoded whole at once while the fast path leaves most of them, or where all are needed whole.
func TestExpect(t *testing.T) {
	var d decoder
	for i, k := range []struct {
		left  uint64 // in all, after a batch of 100 frames
		whole bool
	}{{50, false}, {101, true}, {201, true}, {201, false}} {
		if d.expect(k.left, 100); d.whole != k.whole {
			t.Errorf("after batch %d: whole %t", i, d.whole)
		}
	}
	d.always = true
	if d.expect(201, 100); !d.whole {
		t.Error("packets that are needed whole are decoded in part")
	}
}
