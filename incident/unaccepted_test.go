package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
	"ibwitness/verifier/cm"
)

// TestUnaccepted: a REQ that was retransmitted and to which only an MRA came is told; not where the capture ends soon after, or packets to the queue pair that it names show that it was accepted.
func TestUnaccepted(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for name, k := range map[string]struct {
		set  func(r *agent.Result)
		want string
	}{
		"it hangs":     {func(*agent.Result) {}, "10.0.0.1 asked 10.0.0.2 for a connection (REQ) twice in 4.4s; its communication manager asked for more time (MRA), and nothing accepted or rejected it for 9s."},
		"ends soon":    {func(r *agent.Result) { r.Last = at(5200) }, ""},
		"lost packets": {func(r *agent.Result) { r.Dropped = 1 }, ""},
		"is connected": {func(r *agent.Result) {
			c := agent.Connection{Service: packet.RC, First: at(6000)}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: addr(byte(e + 1)), QPN: 0x30, QPNKnown: true, Packets: 10, Last: at(7000)}
			}
			r.Connections = append(r.Connections, c)
		}, ""},
	} {
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(10000), REQs: []cm.Unanswered{{
			Waits: cm.ForAccept, From: addr(1), To: addr(2), QPN: 0x30, Service: 0x1061D2F, Times: 2, First: at(1000), Last: at(5400), Frame: 90, MRA: at(5401), MRAFrame: 91, More: int64(68 * time.Second),
		}}}
		k.set(r)
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind != Ignored })
		switch {
		case k.want == "" && len(list) == 0:
		case k.want == "" || len(list) != 1 || list[0].What != k.want:
			t.Errorf("%s: %v", name, list)
		case !slices.ContainsFunc(list[0].Facts, func(f Fact) bool {
			return f.Label == "MRA" && strings.HasPrefix(f.Text, "of 10.0.0.2, in frame 91, 4.4s after the first REQ: for up to 1m8s (service timeout)")
		}):
			t.Errorf("%s: %q", name, list[0].Facts)
		}
	}
}

// TestUnacceptedBehindHung: a REQ that a server does not accept, as it answers no command of its protocol any more, is told after these, and with them; not where the server answers, or another service is asked
// for. That its answer may be lost is said only where something was lost or retransmitted.
func TestUnacceptedBehindHung(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const lost = "an answer (REP or REJ) that was lost"
	for name, k := range map[string]struct {
		set        func(r *agent.Result)
		behind, is bool
	}{
		"it hangs":        {func(*agent.Result) {}, true, false},
		"another service": {func(r *agent.Result) { r.REQs[0].Service = 0x1061144 }, false, false},
		"it answers": {func(r *agent.Result) {
			for n := range r.Connections {
				r.Connections[n].Upper.Recent, r.Connections[n].Upper.Oldest, r.Connections[n].Upper.Open = []int64{at(29000)}, nil, 0
			}
		}, false, false},
		"trouble": {func(r *agent.Result) { r.Connections[0].Ends[1].Trouble = &qp.Trouble{} }, true, true},
	} {
		client := func(n byte, since, last int64) agent.Connection {
			c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{
				Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: 7, Ended: 90}, Answers: 90, Recent: []int64{at(last)},
				Slowest: &agent.Operation{Name: "NFS version 3 READ", Since: at(1000), Ended: at(1001)},
				Oldest:  &agent.Operation{Name: "NFS version 3 WRITE, XID 0x1", Since: at(since), Frame: uint64(since)},
			}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: addr([]byte{n, 2}[e]), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(30000)}
			}
			return c
		}
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(30000), Connections: []agent.Connection{client(3, 10000, 9900), client(4, 10300, 10200)}, REQs: []cm.Unanswered{{
			Waits: cm.ForAccept, From: addr(1), To: addr(2), QPN: 0x30, Service: 0x1064E51, Times: 2, First: at(14000), Last: at(18400), Frame: 90, MRA: at(18401), MRAFrame: 91, More: int64(68 * time.Second),
		}}}
		k.set(r)
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind != Ignored && i.Kind != Waiting })
		n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Ignored })
		if n < 0 || list[n].says("program") != k.behind || slices.Contains(list[n].FitsWith, lost) != k.is || k.behind && (len(list) != 2 || n != 1) {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// TestUnacceptedAfterHung: a REQ that is not accepted, of a client that has disconnected as its commands had no answer, is told after these, with
// since when none came, though others were answered after the first of them; not where the client has another connection to the service.
func TestUnacceptedAfterHung(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for name, k := range map[string]struct {
		set func(c *agent.Connection)
		is  bool
	}{
		"it disconnected":         {func(*agent.Connection) {}, true},
		"it has another":          {func(c *agent.Connection) { c.Closed = agent.Closed{} }, false},
		"of another protocol":     {func(c *agent.Connection) { c.Upper.Protocol = "SMB Direct" }, false},
		"its server disconnected": {func(c *agent.Connection) { c.Closed.By = addr(2) }, false},
	} {
		c := agent.Connection{Service: packet.RC, First: at(0), Upper: &agent.Upper{
			Protocol: "RPC over RDMA", Answered: true, Counts: upper.Counts{Open: 7, Ended: 90}, Answers: 90, Recent: []int64{at(10250)},
			Slowest: &agent.Operation{Name: "NFS version 3 READ", Since: at(1000), Ended: at(1001)},
			Oldest:  &agent.Operation{Name: "NFS version 3 WRITE, XID 0x1", Since: at(10000), Frame: 10000, Later: 8},
		}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: addr(byte(e + 1)), QPN: 0x20, QPNKnown: true, Packets: 10, Last: at(13000)}
		}
		c.Closed.At, c.Closed.By, c.Closed.Frame = at(13900), addr(1), 13900
		k.set(&c)
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(30000), Connections: []agent.Connection{c}, REQs: []cm.Unanswered{{
			Waits: cm.ForAccept, From: addr(1), To: addr(2), QPN: 0x30, Service: 0x1064E51, Times: 2, First: at(14000), Last: at(18400), Frame: 90,
			MRA: at(18401), MRAFrame: 91,
		}}}
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind != Ignored && i.Kind != Waiting })
		n := slices.IndexFunc(list, func(i Incident) bool { return i.Kind == Ignored })
		if n < 0 || list[n].says("program") != k.is || k.is && n != 1 {
			t.Errorf("%s: %+v", name, list)
			continue
		}
		want := Fact{"program", "10.0.0.2 had answered no command (RPC over RDMA) of 10.0.0.1 since +10.250 s, 3.75s before the first REQ, when " +
			"10.0.0.1 disconnected: it is likely the same that hangs"}
		if k.is && !slices.Contains(list[n].Facts, want) {
			t.Errorf("%s: %q", name, list[n].Facts)
		}
	}
}
