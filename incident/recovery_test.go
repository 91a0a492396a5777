package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestRecovery: a sender whose messages stay slow after the last CNP, to their end, is told beside one that came up again: not where they become faster, where they slowed down little, where few
// were sent since, nor where the network still marks them.
func TestRecovery(t *testing.T) {
	const (
		ms    = int64(time.Millisecond)
		bytes = 256 << 10
		slow  = "; the rate of 10.0.0.1 does not come up again after the last."
		fact  = "recovery: 10.0.0.1 sent a message of 262,144 bytes in 100µs until the first CNP (21 Gbit/s), and in 4ms after the last (524 Mbit/s), no faster up to 44ms after it; 10.0.0.2 slowed down too, and was as fast as before again later"
		idle  = "where throughput is enough, nothing"
	)
	begun := second(1)
	connection := func(n byte, took ...int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: begun, FirstFrame: uint64(n), PMTU: 4096, Timing: &timing.Connection{}}
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 16, QPNKnown: true, Packets: 5000, Bytes: 20 * bytes, Last: begun + 200*ms}
		c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: 9, First: begun + 20*ms, Last: begun + 21*ms, Bytes: 10 * bytes, Until: 11 * bytes}}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), QPN: 17, QPNKnown: true, Packets: 99, Last: begun + 200*ms}
		e := &c.Timing.Ends[0]
		e.Ops[wqe.Write] = &timing.Operation{Sizes: timing.Sizes{Least: bytes, Most: bytes}}
		for k := range int64(10) {
			e.Sent = append(e.Sent, timing.Sent{Begin: begun + k*ms, End: begun + k*ms + ms/10})
		}
		for k, d := range took {
			at := begun + (21+4*int64(k))*ms
			e.Sent = append(e.Sent, timing.Sent{Begin: at, End: at + d})
		}
		c.Ends[0].Messages = uint64(len(e.Sent))
		return c
	}
	same := func(d int64, n int) (took []int64) {
		for range n {
			took = append(took, d)
		}
		return took
	}
	for _, k := range []struct {
		name string
		took []int64
		mark int64 // of the newest mark, after the first CNP
		want bool
	}{
		{"stays slow", same(4*ms, 11), ms, true},
		{"comes up slowly", append(same(4*ms, 5), 3*ms, 2*ms, ms), ms, false},
		{"one was fast", append(same(4*ms, 5), ms/10, 4*ms), ms, false},
		{"slows down little", same(ms/5, 11), ms, false},
		{"few since", same(4*ms, 3), ms, false},
		{"still marked", same(4*ms, 11), 40 * ms, false},
	} {
		r := &agent.Result{First: begun, Last: begun + 200*ms, RDMA: 1, Connections: []agent.Connection{connection(1, k.took...), connection(2, append(same(4*ms, 2), same(ms/10, 9)...)...)}}
		for n := range r.Connections {
			c := &r.Connections[n]
			for m := range int64(20) {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: begun + 20*ms + k.mark*m/19, Frame: uint64(100*n) + uint64(m) + 10, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: c.Ends[1].Addr}}
				notified := marked
				notified.Rule, notified.Accused, notified.Peer = rule.EvCNP, marked.Peer, marked.Accused
				r.Findings = append(r.Findings, marked, notified)
			}
		}
		told := toldOf(r)
		for _, i := range incident.Of(r) {
			told += strings.Join(i.Next, "; ")
		}
		if !strings.Contains(told, "congestion (proven)") || strings.Contains(told, slow) != k.want || strings.Contains(told, fact) != k.want || strings.Contains(told, idle) == k.want || strings.Contains(told, "rpg_time_reset") != k.want {
			t.Errorf("%s: %s", k.name, told)
		}
	}
}
