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

// TestClassTook: where few commands of a class took far longer than the others, on all connections of two hosts, it is told how many, and when, and
// not that the class is slow as a whole, which is where half of them do.
func TestClassTook(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	connection := func(qpn uint32, first int64, late int, took, usual time.Duration) agent.Connection {
		o := &agent.Operation{Name: "SMB2 WRITE, message id 7", Since: at(first), Frame: 4, Ended: at(first) + int64(took), Answer: 90}
		w := new(timing.Waits)
		sum := time.Duration(0)
		for n := range 80 {
			d := usual
			if n < late {
				d = took
			}
			sum += d
			w.Add(d, at(first+int64(n)), 10)
		}
		for n := range 20 {
			w.Add(50*time.Microsecond, at(first+int64(n)), 11)
		}
		c := agent.Connection{Service: packet.RC, First: at(0), Timing: &timing.Connection{Commands: w}, Upper: &agent.Upper{
			Protocol: "SMB Direct", Answered: true, Counts: upper.Counts{Ended: 100}, Answers: 100, Took: sum + time.Millisecond,
			Slow: 1, Slowest: o, Longest: []*agent.Operation{o},
			Late: upper.Late{Count: uint64(late), Times: []upper.LateTime{{From: at(first), To: at(first + 4000)}}},
			Classes: []agent.Class{
				{Name: "SMB2 WRITE", Answers: 80, Slow: 1, Took: sum, Longest: took},
				{Name: "SMB2 ECHO", Answers: 20, Took: time.Millisecond, Longest: 50 * time.Microsecond},
			},
		}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: qpn, QPNKnown: true, Packets: 10, Last: at(9000)}
		}
		return c
	}
	both := func(late, lateToo int, usual time.Duration) []agent.Connection {
		return []agent.Connection{
			connection(1, 100, late, 1200*time.Millisecond, usual),
			connection(2, 300, lateToo, 1100*time.Millisecond, usual),
		}
	}
	const ms = time.Millisecond
	othersLate := both(13, 11, ms)
	othersLate[1].Upper.Classes[1].Longest = time.Second
	const part, whole = " of 160 SMB2 WRITE commands on 2 connections took", "SMB2 WRITE is slow as a whole"
	for _, k := range []struct {
		name string
		list []agent.Connection
		want string // "": neither is said
	}{
		{"few", both(13, 11, ms), ": 24" + part + " 1.09s or longer, up to 1.2s, " +
			"from +0.100 s to +4.300 s, the others usually 1.03ms or less; none of 40 other commands (SMB2 ECHO) took longer than 50µs."},
		{"most", both(60, 50, ms), whole + ", 900ms in the mean of 80; none of the 20 others"},
		{"most, but few of the other connection", both(60, 2, ms), ""},
		{"all take some time, few long", both(13, 11, 30*ms), whole + ", 220ms in the mean of 80, usually 30.2ms; none of the 20 others"},
		{"others were late, too", othersLate, ""},
	} {
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(9000), Connections: k.list})
		got := ""
		for n := range list {
			got += list[n].What + "\n"
		}
		if !strings.Contains(got, "QP 0x1 took 1.2s to answer SMB2 WRITE, message id 7") || k.want != "" && !strings.Contains(got, k.want) {
			t.Errorf("%s: %s\nwant %q", k.name, got, k.want)
		}
		for _, said := range []string{part, whole} {
			if !strings.Contains(k.want, said) && strings.Contains(got, said) {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}
}
