package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
)

// TestAnsweredUnseen: a command whose answer is most likely among acknowledged PSNs that the capture lost is told under that; not where nothing is
// missing after it, where more commands are open than PSNs are missing, where it was repeated, none ended later, or anything was retransmitted.
func TestAnsweredUnseen(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	for _, k := range []struct {
		name  string
		set   func(c *agent.Connection, o *agent.Operation, m *qp.Missing)
		under bool
	}{
		{"lost after it", func(*agent.Connection, *agent.Operation, *qp.Missing) {}, true},
		{"before it", func(_ *agent.Connection, _ *agent.Operation, m *qp.Missing) { m.Newest.Time = at(1900) }, false},
		{"more are open", func(c *agent.Connection, _ *agent.Operation, _ *qp.Missing) { c.Upper.Open = 9 }, false},
		{"repeated", func(_ *agent.Connection, o *agent.Operation, _ *qp.Missing) { o.Again.Times = 1 }, false},
		{"none ended later", func(_ *agent.Connection, o *agent.Operation, _ *qp.Missing) { o.Later = 0 }, false},
		{"disconnected", func(c *agent.Connection, _ *agent.Operation, _ *qp.Missing) {
			c.Closed.At, c.Closed.By = at(7000), c.Ends[0].Addr
		}, false},
		{"a retransmission", func(c *agent.Connection, _ *agent.Operation, _ *qp.Missing) {
			c.Ends[1].Trouble.Sum = qp.Stalls{Count: 1, Begun: at(2100), Last: at(2100)}
		}, false},
		{"a NAK", func(c *agent.Connection, _ *agent.Operation, _ *qp.Missing) { c.Ends[1].SequenceNAKs = 1 }, false},
	} {
		read := &agent.Operation{Name: "NVMe Read, command id 7, namespace 1", Since: at(2000), Frame: 20, Later: 5, Unsure: true}
		u := &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Open: 1, Ended: 9}, Oldest: read}
		c := &agent.Connection{Service: packet.RC, First: at(0), Upper: u}
		for n := range c.Ends {
			c.Ends[n] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(n + 1)}), QPN: 0x20, QPNKnown: true, Packets: 100, Last: at(7000)}
		}
		m := qp.Missing{Gaps: 1, PSNs: 7, Longest: 7, Frame: 25}
		m.First.Frame, m.First.Time, m.Newest.Frame, m.Newest.Time = 25, at(2010), 25, at(2010)
		c.Ends[1].Trouble = &qp.Trouble{Missing: m}
		k.set(c, read, &c.Ends[1].Trouble.Missing)
		got := ""
		for _, i := range Of(&agent.Result{RDMA: 200, First: at(0), Last: at(8000), Connections: []agent.Connection{*c}}) {
			got += i.Kind.String() + ": " + i.What
			for _, f := range i.Facts {
				got += "\n  " + f.Label + ": " + f.Text
			}
			got += "\n"
		}
		const answers = "\n  answers: none to NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 (frame 20): most likely among the PSNs"
		under := strings.Contains(got, answers) &&
			strings.Contains(got, "\n  requests: 7 PSNs that it does not hold were acknowledged")
		if own := strings.Contains(got, "command-unanswered"); under != k.under || k.under == own {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
