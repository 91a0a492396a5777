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

// sessionScene is a connection of two hosts, of a protocol above the transport, beside others of them.
func sessionScene(protocol string) *agent.Result {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	r := &agent.Result{RDMA: 20, First: at(0), Last: at(9000)}
	for n := range 4 {
		first := at(int64(n) * 2000)
		c := agent.Connection{Service: packet.RC, First: first, FirstFrame: uint64(10 * n), PairedBy: agent.ByCM, Closed: agent.Closed{At: first + int64(time.Second), Frame: uint64(10*n + 9)}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: uint32(0x20 + n), QPNKnown: true}
		}
		c.Closed.By = c.Ends[0].Addr
		r.Connections = append(r.Connections, c)
	}
	c := &r.Connections[0]
	c.Ends[0].Packets, c.Ends[1].Packets, c.Ends[0].Last, c.Ends[1].Last = 3, 3, at(900), at(900)
	c.Upper = &agent.Upper{Protocol: protocol, Answered: true, Counts: upper.Counts{Begun: 1}}
	return r
}

// told is what the incidents of a result say.
func toldHere(r *agent.Result) string {
	var b strings.Builder
	for _, i := range Of(r) {
		b.WriteString(i.Kind.String() + " " + i.Certainty.String() + ": " + i.What)
		for _, f := range i.Facts {
			b.WriteString(" " + f.Label + ": " + f.Text + ".")
		}
		b.WriteString(" fits " + strings.Join(i.FitsWith, "; ") + "\n")
	}
	return b.String()
}

