package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestTargetOfClients: where clients of a server wait for commands on one file system, each is told of the others, and what the server answered on another one to whom; not where they wait for different ones.
func TestTargetOfClients(t *testing.T) {
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	const a, b = "the file system of UUID 5a", "the file system of UUID 6b"
	client := func(n byte, open int, of ...string) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: open, Ended: 90}}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, []byte{n, 1}[k]}), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(30)}
		}
		c.Upper.Slowest = &agent.Operation{Name: "NFS version 3 READ", Since: at(1), Ended: at(1) + int64(time.Millisecond)}
		for k, name := range of {
			x := agent.Target{Name: name, Answers: 45, Longest: time.Millisecond, Newest: at(29)}
			if k == 0 && open > 0 {
				x.Open, x.Newest = open, at(9)
				c.Upper.Oldest = &agent.Operation{Name: "NFS version 3 COMMIT, XID 0x1", Since: at(10), Frame: 20, Target: 1, Later: 40}
			}
			c.Upper.Targets = append(c.Upper.Targets, x)
		}
		return c
	}
	const other = "waits: 3 commands of 10.0.0.3, on the same, have no answer either"
	for _, k := range []struct {
		name       string
		list       []agent.Connection
		want, lack []string
	}{
		{"the same", []agent.Connection{client(2, 9, a, b), client(3, 3, a), client(4, 0, b)}, []string{
			"10.0.0.1 QP 0x20 has not answered NFS version 3 COMMIT, XID 0x1 of 10.0.0.2 QP 0x20 for 20s: all 9 that are open work on " + a + ", as their file handles say; 40 others were answered meanwhile, at most 1ms later.",
			"of 10.0.0.3 QP 0x20 for 20s: all 3 that are open work on " + a + ", as their file handles say; others of 10.0.0.2 and 10.0.0.4 were answered meanwhile, at most 1ms later.", other,
		}, nil},
		{"one client, on two other connections", []agent.Connection{client(2, 9, a, b), client(3, 2, a), client(3, 3, a), client(4, 0, b)}, []string{
			"waits: 5 commands of 10.0.0.3 on 2 other connections, on the same, have no answer either",
		}, []string{"2 commands of 10.0.0.3, on"}},
		{"different ones", []agent.Connection{client(2, 9, a, b), client(3, 3, b)}, []string{"all 9 that are open work on " + a}, []string{other}},
		{"no other", []agent.Connection{client(2, 9, a)}, []string{"has not answered"}, []string{"work on"}},
	} {
		got := ""
		for _, i := range Of(&agent.Result{RDMA: 20, First: at(0), Last: at(30), Connections: k.list}) {
			got += i.What + " "
			for _, f := range i.Facts {
				got += f.Label + ": " + f.Text + " "
			}
		}
		if slices.ContainsFunc(k.want, func(s string) bool { return !strings.Contains(got, s) }) || slices.ContainsFunc(k.lack, func(s string) bool { return strings.Contains(got, s) }) {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
