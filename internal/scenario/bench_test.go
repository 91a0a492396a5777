package scenario

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
)

// load is SENDs, WRITEs and READs of several packets on eight connections.
const load = `hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024}
qps:
  a1: {hca: a, peer: b1}
  b1: {hca: b, peer: a1}
  a2: {hca: a, peer: b2}
  b2: {hca: b, peer: a2}
  a3: {hca: a, peer: b3}
  b3: {hca: b, peer: a3}
  a4: {hca: a, peer: b4}
  b4: {hca: b, peer: a4}
work:
  - {qp: b1, op: receive, length: 4096, repeat: 20000, every: 2us}
  - {qp: b2, op: receive, length: 100, repeat: 20000, every: 2us}
  - {qp: a1, op: send, length: 4096, repeat: 20000, every: 2us}
  - {qp: a2, op: send, length: 100, repeat: 20000, every: 2us}
  - {qp: a3, op: write, length: 4096, repeat: 20000, every: 2us}
  - {qp: a4, op: read, length: 4096, repeat: 20000, every: 2us}
`

// BenchmarkVerified simulates traffic and verifies it, in one goroutine or in two: only the packets, and with the events of both adapters.
func BenchmarkVerified(b *testing.B) {
	s, err := Read("load", []byte(load))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 4 {
		events, goroutines := i&1 != 0, 1+i>>1
		b.Run(fmt.Sprintf("events=%v/goroutines=%d", events, goroutines), func(b *testing.B) {
			b.ReportAllocs()
			packets := uint64(0)
			for b.Loop() {
				r, err := s.Start(Options{Live: events})
				if err != nil {
					b.Fatal(err)
				}
				opt := agent.Options{Near: r.NearAddrs(), Workers: 1}
				if events {
					opt.Events = r.Logs()
				}
				src := fabricagent.Source(r.Source)
				if goroutines == 2 {
					src = r.Ahead()
				}
				res, err := agent.Run(context.Background(), src, opt)
				if closed := src.Close(); closed != nil {
					b.Fatal(closed)
				}
				if err != nil || len(res.Findings) > 0 || r.Problems() != nil {
					b.Fatal(err, res.Findings, r.Problems())
				}
				packets += res.RDMA
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
			b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
		})
	}
}

// BenchmarkEvents verifies packets that were simulated before, with and without the events of both adapters as a device hands them over: no line is read.
func BenchmarkEvents(b *testing.B) {
	s, err := Read("load", []byte(load))
	if err != nil {
		b.Fatal(err)
	}
	for _, told := range []bool{false, true} {
		b.Run(fmt.Sprintf("events=%v", told), func(b *testing.B) {
			packets, events := uint64(0), 0
			for range b.N {
				b.StopTimer()
				r, err := s.Start(Options{Keep: told})
				if err != nil {
					b.Fatal(err)
				}
				r.Finish()
				opt := agent.Options{Near: r.NearAddrs(), Workers: 1}
				if told {
					opt.Events = r.Logs()
				}
				runtime.GC()
				b.StartTimer()
				res, err := agent.Run(context.Background(), r.Source, opt)
				if err != nil || len(res.Findings) > 0 {
					b.Fatal(err, res.Findings)
				}
				packets += res.RDMA
				for _, l := range opt.Events {
					events += len(l.Events)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
			b.ReportMetric(float64(events)/float64(packets), "events/packet")
		})
	}
}
