package agent_test

import (
	"runtime"
	"testing"

	"ibwitness/agent"
	"ibwitness/internal/testkit/cpu"
	"ibwitness/internal/testkit/traffic"
)

// mostTimesClean is how many times the processor time of a packet of clean traffic one of a flood may take: of RC on 64 QPs with 105 bytes a packet, or for a flood
// of management datagrams of connections that CM opens and closes.
const mostTimesClean = 4

// BenchmarkFlood verifies hostile traffic from memory. It reports what a packet costs in processor time, in times what one of clean traffic does, and
// how many times as much as with half of the packets the run takes: two where the work for a packet is bounded. It fails where a flood takes too much.
func BenchmarkFlood(b *testing.B) {
	const packets = 400_000
	took := func(raw []byte) float64 {
		runtime.GC()
		start := cpu.Time()
		run(b, raw, agent.Options{Workers: 1})
		return float64(cpu.Time() - start)
	}
	least := func(raw []byte) float64 { return min(took(raw), took(raw), took(raw)) }
	clean := least(traffic.Capture(traffic.Small(64), packets))
	managed := least(traffic.Management(packets))
	b.Logf("clean traffic: %.0f ns a packet, management %.0f", clean/packets, managed/packets)
	for i := range traffic.Floods {
		f := &traffic.Floods[i]
		b.Run(f.Name, func(b *testing.B) {
			half, whole := f.Capture(packets/2), f.Capture(packets)
			var all, part float64
			for b.Loop() {
				part, all = least(half), least(whole)
			}
			clean := clean
			if f.Managed() {
				clean = managed
			}
			if all > mostTimesClean*clean {
				b.Errorf("it takes %.1f times what clean traffic does", all/clean)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(all/packets, "cpu-ns/packet")
			b.ReportMetric(all/clean, "times-clean")
			b.ReportMetric(all/part, "times-half")
		})
	}
}
