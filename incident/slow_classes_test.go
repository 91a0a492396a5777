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

// procedures is how long so many calls of each procedure of NFS took, each as long as the others.
type procedures map[string]time.Duration

// nfsConnection is one on which a server answered calls of a client: 60 WRITEs, 12 COMMITs, 50 READs and 40 GETATTRs.
func nfsConnection(server byte, took procedures) agent.Connection {
	begin := int64(time.Hour)
	u := &agent.Upper{Protocol: "RPC over RDMA", Answered: true}
	w := new(timing.Waits)
	for n, name := range []string{"WRITE", "COMMIT", "READ", "GETATTR"} {
		count := []uint64{60, 12, 50, 40}[n]
		for range count {
			w.Add(took[name], begin, 10)
		}
		all := time.Duration(count) * took[name]
		u.Classes = append(u.Classes, agent.Class{Name: "NFS version 3 " + name, Answers: count, Took: all, Longest: took[name], Newest: begin})
		u.Counts, u.Answers, u.Took = upper.Counts{Ended: u.Ended + count}, u.Answers+count, u.Took+all
		if o := u.Slowest; o == nil || int64(took[name]) > o.Ended-o.Since {
			u.Slowest = &agent.Operation{
				Name: "NFS version 3 " + name + ", XID 0x7", Since: begin, Frame: 55, Ended: begin + int64(took[name]), Answer: 57, Class: n,
			}
		}
	}
	u.Longest = []*agent.Operation{u.Slowest}
	if u.Slowest.Ended-u.Slowest.Since >= upper.SlowAfter {
		u.Slow = 1
	}
	acks := new(timing.Operation)
	acks.Observe(5 * time.Microsecond)
	c := agent.Connection{Service: packet.RC, First: begin, Timing: &timing.Connection{Commands: w}, Upper: u}
	c.Timing.Ends[0].Ops[wqe.Send] = acks
	for e := range c.Ends {
		addr := packet.IPv4Addr([]byte{10, 0, 0, []byte{1, server}[e]})
		c.Ends[e] = agent.End{Addr: addr, QPN: 0x20 + uint32(server), QPNKnown: true, Packets: 100, Bytes: 400_000, Last: begin + int64(9*time.Second)}
	}
	return c
}

// TestSlowClasses: procedures of NFS that are slow at a server are told together, where others on the same connection are not, and another server is
// fast, or they take very long, with a COMMIT of seconds among them; not where another server is as slow, all procedures are, requests waited for
// their own answers as long, or were retransmitted, much data moved, or the capture has lost packets.
func TestSlowClasses(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	slow := procedures{"WRITE": 40 * ms, "COMMIT": 90 * ms, "READ": 2 * ms, "GETATTR": 60 * us}
	fast := procedures{"WRITE": 200 * us, "COMMIT": 60 * us, "READ": 180 * us, "GETATTR": 60 * us}
	const (
		is = "NFS version 3 WRITE and COMMIT of 10.0.0.4 are slow for 10.0.0.1: half of them took "
		in = "in the mean WRITE 40ms (60) and COMMIT 90ms (12); other procedures on the same connection take far less: " +
			"READ 2ms (50) and GETATTR 60µs (40)"
		at   = "; at 10.0.0.3, WRITE 200µs (60) and COMMIT 60µs (12)."
		too  = "too: READ 2ms (50), where 10.0.0.3 takes READ 180µs (50): slower, too"
		long = "in the mean WRITE 200ms (60) and COMMIT 1.5s (12); "
	)
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want []string // nil: it is not told
	}{
		{"slow", func(*agent.Result) {}, []string{is, in, at, too}},
		{"long, with no other server", func(r *agent.Result) {
			r.Connections = []agent.Connection{nfsConnection(4, procedures{"WRITE": 200 * ms, "COMMIT": 1500 * ms, "READ": 2 * ms, "GETATTR": 60 * us})}
		}, []string{is, long, "READ 2ms (50) and GETATTR 60µs (40)."}},
		{"with no other server", func(r *agent.Result) { r.Connections = r.Connections[:1] }, nil},
		{"another as slow", func(r *agent.Result) { r.Connections[1] = nfsConnection(3, slow) }, nil},
		{"all procedures", func(r *agent.Result) {
			r.Connections[0] = nfsConnection(4, procedures{"WRITE": 40 * ms, "COMMIT": 90 * ms, "READ": 20 * ms, "GETATTR": 20 * ms})
		}, nil},
		{"fast", func(r *agent.Result) { r.Connections[0] = nfsConnection(4, fast) }, nil},
		{"much data", func(r *agent.Result) { r.Connections[0].Ends[0].Bytes = 140 << 20 }, nil},
		{"late ACKs", func(r *agent.Result) { r.Connections[0].Timing.Ends[0].Ops[wqe.Send].Observe(20 * ms) }, nil},
		{"trouble", func(r *agent.Result) { r.Connections[0].Ends[0].Trouble = &qp.Trouble{} }, nil},
		{"lost packets", func(r *agent.Result) { r.Dropped = 1 }, nil},
	} {
		r := &agent.Result{RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 9*time.Second)}
		r.Connections = []agent.Connection{nfsConnection(4, slow), nfsConnection(3, fast)}
		k.set(r)
		got := ""
		list := Of(r)
		for _, i := range list {
			got += i.What + "\n"
			for _, f := range i.Facts {
				got += f.Label + ": " + f.Text + "\n"
			}
		}
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		if told := strings.Contains(got, " slow for "); told != (k.want != nil) || told && len(list) != 1 {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
