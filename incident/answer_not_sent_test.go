package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
	"ibwitness/upper"
)

// TestAnswerNotSent: of a command whose peer has answered a later one on the connection long after, in sequence, it is told that no answer was sent before, and an answer that vanished does not fit; not where the later answer came soon,
// nor where a sequence NAK or retransmissions show that something was missing.
func TestAnswerNotSent(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	for _, k := range []struct {
		name string
		set  func(c *agent.Connection)
		want bool
	}{
		{"a later one is answered", func(*agent.Connection) {}, true},
		{"none is", func(c *agent.Connection) { c.Upper.Oldest.Later = 0 }, false},
		{"soon", func(c *agent.Connection) { c.Upper.Recent = []int64{at(3000)} }, false},
		{"the client missed something", func(c *agent.Connection) { c.Ends[0].SequenceNAKs = 1 }, false},
		{"retransmitted", func(c *agent.Connection) { c.Ends[1].Retransmissions = 1 }, false},
		{"unreliable", func(c *agent.Connection) { c.Service = packet.UC }, false},
	} {
		c := agent.Connection{Service: packet.RC, PMTU: 4096, Encap: packet.RoCEv2IPv4, First: at(0), Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Messages: 5, Bytes: 500, Last: at(6000)}
		}
		c.Timing.Ends[1].Acked = timing.Answered{Count: 5, Most: 200, Newest: at(6000)}
		c.Upper = &agent.Upper{
			Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: 1}, Newest: 40, Recent: []int64{at(6000)},
			Oldest: &agent.Operation{Name: "NFS version 4 COMPOUND, XID 0x2", Since: at(0), Frame: 20, Later: 1},
		}
		k.set(&c)
		got := ""
		for _, i := range Of(&agent.Result{RDMA: 20, First: at(0), Last: at(8000), Connections: []agent.Connection{c}}) {
			for _, f := range i.Facts {
				got += f.Label + ": " + f.Text + "\n"
			}
			got += "fits: " + strings.Join(i.FitsWith, "; or ") + "\nnext: " + strings.Join(i.Next, "; ")
		}
		const said = "answer: not sent before frame 40, 6s after the command: what 10.0.0.2 sent up to there on this connection is in sequence, was acknowledged, and holds none"
		lost := strings.Contains(got, "an answer whose packets are larger") || strings.Contains(got, "or its answer") || strings.Contains(got, "ping -M do")
		if strings.Contains(got, said) != k.want || k.want && lost {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
