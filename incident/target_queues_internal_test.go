package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestTargetOfQueues: where few commands are open on each of several queues between two hosts, it is told that all of them work on one namespace; not where
// one works on another, where one of a queue beside has been answered since, nor where they are few in all.
func TestTargetOfQueues(t *testing.T) {
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	queue := func(qpn uint32, since int64, open [2]int, newest int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Open: open[0] + open[1], Ended: 90}}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k) + 1}), QPN: qpn, QPNKnown: true, Packets: 10, Last: at(30)}
		}
		c.Upper.Slowest = &agent.Operation{Name: "NVMe Read", Since: at(1), Ended: at(1) + int64(time.Millisecond)}
		c.Upper.Targets = []agent.Target{
			{Name: "namespace 1", Open: open[0], Answers: 45, Longest: time.Millisecond, Newest: at(29)},
			{Name: "namespace 2", Open: open[1], Answers: 45, Longest: time.Millisecond, Newest: newest},
		}
		if open[0]+open[1] > 0 {
			c.Upper.Oldest = &agent.Operation{Name: "NVMe Read, command id 1", Since: at(since), Frame: 20, Target: 2, Later: 40}
		}
		return c
	}
	for _, k := range []struct {
		name string
		list []agent.Connection
		want string
	}{
		{
			"all on one",
			[]agent.Connection{queue(1, 10, [2]int{0, 2}, at(9)), queue(2, 11, [2]int{0, 2}, at(9)), queue(3, 0, [2]int{}, at(8))},
			": all 4 that are open on 2 connections work on namespace 2; 40 others were answered meanwhile, at most 1ms later",
		},
		{"another, too", []agent.Connection{queue(1, 10, [2]int{0, 2}, at(9)), queue(2, 11, [2]int{1, 2}, at(9))}, ""},
		{"answered beside", []agent.Connection{queue(1, 10, [2]int{0, 2}, at(9)), queue(2, 11, [2]int{0, 2}, at(12))}, ""},
		{"answered on a queue where none is open", []agent.Connection{queue(1, 10, [2]int{0, 2}, at(9)), queue(2, 11, [2]int{0, 2}, at(9)), queue(3, 0, [2]int{}, at(12))}, ""},
		{"few", []agent.Connection{queue(1, 10, [2]int{0, 1}, at(9)), queue(2, 11, [2]int{0, 1}, at(9))}, ""},
	} {
		x := &teller{run: &agent.Result{First: at(0), Last: at(30), Connections: k.list}}
		if got, target := x.onlyTarget(&x.run.Connections[0], 20e9); got != k.want || (target != "") != strings.Contains(k.want, "namespace 2") {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
