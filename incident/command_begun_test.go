package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/upper"
)

// TestCommandBegun: of a command without an answer it is told what shows that its server has begun it, that the calls of the client are used up, and what commands have in common though few others were answered; not where that is not so.
func TestCommandBegun(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const (
		interim = "interim: 10.0.0.2 answered it with STATUS_PENDING in frame 22: it has the command, and what lacks is the final answer"
		data    = "data: 10.0.0.2 has asked for the data of all 16 that are open by RDMA READ: it has begun them, and what lacks is the answer"
		some    = "data: 10.0.0.2 has asked for the data of 3 of those that are open, this one among them, by RDMA READ"
		calls   = "credits: 16 calls are open, as many as 10.0.0.2 grants at once (credits of its replies): 10.0.0.1 may send no other until one is answered"
		only    = "for 8s: all 16 that are open are NFS version 3 WRITE; 9 others (NFS version 3 GETATTR) were answered meanwhile, at most 200µs later."
		large   = "an answer whose packets are larger"
		lost    = "fits: a server that waits itself: for its disks, its file system, a lock, or another host; or a server that has lost this command, or its answer"
		network = "it is not the network"
	)
	for _, k := range []struct {
		name       string
		set        func(u *agent.Upper)
		held       bool // READs of the server are
		want, lack []string
	}{
		{"none of it", func(*agent.Upper) {}, false, []string{"for 8s.", lost, large}, []string{"interim: ", "data: ", "credits: ", network}},
		{"an interim response", func(u *agent.Upper) { u.Oldest.Interim = 22 }, false, []string{"for 8s, beyond an interim STATUS_PENDING.", interim}, []string{"a server that has lost"}},
		{"its data was fetched", func(u *agent.Upper) { u.Oldest.HasData, u.HasData = true, 16 }, false, []string{data, "a server that has lost the answer to this command"}, []string{"lost this command"}},
		{"what it asked for was held up", func(u *agent.Upper) { u.Oldest.HasData, u.HasData = true, 16 }, true, []string{"lost this command"}, []string{"data: "}},
		{"none was answered before, but an interim response came", func(u *agent.Upper) { u.Oldest.StatusOnly, u.Classes[0].Answers, u.Oldest.Interim = true, 0, 22 }, false, []string{network}, []string{large}},
		{"that of some was", func(u *agent.Upper) { u.Oldest.HasData, u.HasData = true, 3 }, false, []string{some}, nil},
		{"its data goes to the server, as that of others that were answered", func(u *agent.Upper) { u.Oldest.StatusOnly = true }, false, []string{network}, []string{large, "size: "}},
		{"none of its procedure was answered before", func(u *agent.Upper) { u.Oldest.StatusOnly, u.Classes[0].Answers = true, 0 }, false, []string{large}, nil},
		{"as many calls as are granted", func(u *agent.Upper) { u.Calls = 16 }, false, []string{calls}, nil},
		{"more are granted", func(u *agent.Upper) { u.Calls = 17 }, false, nil, []string{"credits: "}},
		{"others were answered for long", func(u *agent.Upper) { u.Oldest.Others = 9 }, false, []string{only}, nil},
		{"others were answered only soon after", func(u *agent.Upper) { u.Oldest.Others, u.Classes[1].Newest = 9, at(5) }, false, nil, []string{"that are open are"}},
		{"few others were", func(u *agent.Upper) { u.Oldest.Others = 7 }, false, nil, []string{"that are open are"}},
	} {
		c := agent.Connection{Service: packet.RC, PMTU: 4096, Encap: packet.RoCEv2IPv4, First: at(0), Timing: &timing.Connection{}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Messages: 5, Bytes: 500, Last: at(0)}
		}
		c.Timing.Ends[1].Acked = timing.Answered{Count: 5, Most: 200, Newest: at(0)}
		c.Upper = &agent.Upper{
			Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: 16}, Oldest: &agent.Operation{Name: "NFS version 3 WRITE, XID 0x2", Since: at(0), Frame: 20, Later: 9},
			Classes: []agent.Class{{Name: "NFS version 3 WRITE", Open: 16, Answers: 60, Longest: time.Millisecond, Newest: at(0) - 1}, {Name: "NFS version 3 GETATTR", Answers: 20, Longest: 200 * time.Microsecond, Newest: at(1700)}},
		}
		if k.set(c.Upper); k.held {
			c.Ends[1].Trouble = &qp.Trouble{}
		}
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(8000), Connections: []agent.Connection{c}})
		n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Waiting })
		if n < 0 {
			t.Fatalf("%s: %+v", k.name, list)
		}
		got := list[n].What + "\n"
		for _, f := range list[n].Facts {
			got += f.Label + ": " + f.Text + "\n"
		}
		got += "fits: " + strings.Join(list[n].FitsWith, "; or ")
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		for _, lack := range k.lack {
			if strings.Contains(got, lack) {
				t.Errorf("%s: %s\nand not %q", k.name, got, lack)
			}
		}
	}
}

// TestClassSlow: where all commands of an opcode take long, and none of the others does, that is told though none was answered meanwhile; not where few of them took long, or another did.
func TestClassSlow(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const want = "took 2s to answer SMB2 FLUSH, message id 7 of 10.0.0.1 QP 0x20: SMB2 FLUSH is slow as a whole, 1s in the mean of 20; none of the 160 others (SMB2 READ, SMB2 WRITE) took longer than 700µs."
	for name, set := range map[string]func(u *agent.Upper) bool{
		"all":                  func(*agent.Upper) bool { return true },
		"only the longest":     func(u *agent.Upper) bool { u.Classes[0].Took = 2100 * time.Millisecond; return false },
		"others took long too": func(u *agent.Upper) bool { u.Classes[1].Longest = 200 * time.Millisecond; return false },
		"there are no others":  func(u *agent.Upper) bool { u.Classes = u.Classes[:1]; return false },
		"few of them are late": func(u *agent.Upper) bool { u.Late.Count = 9; return false },
		"there are few":        func(u *agent.Upper) bool { u.Classes[0].Answers, u.Classes[0].Took = 3, 3*time.Second; return false },
	} {
		o := &agent.Operation{Name: "SMB2 FLUSH, message id 7", Since: at(100), Frame: 4, Ended: at(2100), Answer: 31, Interim: 6}
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{
			Protocol: "SMB Direct", Answered: true, Counts: upper.Counts{Ended: 180}, Answers: 180, Slow: 8, Slowest: o, Longest: []*agent.Operation{o}, Took: 21 * time.Second, Late: upper.Late{Count: 20},
			Classes: []agent.Class{{Name: "SMB2 FLUSH", Answers: 20, Slow: 8, Took: 20 * time.Second, Longest: 2 * time.Second}, {Name: "SMB2 READ", Answers: 80, Longest: 700 * time.Microsecond}, {Name: "SMB2 WRITE", Answers: 80, Longest: 300 * time.Microsecond}},
		}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(3000)}
		}
		told := set(c.Upper)
		list := Of(&agent.Result{RDMA: 20, First: at(0), Last: at(3000), Connections: []agent.Connection{c}})
		if len(list) != 1 || strings.Contains(list[0].What, "as a whole") != told || told && !strings.HasSuffix(list[0].What, want) {
			t.Errorf("%s: %+v", name, list)
		}
		if !slices.Contains(list[0].Facts, Fact{"interim", "10.0.0.2 answered it with STATUS_PENDING in frame 6: it had the command, and the time went by after that"}) {
			t.Errorf("%s: %+v", name, list[0].Facts)
		}
	}
}
