package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestSlowTarget: where commands on one namespace are late for several clients of a server, or one on it hangs, too, it is told once, with all clients; not where commands on others were late, or of one client only.
func TestSlowTarget(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const one, two = "namespace 1", "namespace 2"
	client := func(n byte, first int64, slow string) agent.Connection {
		o := &agent.Operation{Name: "NVMe Read, command id 7, " + slow, Since: at(first + 2000), Ended: at(first + 3000 + 100*int64(n)), Frame: 100 + uint64(n), Answer: 200 + uint64(n), Target: 2}
		times := []upper.LateTime{{From: at(first), To: o.Ended}}
		u := &agent.Upper{
			Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Ended: 100}, Answers: 100, Slow: 1, Slowest: o, Longest: []*agent.Operation{o},
			Took: time.Duration(o.Ended-o.Since) + 10*time.Millisecond, Late: upper.Late{Count: 4, Others: 30, Times: times},
			Targets: []agent.Target{
				{Name: map[string]string{one: two, two: one}[slow], Answers: 60, Longest: 300 * time.Microsecond, Newest: at(9000)},
				{Name: slow, Answers: 40, Longest: time.Second, Newest: at(8000), Late: upper.Late{Count: 4, Others: 30, Times: times}},
			},
		}
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: u}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, []byte{n, 9}[k]}), QPN: 0x20 + uint32(n), QPNKnown: true, Packets: 10, Last: at(9900)}
		}
		return c
	}
	hangs := func(c agent.Connection) agent.Connection {
		c.Upper.Oldest = &agent.Operation{Name: "NVMe Write, command id 30, " + two, Since: at(5000), Frame: 300, Target: 2, Later: 20}
		c.Upper.Open = 1
		return c
	}
	classes := func(c agent.Connection, reads uint64) agent.Connection { // only some Reads are late
		c.Upper.Classes = []agent.Class{
			{Name: "NVMe Read", Answers: reads, Longest: time.Second, Took: 6 * time.Second, Newest: at(9000)},
			{Name: "NVMe Write", Answers: 100 - reads, Longest: 100 * time.Microsecond, Newest: at(9000)},
		}
		return c
	}
	slowUsually := func(c agent.Connection, late uint64) agent.Connection { // as most commands work on the slow one
		c.Upper.Took, c.Upper.Late.Count = c.Upper.Took+300*time.Millisecond, late
		return c
	}
	const both = "8 of 80 commands on namespace 2 of 10.0.0.9 took 10ms or longer, up to 1.2s, from +1.000 s on, of 10.0.0.1 and 10.0.0.2; those on namespace 1 took at most 300µs. "
	for _, k := range []struct {
		name string
		list []agent.Connection
		want []string
		lack string
	}{
		{"both", []agent.Connection{client(1, 1000, two), client(2, 1500, two)}, []string{both + "10.0.0.9 QP 0x22 took 1.2s to answer NVMe Read, command id 7, namespace 2 of 10.0.0.2 QP 0x22."}, ""},
		{"both, and one hangs", []agent.Connection{client(1, 1000, two), hangs(client(2, 1500, two))}, []string{both + "10.0.0.9 QP 0x22 has not answered NVMe Write, command id 30, namespace 2"}, ""},
		{"one, and one hangs", []agent.Connection{hangs(client(1, 1000, two))}, []string{"4 of 40 commands on namespace 2 of 10.0.0.9 took 10ms or longer, up to 1.1s, from +1.000 s on, of 10.0.0.1; "}, ""},
		{"one", []agent.Connection{client(1, 1000, two)}, []string{"took 1.1s to answer NVMe Read, command id 7, namespace 2 of 10.0.0.1 QP 0x21: all 4 that took 10ms or longer work on namespace 2"}, "commands on"},
		{"one, Reads only, of which others work on another", []agent.Connection{classes(client(1, 1000, two), 70)}, []string{
			"of 10.0.0.1 QP 0x21: all 4 that took 10ms or longer work on namespace 2; those on namespace 1 took at most 300µs; 30 NVMe Write, whatever they work on, took at most 100µs.",
		}, "NVMe Read is"},
		{"one, Reads only, all of which may work on it", []agent.Connection{classes(client(1, 1000, two), 40)}, []string{
			"took 1.1s to answer NVMe Read, command id 7, namespace 2",
		}, "work on"},
		{"one, on which most commands work", []agent.Connection{slowUsually(client(1, 1000, two), 4)}, []string{
			"of 10.0.0.1 QP 0x21: all 4 that took 10ms or longer work on namespace 2; those on namespace 1 took at most 300µs.",
		}, "10ms or longer,"},
		{"another is slow for another client", []agent.Connection{client(1, 1000, two), client(2, 1500, two), client(3, 1500, one)}, []string{"of 10.0.0.1 QP 0x21: all 4", "of 10.0.0.2 QP 0x22: all 4", "of 10.0.0.3 QP 0x23: all 4"}, "commands on"},
	} {
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(10000), Connections: k.list})
		got := ""
		for n := range list {
			got += list[n].What + "\n"
		}
		for n := range list {
			if i := &list[n]; i.Begin != at(1000) && i.Begin != at(1500) || i.End < at(3100) { // of all that it counts
				t.Errorf("%s: from %d to %d: %s", k.name, i.Begin, i.End, i.What)
			}
		}
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		if len(list) != len(k.want) || k.lack != "" && strings.Contains(got, k.lack) {
			t.Errorf("%s: %d incidents: %s", k.name, len(list), got)
		}
	}
}