// TestSessionRefused: a Connect that fails is told with its status and the NQNs; not a command that fails later, or one that did what it should.
func TestSessionRefused(t *testing.T) {
	at := int64(time.Hour) + int64(10*time.Millisecond)
	connect := &agent.Operation{Name: "NVMe Connect, command id 0", Since: at, Frame: 3, Ended: at + int64(time.Millisecond), Answer: 5, Status: "Connect Invalid Host", Opens: true}
	r := sessionScene("NVMe over RDMA")
	r.Connections[0].Upper.Failures = []agent.Failed{{Operation: connect, Count: 1, Opens: true}}
	r.Connections[0].Upper.Sought = "subsystem nqn.a, host nqn.b"
	got := toldHere(r)
	for _, want := range []string{
		"connection-refused proven: 10.0.0.2 QP 0x20 refused the NVMe Connect of 10.0.0.1 QP 0x20: Connect Invalid Host.", "in frame 3, answered in frame 5, 1ms later", "names: subsystem nqn.a, host nqn.b.", "does not let this host NQN in",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	r.Connections[0].Upper.Failures[0].Opens = false
	if got := toldHere(r); got != "" {
		t.Errorf("another command: %s", got)
	}
	if got := toldHere(sessionScene("NVMe over RDMA")); got != "" {
		t.Errorf("nothing failed: %s", got)
	}
}

// TestSessionEnded: a login without an answer is told where its peer disconnected, with what the hosts connected for in vain after that; not where the initiator did, or another command has no answer.
func TestSessionEnded(t *testing.T) {
	scene := func() *agent.Result {
		r := sessionScene("iSER")
		c := &r.Connections[0]
		c.Upper.Oldest, c.Upper.Open = &agent.Operation{Name: "iSCSI Login Request, initiator task tag 0x00000001", Since: c.First + int64(600*time.Millisecond), Frame: 3, Opens: true}, 1
		c.Closed.By = c.Ends[1].Addr
		return r
	}
	const want = "connection-refused proven: 10.0.0.2 QP 0x20 disconnected 400ms after the iSCSI Login Request of 10.0.0.1 QP 0x20, without an answer to it."
	const then = "10.0.0.2 accepted 3 more connections of 10.0.0.1, the first in frame 10, on which nothing was sent; 10.0.0.1 ended each, after 1s at most"
	if got := toldHere(scene()); !strings.Contains(got, want) || !strings.Contains(got, then) {
		t.Error(got)
	}
	for name, set := range map[string]func(r *agent.Result){
		"the initiator disconnected": func(r *agent.Result) { r.Connections[0].Closed.By = r.Connections[0].Ends[0].Addr },
		"another command":            func(r *agent.Result) { r.Connections[0].Upper.Oldest.Opens = false },
		"it may have been answered":  func(r *agent.Result) { r.Connections[0].Upper.Oldest.Unsure = true },
	} {
		r := scene()
		if set(r); strings.Contains(toldHere(r), "disconnected 400ms after") {
			t.Errorf("%s: %s", name, toldHere(r))
		}
	}
	r := scene()
	r.Connections[1].Ends[0].Packets, r.Connections[2].Closed = 3, agent.Closed{}
	if got := toldHere(r); !strings.Contains(got, "accepted 2 more connections of 10.0.0.1, the first in frame 20, on which nothing was sent; 10.0.0.1 ended 1 of them, after 1s at most") {
		t.Error(got)
	}
}

// TestQueued: a command that waited for the data of others, which its peer moved all the time, is no incident of a server that waits; it is where the peer's READs took a small part of the time, where others
// take far less, and where the data of others did not keep it waiting. Others that were answered meanwhile show that the server had not stopped.
func TestQueued(t *testing.T) {
	scene := func() *agent.Result {
		r := sessionScene("NVMe over RDMA")
		r.Connections = r.Connections[:1]
		c := &r.Connections[0]
		o := &agent.Operation{Name: "NVMe Write, command id 3, namespace 1", Since: c.First, Frame: 3, Ended: c.First + int64(1200*time.Millisecond), Answer: 8, Ahead: 5e6, Moved: upper.Moved{At: c.First + int64(1100*time.Millisecond), Frame: 7, Read: true}}
		c.Closed = agent.Closed{}
		c.Upper.Counts, c.Upper.Answers, c.Upper.Slow, c.Upper.Took, c.Upper.Slowest, c.Upper.Longest = upper.Counts{Begun: 20, Ended: 20}, 20, 1, 20*600*time.Millisecond, o, []*agent.Operation{o}
		c.Upper.Classes = []agent.Class{{Name: "NVMe Write", Answers: 20, Took: 20 * 600 * time.Millisecond}, {Name: "NVMe Read", Answers: 4, Took: 2 * time.Second, Longest: time.Second, Newest: c.First + int64(time.Second)}}
		c.Timing = &timing.Connection{}
		c.Timing.Ends[1].Series = timing.Series{Start: c.First, Width: int64(100 * time.Millisecond)}
		for range 12 {
			c.Timing.Ends[1].Series.Slots = append(c.Timing.Ends[1].Series.Slots, timing.Slot{Took: 90 * time.Millisecond})
		}
		return r
	}
	if got := toldHere(scene()); got != "" {
		t.Errorf("queued: %s", got)
	}
	const slow, stopped = "command-slow proven: 10.0.0.2 QP 0x20 took 1.2s to answer NVMe Write", "a server that was stopped or busy"
	for name, set := range map[string]func(u *agent.Upper, s *timing.Series){
		"nothing was ahead":  func(u *agent.Upper, _ *timing.Series) { u.Slowest.Ahead = 0 },
		"others take less":   func(u *agent.Upper, _ *timing.Series) { u.Classes[0].Took = time.Second },
		"READs are answered": func(_ *agent.Upper, s *timing.Series) { clear(s.Slots) },
	} {
		r := scene()
		set(r.Connections[0].Upper, &r.Connections[0].Timing.Ends[1].Series)
		if got := toldHere(r); !strings.Contains(got, slow) || !strings.Contains(got, stopped) {
			t.Errorf("%s: %s", name, got)
		}
	}
	r := scene()
	r.Connections[0].Upper.Slowest.Ahead, r.Connections[0].Upper.Slowest.Others = 0, 4
	for _, ms := range []int64{100, 1195} { // soon after it began, or with it
		r.Connections[0].Upper.Recent = []int64{r.Connections[0].First + ms*int64(time.Millisecond)}
		if got := toldHere(r); strings.Contains(got, "it had not stopped") || !strings.Contains(got, stopped) {
			t.Error(got)
		}
	}
	r.Connections[0].Upper.Recent = []int64{r.Connections[0].First + int64(600*time.Millisecond)}
	if got := toldHere(r); !strings.Contains(got, "10.0.0.2 QP 0x20 answered 4 other commands (NVMe Read) that began after it meanwhile, on this connection: it had not stopped") || strings.Contains(got, stopped) {
		t.Error(got)
	}
	r.Connections[0].Upper.Classes[0].Newest = r.Connections[0].First + int64(time.Second) // of its own opcode, too
	if got := toldHere(r); !strings.Contains(got, "answered 4 other commands (NVMe Read) that began after it meanwhile") {
		t.Error(got)
	}
}

// TestLostState: that a server does not know the session of its client any more after a time without an answer is told with that; not before it, or of another client.
func TestLostState(t *testing.T) {
	scene := func() *agent.Result {
		r := sessionScene("RPC over RDMA")
		c, d := &r.Connections[0], &r.Connections[1]
		c.Closed = agent.Closed{}
		c.Upper.Oldest, c.Upper.Open = &agent.Operation{Name: "NFS version 3 READ, XID 7", Since: c.First, Frame: 3}, 1
		d.Ends[0].Packets, d.Ends[1].Packets, d.Closed = 5, 5, agent.Closed{}
		failed := &agent.Operation{Name: "NFS version 4 COMPOUND (SEQUENCE), XID 8", Since: d.First, Frame: 12, Ended: d.First + int64(time.Millisecond), Answer: 14, Status: "NFSERR_BADSESSION"}
		d.Upper = &agent.Upper{Protocol: "RPC over RDMA", Answered: true, Failures: []agent.Failed{{Operation: failed, Count: 1, Lost: true}}}
		return r
	}
	const want = "state: 10.0.0.2 answered a command with NFSERR_BADSESSION in frame 14, 2s after this began: it had lost the state of 10.0.0.1"
	if got := toldHere(scene()); !strings.Contains(got, want) {
		t.Error(got)
	}
	for name, set := range map[string]func(r *agent.Result, f *agent.Failed){
		"another status": func(_ *agent.Result, f *agent.Failed) { f.Lost = false },
		"before":         func(r *agent.Result, f *agent.Failed) { f.Ended = r.Connections[0].First },
		"another client": func(r *agent.Result, _ *agent.Failed) {
			r.Connections[1].Ends[0].Addr = packet.IPv4Addr([]byte{10, 0, 0, 7})
		},
		"another service": func(r *agent.Result, _ *agent.Failed) { r.Connections[1].Upper = nil },
	} {
		r := scene()
		set(r, &r.Connections[1].Upper.Failures[0])
		if got := toldHere(r); strings.Contains(got, "state:") || !strings.Contains(got, "command-unanswered") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
