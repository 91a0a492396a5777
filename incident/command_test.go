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

// TestCommands: a command that waits although the transport has delivered it is told, and one that took long; not where the transport is why, nor of a protocol whose commands nobody answers.
func TestCommands(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	read := &agent.Operation{Name: "NVMe Read, command id 7, namespace 1", Since: at(2000), Frame: 20}
	late := &agent.Operation{Name: "NVMe Write, command id 3, namespace 1", Since: at(100), Frame: 4, From: 1, Ended: at(2600), Answer: 31}
	connection := func() *agent.Connection {
		c := &agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Open: 3, Ended: 9}}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(3000)}
		}
		return c
	}
	for _, k := range []struct {
		name string
		set  func(c *agent.Connection, r *agent.Result)
		want []string
	}{
		{"nothing", func(c *agent.Connection, _ *agent.Result) {}, nil},
		{"waits", func(c *agent.Connection, _ *agent.Result) { c.Upper.Oldest = read }, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. 3 commands in all have no answer",
		}},
		{"waits, and later ones ended", func(c *agent.Connection, _ *agent.Result) {
			o := *read
			o.Later, c.Upper.Oldest = 600, &o
		}, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. 3 commands in all have no answer 600 commands that began after it on this connection ended: its peer serves others",
		}},
		{"waits, and later ones were answered only soon after", func(c *agent.Connection, r *agent.Result) {
			o := *read
			o.Later, c.Upper.Oldest, c.Upper.Recent = 6, &o, []int64{o.Since + int64(250*time.Millisecond)}
		}, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. 3 commands in all have no answer 6 commands that began after it on this connection ended: the last answer there came at +2.250 s, 250ms after this one began, and none since",
		}},
		{"waits, and was repeated once", func(c *agent.Connection, _ *agent.Result) {
			o := *read
			o.Again, c.Upper.Oldest = upper.Repeats{Times: 1, First: at(6000), Frame: 26}, &o
		}, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. once on this connection with the ID that it had 4s after it, in frame 26",
		}},
		{"waits, and was repeated", func(c *agent.Connection, _ *agent.Result) {
			o := *read
			o.Again, c.Upper.Oldest = upper.Repeats{Times: 3, First: at(4000), Frame: 26}, &o
		}, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. 3 times on this connection with the ID that it had, first 2s after it, in frame 26",
		}},
		{"waits, without credits", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Oldest, c.Upper.Credits = read, &upper.Credits{Left: [2]int{200, 0}, Granted: [2]upper.Grant{{}, {Count: 5, Frame: 11}}, Used: [2]upper.Grant{{}, {Count: 1, Frame: 18}}}
		}, []string{
			"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s, and has no send credit left: those of 10.0.0.1 QP 0x20, the last of which were granted in frame 11, are used up.",
		}},
		{"waits, with a credit that is reserved", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Oldest, c.Upper.Credits = read, &upper.Credits{Left: [2]int{0, 1}, Granted: [2]upper.Grant{{}, {Count: 5, Frame: 11}}}
		}, []string{"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s, and has one send credit left, for a message that grants credits itself: "}},
		{"waits, with credits", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Oldest, c.Upper.Credits = read, &upper.Credits{Left: [2]int{0, 2}, Granted: [2]upper.Grant{{}, {Count: 5, Frame: 11}}}
		}, []string{"command-unanswered proven 10.0.0.2 QP 0x20 has not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 6s. 3 commands"}},
		{"waits, where the capture lost packets", func(c *agent.Connection, r *agent.Result) { c.Upper.Oldest, r.Dropped = read, 1 }, []string{"command-unanswered possible The capture, which lost packets, holds no answer of 10.0.0.2 QP 0x20 to NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 in 6s.", "capture proven"}},
		{"not for long", func(c *agent.Connection, r *agent.Result) { c.Upper.Oldest, r.Last = read, at(2900) }, nil},
		{"nobody answers", func(c *agent.Connection, _ *agent.Result) { c.Upper.Oldest, c.Upper.Answered = read, false }, nil},
		{"the transport owes an answer", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Oldest, c.Ends[0].Open, c.Ends[0].OpenSince = read, 1, at(2000)
		}, []string{"unanswered likely"}},
		{"disconnected soon", func(c *agent.Connection, _ *agent.Result) { c.Upper.Oldest, c.Closed.At = read, at(2900) }, nil},
		{"disconnected after a while", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Oldest, c.Closed.At, c.Closed.By = read, at(7000), c.Ends[0].Addr
		}, []string{"command-unanswered proven 10.0.0.2 QP 0x20 had not answered NVMe Read, command id 7, namespace 1 of 10.0.0.1 QP 0x20 for 5s when 10.0.0.1 disconnected."}},
		{"slow", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Slow, c.Upper.Slowest, c.Upper.Longest = 2, late, []*agent.Operation{late}
		}, []string{
			"command-slow proven 10.0.0.1 QP 0x20 took 2.5s to answer NVMe Write, command id 3, namespace 1 of 10.0.0.2 QP 0x20. 2 commands of 9 took 1s or longer",
		}},
		{"slow, as the transport was", func(c *agent.Connection, _ *agent.Result) {
			c.Upper.Slow, c.Upper.Slowest, c.Upper.Longest = 2, late, []*agent.Operation{late}
			c.Ends[0].Trouble = &qp.Trouble{Longest: [4]qp.Stall{{Since: at(200), Begun: at(300), Last: at(2000), Ended: at(2400), Rounds: [qp.NumCauses]uint32{2}}}}
		}, []string{"interrupted proven"}},
	} {
		c, r := connection(), &agent.Result{RDMA: 20, First: at(0), Last: at(8000)}
		k.set(c, r)
		r.Connections = []agent.Connection{*c}
		var got []string
		for _, i := range Of(r) {
			s := i.Kind.String() + " " + i.Certainty.String() + " " + i.What
			for _, f := range i.Facts {
				if f.Label == "repeated" || f.Label == "waits" || f.Label == "meanwhile" || f.Label == "others" {
					s += " " + f.Text
				}
			}
			got = append(got, s)
		}
		if len(got) != len(k.want) {
			t.Errorf("%s: %q", k.name, got)
			continue
		}
		for n := range got {
			if !strings.HasPrefix(got[n], k.want[n]) {
				t.Errorf("%s: %q, not %q", k.name, got[n], k.want[n])
			}
		}
	}
}

