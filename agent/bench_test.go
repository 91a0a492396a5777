package agent_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/cpu"
	"ibwitness/internal/testkit/traffic"
	"ibwitness/packet"
)

const (
	pcapHeader = 24
	pcapRecord = 16
)

// run verifies a capture in memory with all rules.
func run(tb testing.TB, raw []byte, opt agent.Options) *agent.Result {
	tb.Helper()
	src, err := fabricagent.OpenReader("traffic", bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkRun verifies generated traffic from memory: reading, decoding, ICRC and all rules. An iteration is a whole capture,
// connections learned and report data included; ns/packet and GB/s are of the frames' bytes. With many connections it also says where
// the time went: see phases.
func BenchmarkRun(b *testing.B) {
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
		workers []int
	}{
		{"105B/QPs=64", traffic.Small(64), 1_000_000, []int{1, 2, 8}},
		{"881B/QPs=64", traffic.Large(64), 300_000, []int{1, 2, 8}},
		{"105B/QPs=100000", traffic.Small(100_000), 3_000_000, []int{1, 2}},
	} {
		var raw []byte
		for _, workers := range k.workers {
			b.Run(fmt.Sprintf("%s/workers=%d", k.name, workers), func(b *testing.B) {
				if raw == nil {
					raw = traffic.Capture(k.shape, k.packets)
				}
				runtime.GC()
				bytes := int64(len(raw) - pcapHeader - k.packets*pcapRecord)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				spent := cpu.Time()
				ph := phases{packets: k.packets}
				for b.Loop() {
					ph.begin()
					if r := run(b, raw, agent.Options{Workers: workers, Progress: ph.progress}); r.RDMA != uint64(k.packets) {
						b.Fatal(r.RDMA)
					}
					ph.done()
				}
				spent = cpu.Time() - spent
				runtime.ReadMemStats(&after)
				all := float64(b.N) * float64(k.packets)
				ns := float64(b.Elapsed().Nanoseconds())
				b.ReportMetric(ns/all, "ns/packet")
				b.ReportMetric(float64(spent)/all, "cpu-ns/packet")
				b.ReportMetric(float64(b.N)*float64(bytes)/ns, "GB/s")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/all, "allocs/packet")
				if k.shape.Connections > 1000 {
					ph.report(b)
				}
			})
		}
	}
}

// phases tells the phases of runs apart, in processor time. Set-up, in which connections are learned, is what the first half of the
// packets takes longer than they would later on; a packet later on takes what it does in the best tenth of the second half; the
// end is what follows the last packet. All is the least of the runs.
type phases struct {
	packets          int
	at               [11]int64 // at which each tenth of the packets was done
	tenth, half, end int64     // the best tenth, the first half, the end
}

func (ph *phases) begin() { ph.at = [11]int64{cpu.Time()} }

func (ph *phases) progress(packets uint64) {
	if i := int(packets) * 10 / ph.packets; ph.at[i] == 0 {
		ph.at[i] = cpu.Time()
	}
}

func (ph *phases) done() {
	least := func(d *int64, from, to int64) {
		if *d == 0 || to-from < *d {
			*d = to - from
		}
	}
	for i := 5; i < 10; i++ {
		least(&ph.tenth, ph.at[i], ph.at[i+1])
	}
	least(&ph.half, ph.at[0], ph.at[5])
	least(&ph.end, ph.at[10], cpu.Time())
}

func (ph *phases) report(b *testing.B) {
	b.ReportMetric(float64((ph.half-5*ph.tenth)/1e6), "set-up-ms")
	b.ReportMetric(float64(ph.tenth)*10/float64(ph.packets), "steady-cpu-ns/packet")
	b.ReportMetric(float64(ph.end/1e6), "end-ms")
}

