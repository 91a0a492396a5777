package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestAnswersNone: where a server answers no command of any client any more it is one incident, of its service; not where another client is served on,
// all that is open was sent before the last answer, one client waits, or it is not known when it answered.
func TestAnswersNone(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const a, b = "the file system of UUID 5a", "the file system of UUID 6b"
	client := func(n byte, open int, since, last int64, on string) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{
			Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: open, Ended: 90}, Answers: 90, Recent: []int64{at(last - 1), at(last)},
		}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, []byte{n, 1}[k]}), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(30000)}
		}
		c.Upper.Slowest = &agent.Operation{Name: "NFS version 3 READ", Since: at(1000), Ended: at(1001)}
		c.Upper.Targets = []agent.Target{{Name: on, Open: open, Answers: 45, Longest: time.Millisecond, Newest: at(last)}}
		if open > 0 {
			c.Upper.Oldest = &agent.Operation{Name: "NFS version 3 WRITE, XID 0x1", Since: at(since), Frame: uint64(since), Target: 1}
		}
		return c
	}
	const (
		none = "10.0.0.1 has answered no command (RPC over RDMA) of any client since +10.200 s: 16 of 10.0.0.2 and 10.0.0.3 are open, " +
			"the first of them NFS version 3 WRITE, XID 0x1 of 10.0.0.2 QP 0x20, for 20s."
		each = "clients: 10.0.0.2: 9 open, the first sent at +10.000 s (NFS version 3 WRITE, XID 0x1, in frame 10000); the last answer came at +9.900 s; " +
			"and 10.0.0.3: 7 open, the first sent at +10.300 s (NFS version 3 WRITE, XID 0x1, in frame 10300); the last answer came at +10.200 s"
		both  = "work on: 9 on " + a + " and 7 on " + b + ": not what is below one of these"
		whole = "fits the service of 10.0.0.1 as a whole"
		below = "fits what is below " + a + " there: all that are open work on that"
		said  = "of any client"
	)
	two := func(last, since int64, on string) []agent.Connection {
		return []agent.Connection{client(2, 9, 10000, 9900, a), client(3, 7, since, last, on)}
	}
	unknown := two(10200, 10300, b)
	unknown[1].Upper.Recent = nil
	closed := two(10200, 10300, b)
	closed[1].Closed = agent.Closed{At: at(29000), By: closed[1].Ends[0].Addr}
	again := append(two(10200, 10300, b), client(3, 4, 29010, 0, b))
	again[1].Closed, again[2].First = closed[1].Closed, at(29005)
	again[2].Upper.Recent, again[2].Upper.Answers, again[2].Upper.Slowest = nil, 0, nil
	again[2].Upper.Counts.Ended = 0
	none7 := strings.Replace(none, "16 of", "13 of", 1)
	served := append(two(10200, 10300, b), client(3, 0, 0, 29500, b))
	served[1].Closed, served[2].First = closed[1].Closed, at(29005)
	before := two(10200, 9000, b)
	before[1].Upper.Recent, before[1].Closed = []int64{at(8000)}, agent.Closed{At: at(9500), By: closed[1].Closed.By}
	for _, k := range []struct {
		name       string
		list       []agent.Connection
		incidents  int
		want, lack []string
	}{
		{"none", two(10200, 10300, b), 1, []string{none, each, both, whole}, []string{below, "were answered meanwhile"}},
		{"on one file system", two(10200, 10300, a), 1, []string{none, each, whole, below}, []string{"work on: "}},
		{"a third is idle", append(two(10200, 10300, b), client(4, 0, 0, 5000, b)), 1, []string{none, each}, nil},
		{"a third is served", append(two(10200, 10300, b), client(4, 0, 0, 29500, b)), 2, nil, []string{said}},
		{"all were sent before", two(20000, 10300, b), 2, nil, []string{said}},
		{"one client", two(10200, 10300, b)[:1], 1, nil, []string{said}},
		{"one client, on its next connection too", again[1:], 1, []string{
			"10.0.0.1 has answered no command (RPC over RDMA) of 10.0.0.3 since +10.200 s: 4 are open, the first of them NFS version 3 WRITE, XID 0x1 of 10.0.0.3 QP 0x20, sent at +10.300 s.",
			"then: 10.0.0.3 closed 1 connection on which it waited, and sent commands on new ones, which were not answered either",
		}, []string{said}},
		{"one client, and its next connection is served", served[1:], 1, nil, []string{"10.0.0.1 has answered no command"}},
		{"one has just sent", two(10200, 29900, b), 1, nil, []string{said}},
		{"not known", unknown, 2, nil, []string{said}},
		{"one was closed", closed, 1, []string{none, "then: clients closed 1 connection on which they waited\n"}, nil},
		{"one was closed, and has another", again, 1, []string{none7, "then: clients closed 1 connection on which they waited, and sent commands on new ones, which were not answered either"}, nil},
		{"one was closed, and its next is served", served, 2, nil, []string{said}},
		{"one was closed before", before, 1, nil, []string{said}},
	} {
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(30000), Connections: k.list})
		var got strings.Builder
		for n := range list {
			got.WriteString(list[n].What + "\n")
			for _, f := range list[n].Facts {
				got.WriteString(f.Label + ": " + f.Text + "\n")
			}
			for _, f := range list[n].FitsWith {
				got.WriteString("fits " + f + "\n")
			}
		}
		if len(list) != k.incidents {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), got.String())
		}
		for _, want := range k.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s: %s\nwant %q", k.name, got.String(), want)
			}
		}
		for _, lack := range k.lack {
			if strings.Contains(got.String(), lack) {
				t.Errorf("%s: %s\nand not %q", k.name, got.String(), lack)
			}
		}
	}
}