// TestCommandBySize: a command whose answer may have vanished before the tap by its size is told to fit that, where all that its server has sent is much smaller than the path MTU; not where a larger packet of it was
// answered.
func TestCommandBySize(t *testing.T) {
	for most, want := range map[uint32]bool{200: true, 3000: false} {
		read := &agent.Operation{Name: "NVMe Read, command id 7, namespace 1", Since: int64(time.Hour), Frame: 20}
		c := agent.Connection{Service: packet.RC, PMTU: 4096, Encap: packet.RoCEv2IPv4, First: int64(time.Hour), Timing: &timing.Connection{}, Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Open: 1}}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 0x20, QPNKnown: true, Packets: 10, Messages: 5, Bytes: 500, Last: int64(time.Hour)}
		}
		c.Timing.Ends[1].Acked = timing.Answered{Count: 5, Most: most, Newest: int64(time.Hour)}
		c.Upper.Oldest = read
		list := Of(&agent.Result{RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 8*time.Second), Connections: []agent.Connection{c}})
		if len(list) != 1 || list[0].Kind != Waiting {
			t.Fatalf("%+v", list)
		}
		i := &list[0]
		if got := strings.Contains(strings.Join(i.FitsWith, "; "), "an answer whose packets are larger, and vanish: a path from 10.0.0.2 to the tap"); got != want || i.says("size") != want {
			t.Errorf("%d bytes: %+v", most, i)
		}
	}
}

