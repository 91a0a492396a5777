package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/internal/testkit/cpu"
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

// writes is WRITEs of a number of packets on four connections, packets in all.
func writes(packets int) string {
	const all = 1 << 18
	length := packets * 1024
	if packets == 1 {
		length = 64
	}
	s := "hcas: {a: 10.0.0.1, b: 10.0.0.2}\nattributes: {pmtu: 1024}\nqps:\n"
	for i := range 4 {
		s += fmt.Sprintf("  a%d: {hca: a, peer: b%d}\n  b%d: {hca: b, peer: a%d}\n", i, i, i, i)
	}
	s += "work:\n"
	for i := range 4 {
		s += fmt.Sprintf("  - {qp: a%d, op: write, length: %d, repeat: %d, every: %dus}\n", i, length, all/packets/4, max(packets, 2))
	}
	return s
}

// captured is packets that were recorded, as a source.
type captured struct {
	taps    []fabricagent.Tap
	batches []fabricagent.Batch
	next    int
}

// capture runs a simulation to its end.
func capture(src fabricagent.Source) (*captured, error) {
	r := &captured{}
	for {
		b, err := src.Next()
		if b != nil {
			frames := slices.Clone(b.Frames)
			n := 0
			for i := range frames {
				n += len(frames[i].Data)
			}
			room := make([]byte, 0, n)
			for i := range frames {
				room = append(room, frames[i].Data...)
				frames[i].Data = room[len(room)-len(frames[i].Data) : len(room) : len(room)]
			}
			r.batches = append(r.batches, fabricagent.NewBatch(frames, nil))
			b.Release()
		}
		if err == io.EOF {
			r.taps = src.Taps()
			return r, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *captured) Next() (*fabricagent.Batch, error) {
	if r.next == len(r.batches) {
		return nil, io.EOF
	}
	r.next++
	return &r.batches[r.next-1], nil
}

func (r *captured) Taps() []fabricagent.Tap       { return r.taps }
func (r *captured) Progress() (done, total int64) { return 0, 0 }
func (r *captured) Close() error                  { return nil }

// BenchmarkEvents verifies packets that were simulated before: without events, with those of both adapters as a device hands them over, and with their logs as lines.
func BenchmarkEvents(b *testing.B) {
	for _, packets := range []int{0, 1, 4, 16, 64} {
		name, text := "load", load
		if packets > 0 {
			name, text = fmt.Sprintf("packets=%d", packets), writes(packets)
		}
		b.Run(name, func(b *testing.B) {
			s, err := Read("load", []byte(text))
			if err != nil {
				b.Fatal(err)
			}
			s.Packets = math.MaxInt
			r, err := s.Start(Options{Keep: true})
			if err != nil {
				b.Fatal(err)
			}
			src, err := capture(r.Source)
			if err != nil {
				b.Fatal(err)
			}
			logs, lines := r.Logs(), make([]bytes.Buffer, len(s.HCAs))
			for i, l := range logs {
				w, err := eventlog.NewWriter(&lines[i], l.Addr, true)
				if err != nil {
					b.Fatal(err)
				}
				for k := range l.Events {
					if err := w.Write(&l.Events[k]); err != nil {
						b.Fatal(err)
					}
				}
			}
			for _, events := range []string{"none", "told", "read"} {
				b.Run("events="+events, func(b *testing.B) {
					replayed(b, r, src, events, func() []*hcaagent.Log {
						if events == "told" {
							return logs
						}
						list := make([]*hcaagent.Log, len(lines))
						for i := range lines {
							if list[i], err = eventlog.Follow("log", bytes.NewReader(lines[i].Bytes())); err != nil {
								b.Fatal(err)
							}
						}
						return list
					})
				})
			}
		})
	}
}

// replayed verifies packets that were recorded. The processor time is the least of all runs.
func replayed(b *testing.B, r *Run, src *captured, told string, logs func() []*hcaagent.Log) {
	events, least, packets := 0, int64(math.MaxInt64), uint64(0)
	if told != "none" {
		for _, l := range r.Logs() {
			events += len(l.Events)
		}
	}
	for b.Loop() {
		opt := agent.Options{Near: r.NearAddrs(), Workers: 1}
		if src.next = 0; told != "none" {
			opt.Events = logs()
		}
		begun := cpu.Time()
		res, err := agent.Run(context.Background(), src, opt)
		if err != nil || len(res.Findings) > 0 {
			b.Fatal(err, res.Findings)
		}
		least, packets = min(least, cpu.Time()-begun), res.RDMA
	}
	b.ReportMetric(float64(least)/float64(packets), "cpu-ns/packet")
	b.ReportMetric(float64(events)/float64(packets), "events/packet")
}
