package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// TestUneven: reads of one namespace that take many times as long as those of others are told, beside what the others take, and
// apart from its writes; not where the others take about as long, half of them are fast, few were sent, they move so much that a link may be why,
// requests waited for their own answers as long, or were retransmitted, or the capture has lost packets.
func TestUneven(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const ms, us = time.Millisecond, time.Microsecond
	connection := func(server byte, namespace string, reads int, took time.Duration) agent.Connection {
		o := &agent.Operation{
			Name: "NVMe Read, command id 85, " + namespace, Since: at(100), Frame: 55, Ended: at(100) + int64(3*took), Answer: 57, Target: 1,
		}
		n, all := uint64(reads+40), time.Duration(reads)*took
		w := new(timing.Waits)
		for n := range reads {
			w.Add(took, at(int64(n)), 10)
		}
		for n := range 40 {
			w.Add(40*us, at(int64(n)), 11)
		}
		c := agent.Connection{Service: packet.RC, First: at(0), Timing: &timing.Connection{Commands: w}, Upper: &agent.Upper{
			Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Ended: n}, Answers: n, Took: all + 40*40*us,
			Slowest: o, Longest: []*agent.Operation{o},
			Classes: []agent.Class{
				{Name: "NVMe Read", Answers: uint64(reads), Took: all, Longest: took},
				{Name: "NVMe Write", Answers: 40, Took: 40 * 40 * us, Longest: 40 * us},
			},
			Targets: []agent.Target{{Name: namespace, Answers: n}},
			Pairs: []agent.Pair{
				{Class: 0, Target: 1, Answers: uint64(reads), Took: all, Longest: took},
				{Class: 1, Target: 1, Answers: 40, Took: 40 * 40 * us, Longest: 40 * us},
			},
		}}
		acks := new(timing.Operation)
		acks.Observe(5 * us)
		c.Timing.Ends[0].Ops[wqe.Send] = acks
		for e := range c.Ends {
			addr := packet.IPv4Addr([]byte{10, 0, 0, []byte{1, server}[e]})
			c.Ends[e] = agent.End{Addr: addr, QPN: 0x20, QPNKnown: true, Packets: 100, Bytes: 400_000, Last: at(9000)}
		}
		return c
	}
	all := func() []agent.Connection {
		return []agent.Connection{
			connection(2, "namespace 1", 100, 100*us), connection(2, "namespace 2", 100, 34*ms), connection(3, "namespace 1", 100, 103*us),
		}
	}
	const (
		slow = "NVMe Read on namespace 2 of 10.0.0.2 is slow: usually "
		rest = "34ms in the mean of 100 commands of 10.0.0.1; others take far less in the mean: NVMe Write there 40µs (40), " +
			"NVMe Read on namespace 1 100µs (100) and NVMe Read on namespace 1 of 10.0.0.3 103µs (100)."
		fits = "what namespace 2 is on there, and the others are not: its disk, RAID, cache or snapshot (NVMe Write may be answered from a cache)"
	)
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		told bool
	}{
		{"one namespace", func(*agent.Result) {}, true},
		{"another as slow", func(r *agent.Result) { r.Connections[2] = connection(3, "namespace 1", 100, 30*ms) }, false},
		{"nothing to compare", func(r *agent.Result) { r.Connections = r.Connections[1:2] }, false},
		{"not so slow", func(r *agent.Result) { r.Connections[1] = connection(2, "namespace 2", 100, 4*ms) }, false},
		{"few", func(r *agent.Result) { r.Connections[1] = connection(2, "namespace 2", 20, 34*ms) }, false},
		{"much data", func(r *agent.Result) { r.Connections[1].Ends[1].Bytes = 140 << 20 }, false},
		{"late ACKs", func(r *agent.Result) { r.Connections[1].Timing.Ends[0].Ops[wqe.Send].Observe(20 * ms) }, false},
		{"trouble", func(r *agent.Result) { r.Connections[1].Ends[0].Trouble = &qp.Trouble{} }, false},
		{"lost packets", func(r *agent.Result) { r.Dropped = 1 }, false},
	} {
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(9000), Connections: all()}
		k.set(r)
		got := ""
		for _, i := range Of(r) {
			got += i.What + strings.Join(i.FitsWith, "; ") + "\n"
		}
		told := strings.Contains(got, slow) && strings.Contains(got, rest) && strings.Contains(got, fits)
		if told != k.told || !k.told && strings.Contains(got, "is slow") {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestUnevenOnOneQueue: writes of one namespace are told that take many times as long as its reads, and as all of another on the same queue
// pairs; not where the writes of the other take as long.
func TestUnevenOnOneQueue(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	connection := func(qpn uint32, other time.Duration) agent.Connection {
		o := &agent.Operation{
			Name: "NVMe Write, command id 85, namespace 1", Since: int64(time.Hour), Frame: 55, Ended: int64(time.Hour + 30*ms), Answer: 57,
			Class: 1, Target: 1,
		}
		w := new(timing.Waits)
		u := &agent.Upper{
			Protocol: "NVMe over RDMA", Answered: true, Slowest: o, Longest: []*agent.Operation{o},
			Classes: make([]agent.Class, 2), Targets: []agent.Target{{Name: "namespace 1"}, {Name: "namespace 2"}},
		}
		for n, took := range []time.Duration{100 * us, 14 * ms, 100 * us, other} {
			for range 40 {
				w.Add(took, int64(time.Hour), 10)
			}
			p := agent.Pair{Class: n % 2, Target: n/2 + 1, Answers: 40, Took: 40 * took, Longest: took}
			k := &u.Classes[p.Class]
			k.Name, k.Answers, k.Took, k.Longest = []string{"NVMe Read", "NVMe Write"}[p.Class], k.Answers+40, k.Took+p.Took, max(k.Longest, took)
			u.Pairs, u.Answers, u.Took, u.Ended = append(u.Pairs, p), u.Answers+40, u.Took+p.Took, u.Ended+40
		}
		acks := new(timing.Operation)
		acks.Observe(5 * us)
		c := agent.Connection{Service: packet.RC, First: int64(time.Hour), Timing: &timing.Connection{Commands: w}, Upper: u}
		c.Timing.Ends[0].Ops[wqe.Send] = acks
		for e := range c.Ends {
			addr := packet.IPv4Addr([]byte{10, 0, 0, byte(1 + e)})
			c.Ends[e] = agent.End{Addr: addr, QPN: qpn, QPNKnown: true, Packets: 100, Bytes: 400_000, Last: int64(time.Hour + 9*time.Second)}
		}
		return c
	}
	for other, told := range map[time.Duration]bool{40 * us: true, 13 * ms: false} {
		r := &agent.Result{
			RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 9*time.Second),
			Connections: []agent.Connection{connection(0x20, other), connection(0x21, other)},
		}
		got := ""
		for _, i := range Of(r) {
			got += i.What + "\n"
		}
		const slow = "NVMe Write on namespace 1 of 10.0.0.2 is slow: "
		const rest = "14ms in the mean of 80 commands of 10.0.0.1; others on the same 2 queue pairs take far less in the mean: " +
			"NVMe Read there 100µs (80) and NVMe Write on namespace 2 40µs (80)."
		if strings.Contains(got, slow) != told || strings.Contains(got, rest) != told {
			t.Errorf("others in %v: %s", other, got)
		}
	}
}