// TestCommandUnfetched: of a command whose data its server has not asked for it is told, and whether the data of others was fetched; that its answer may be too large is not. Where the capture has lost packets the READ may
// be one of them.
func TestCommandUnfetched(t *testing.T) {
	const told, size = "2,048 bytes that 10.0.0.2 has to fetch by RDMA READ; the capture holds no READ of it", "an answer whose packets are larger"
	for _, k := range []struct {
		name  string
		set   func(c, other *agent.Connection, r *agent.Result)
		data  string
		what  string
		first string // of what fits
		size  bool
	}{
		{"fetched", func(c, _ *agent.Connection, _ *agent.Result) { c.Upper.Oldest.Unfetched = 0 }, "", "for 8s.", "a server that waits itself", true},
		{"one", func(_, _ *agent.Connection, _ *agent.Result) {}, told + ", and none for another command of 10.0.0.1 is known", "for 8s, nor fetched its data.", "a server that does not handle commands whose data", false},
		{"all", func(c, _ *agent.Connection, _ *agent.Result) { c.Upper.Unfetched = 3 }, told + ", nor of that of any of the 3 commands that have no answer, and none for", "for 8s, nor fetched its data.", "a server that does not handle", false},
		{"some", func(c, _ *agent.Connection, _ *agent.Result) { c.Upper.Unfetched = 2 }, told + ", nor of that of 1 more that have no answer, and none for", "for 8s, nor fetched its data.", "a server that does not handle", false},
		{"and others were", func(c, _ *agent.Connection, _ *agent.Result) { c.Upper.Fetched = 70 }, told + "; it has fetched that of 70 other commands of 10.0.0.1", "for 8s, nor fetched its data.", "a server that lacks what it needs", false},
		{"and others were elsewhere", func(_, other *agent.Connection, _ *agent.Result) { other.Upper.Fetched = 140 }, told + ", and none for another command of 10.0.0.1 is known; 10.0.0.3 has fetched that of 140 commands of 10.0.0.1", "nor fetched its data.", "a server that does not handle", false},
		{"and those of others were", func(_, other *agent.Connection, _ *agent.Result) {
			other.Upper.Fetched, other.Ends[0].Addr = 9, packet.IPv4Addr([]byte{10, 0, 0, 2})
		}, told + ", and none for another command of 10.0.0.1 is known; it has fetched that of 9 commands of other hosts", "nor fetched its data.", "a server that lacks", false},
		{"when it disconnected", func(c, _ *agent.Connection, r *agent.Result) {
			c.Closed.At, c.Closed.By = r.Last, c.Ends[0].Addr
		}, told, "for 8s, nor fetched its data, when 10.0.0.1 disconnected.", "a server that does not handle", false},
		{"the capture lost packets", func(_, _ *agent.Connection, r *agent.Result) { r.Dropped = 1 }, "", "in 8s.", "an answer that is among the packets", false},
	} {
		connection := func(peer byte) agent.Connection {
			c := agent.Connection{Service: packet.RC, PMTU: 4096, Encap: packet.RoCEv2IPv4, First: int64(time.Hour), Timing: &timing.Connection{}, Upper: &agent.Upper{Protocol: "RPC over RDMA", Answered: true}}
			for k, n := range [2]byte{1, peer} {
				c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 0x20 + uint32(peer), QPNKnown: true, Packets: 10, Messages: 5, Bytes: 500, Last: int64(time.Hour)}
			}
			c.Timing.Ends[1].Acked = timing.Answered{Count: 5, Most: 200, Newest: int64(time.Hour)}
			return c
		}
		r := &agent.Result{RDMA: 20, First: int64(time.Hour), Last: int64(time.Hour + 8*time.Second), Connections: []agent.Connection{connection(2), connection(3)}}
		c := &r.Connections[0]
		c.Upper.Oldest, c.Upper.Open, c.Upper.Unfetched = &agent.Operation{Name: "NFS version 3 WRITE, XID 0x00000002", Since: r.First, Frame: 20, Unfetched: 2048}, 3, 1
		k.set(c, &r.Connections[1], r)
		n := slices.IndexFunc(Of(r), func(i Incident) bool { return i.Kind == Waiting })
		if n < 0 {
			t.Errorf("%s: nothing is told", k.name)
			continue
		}
		i := &Of(r)[n]
		data := ""
		for _, f := range i.Facts {
			if f.Label == "data" {
				data = f.Text
			}
		}
		if !strings.HasPrefix(data, k.data) || (data == "") != (k.data == "") || !strings.HasSuffix(i.What, k.what) || !strings.HasPrefix(i.FitsWith[0], k.first) || strings.Contains(strings.Join(i.FitsWith, "; "), size) != k.size || i.says("size") != k.size {
			t.Errorf("%s: %s\n%+v\n%q", k.name, i.What, i.Facts, i.FitsWith)
		}
	}
}
