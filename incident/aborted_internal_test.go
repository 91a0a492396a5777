package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/upper"
)

// TestAborted: of a command that has no answer it is told that its end asked to abort it, and whether that was answered; nothing of an Abort of another queue or command, or of one before it.
func TestAborted(t *testing.T) {
	at := func(s int64) int64 { return int64(time.Hour) + s*int64(time.Second) }
	const asked = "10.0.0.1 asked to abort the command 8s after it: NVMe Abort in frame 90"
	for _, k := range []struct {
		name  string
		abort upper.Cancel
		want  string
	}{
		{"answered", upper.Cancel{Name: "NVMe Abort", At: at(18), Frame: 90, ID: 7, Queue: 3, Answered: true}, asked + "; that was answered, and the command was not"},
		{"not answered", upper.Cancel{Name: "NVMe Abort", At: at(18), Frame: 90, ID: 7, Queue: 3}, asked},
		{"of another queue", upper.Cancel{Name: "NVMe Abort", At: at(18), Frame: 90, ID: 7, Queue: 2}, ""},
		{"of another command", upper.Cancel{Name: "NVMe Abort", At: at(18), Frame: 90, ID: 8, Queue: 3}, ""},
		{"before", upper.Cancel{Name: "NVMe Abort", At: at(9), Frame: 90, ID: 7, Queue: 3}, ""},
	} {
		r := &agent.Result{First: at(0), Last: at(30), Connections: make([]agent.Connection, 2)}
		for n := range r.Connections {
			c := &r.Connections[n]
			c.Service, c.First, c.Upper = packet.RC, at(0), &agent.Upper{Protocol: "NVMe over RDMA", Answered: true}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e) + 1}), QPN: uint32(n) + 1, QPNKnown: true}
			}
		}
		c := &r.Connections[0]
		c.Upper.Queue, r.Connections[1].Upper.Queue, r.Connections[1].Upper.Aborts = "queue 3", "queue 0", []upper.Cancel{k.abort}
		i := Incident{Local: Party{Addr: c.Ends[0].Addr}}
		(&teller{run: r}).aborted(&i, c, &agent.Operation{ID: 7, Since: at(10), Frame: 20})
		got := ""
		for _, f := range i.Facts {
			got += f.Text
		}
		if got != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