// BenchmarkSteady reports what a packet costs once its connection is known: the time of a capture less that of its first half, with one
// worker; the least of the iterations, since whatever else the machine does only adds.
func BenchmarkSteady(b *testing.B) {
	for _, k := range []struct {
		name    string
		shape   traffic.Shape
		packets int
	}{
		{"105B/QPs=64", traffic.Small(64), 600_000},
		{"881B/QPs=64", traffic.Large(64), 200_000},
		{"105B/QPs=100000", traffic.Small(100_000), 3_000_000},
	} {
		b.Run(k.name, func(b *testing.B) {
			raw := traffic.Capture(k.shape, k.packets)
			half := cut(raw, k.packets/2)
			took := func(raw []byte) time.Duration {
				runtime.GC()
				start := time.Now()
				run(b, raw, agent.Options{Workers: 1})
				return time.Since(start)
			}
			least := [2]time.Duration{1 << 62, 1 << 62}
			for b.Loop() {
				for range 3 { // the difference of two single runs may well be noise
					least[0] = min(least[0], took(half))
					least[1] = min(least[1], took(raw))
				}
			}
			steady := float64((least[1] - least[0]).Nanoseconds())
			n := k.packets - k.packets/2
			b.ReportMetric(steady/float64(n), "steady-ns/packet")
			b.ReportMetric(float64(len(raw)-len(half)-n*pcapRecord)/steady, "steady-GB/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cut returns the first n packets of a capture.
func cut(raw []byte, n int) []byte {
	at := pcapHeader
	for range n {
		at += pcapRecord + int(binary.LittleEndian.Uint32(raw[at+8:]))
	}
	return raw[:at]
}

// frames takes the packets of a capture one by one, decoded and with their ICRC checked, without any buffer of its own.
type frames struct {
	raw     []byte
	n       uint64
	checker packet.Checker
	p       packet.Packet
}

func (f *frames) next() *packet.Packet {
	h := f.raw
	size := binary.LittleEndian.Uint32(h[8:])
	f.n++
	frame := fabricagent.Frame{
		Time: int64(binary.LittleEndian.Uint32(h))*1e9 + int64(binary.LittleEndian.Uint32(h[4:])), Number: f.n,
		Link: fabricagent.LinkEthernet, Len: size, Data: h[pcapRecord : pcapRecord+size],
	}
	f.raw = h[pcapRecord+size:]
	fabricagent.Decode(&frame, &f.p)
	f.checker.ICRC(&f.p)
	return &f.p
}

// TestPacketAllocations: once connections are known, verifying a packet allocates nothing.
func TestPacketAllocations(t *testing.T) {
	for name, shape := range map[string]traffic.Shape{"small": traffic.Small(64), "large": traffic.Large(64)} {
		t.Run(name, func(t *testing.T) {
			const warm, runs = 50_000, 50_000
			f := frames{raw: traffic.Capture(shape, warm+runs+1)[pcapHeader:]}
			a := agent.NewTransport(nil)
			for range warm {
				a.Packet(f.next())
			}
			if n := testing.AllocsPerRun(runs, func() { a.Packet(f.next()) }); n != 0 {
				t.Errorf("%v allocations a packet", n)
			}
		})
	}
}

// held returns the heap that a transport agent holds after packets of a capture, and all that it has allocated for them, bytes by direction of a connection.
func held(raw []byte, connections, packets int) (holds, allocated float64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := frames{raw: raw[pcapHeader:]}
	a := agent.NewTransport(nil)
	for range packets {
		a.Packet(f.next())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(a)
	directions := float64(2 * connections)
	return float64(after.HeapAlloc-before.HeapAlloc) / directions, float64(after.TotalAlloc-before.TotalAlloc) / directions
}

// BenchmarkMemory reports the heap that 100,000 connections hold, by direction of a QP.
func BenchmarkMemory(b *testing.B) {
	const connections = 100_000
	const packets = 20 * connections
	raw := traffic.Capture(traffic.Small(connections), packets)
	for b.Loop() {
		holds, allocated := held(raw, connections, packets)
		b.ReportMetric(holds, "bytes/direction")
		b.ReportMetric(allocated, "allocated-bytes/direction")
	}
}

// TestDirectionMemory: what a direction of a connection takes is bounded, while the other one is not known, and once it is; and so is what is allocated for it and outgrown,
// which stays with the program until the collector comes by.
func TestDirectionMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it follows 600,000 packets, one after the other")
	}
	const connections = 30_000
	raw := traffic.Capture(traffic.Small(connections), 20*connections)
	for _, k := range []struct {
		when      string
		packets   int
		most      float64
		allocated float64
	}{
		{"first packet of each", 2 * connections, 620, 820},
		{"paired", 20 * connections, 675, 1050},
	} {
		holds, allocated := held(raw, connections, k.packets)
		t.Logf("%s: %.0f bytes, %.0f allocated", k.when, holds, allocated)
		if holds > k.most || allocated > k.allocated {
			t.Errorf("%s: %.0f bytes a direction and %.0f allocated, more than %.0f and %.0f", k.when, holds, allocated, k.most, k.allocated)
		}
	}
}
