package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
	"ibwitness/wqe"
)

// TestCancelled: of a refused WRITE whose command its end had asked to cancel, that comes first, where it had no final answer; of NVMe, where the Abort on the admin queue names its queue and command ID. What had an
// answer, or came after the WRITE, blames nobody, nor does what may be of another controller.
func TestCancelled(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		smb    = "cancel: 10.0.0.1 had asked to cancel that command: SMB2 CANCEL in frame 5000, 4s after it and 1s before the request"
		none   = smb + "; the capture holds no final answer to it"
		first  = "fits: memory that 10.0.0.1 released after its SMB2 CANCEL, before the final answer to the command: until that 10.0.0.2 may use it"
		whose  = "released after its"
		abort  = "cancel: 10.0.0.1 had asked to cancel that command: NVMe Abort in frame 5000, 4s after it and 1s before the request; the capture holds no final answer to it"
		looked = "next: whether 10.0.0.1 released the memory of the command that it had cancelled, without its final answer\nnext: why 10.0.0.2 took 5s for that command"
	)
	admin := func(k ...upper.Cancel) agent.Connection {
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 2, Upper: &agent.Upper{Queue: "queue 0", Aborts: k}}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host(byte(1 + e)), QPN: 0x201, QPNKnown: true, Packets: 100, Messages: 50, Last: at(8000)}
		}
		return c
	}
	nvme := func(k upper.Cancel) func(*agent.Result, *agent.Named) {
		return func(r *agent.Result, n *agent.Named) {
			n.Cancel = nil
			k.Name, k.At, k.Frame = "NVMe Abort", at(5000), 5000
			r.Connections = append(r.Connections, admin(k))
		}
	}
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result, n *agent.Named)
		want, not []string
	}{
		{"not cancelled", func(_ *agent.Result, n *agent.Named) { n.Cancel = nil }, nil, []string{"cancel: ", whose}},
		{"SMB2", func(*agent.Result, *agent.Named) {}, []string{none, first, looked}, nil},
		{"answered", func(_ *agent.Result, n *agent.Named) { n.Done = true }, []string{smb + "\n"}, []string{whose}},
		{"the request to cancel was", func(_ *agent.Result, n *agent.Named) { n.Cancel.Answered = true }, []string{smb + "\n"}, []string{whose}},
		{"unsure", func(_ *agent.Result, n *agent.Named) { n.Of.Unsure = true }, []string{smb + "\n"}, []string{whose}},
		{"after it", func(_ *agent.Result, n *agent.Named) { n.Cancel.At = at(6001) }, nil, []string{"cancel: ", whose}},
		{"NVMe", nvme(upper.Cancel{Queue: 3, ID: 7}), []string{abort}, nil},
		{"of another queue", nvme(upper.Cancel{Queue: 4, ID: 7}), nil, []string{"cancel: ", whose}},
		{"of another command", nvme(upper.Cancel{Queue: 3, ID: 8}), nil, []string{"cancel: ", whose}},
		{"of another controller", func(r *agent.Result, n *agent.Named) {
			nvme(upper.Cancel{Queue: 3, ID: 7})(r, n)
			other := admin()
			other.Upper.Queue = "queue 3"
			r.Connections = append(r.Connections, other)
		}, nil, []string{"cancel: ", whose}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(9000), Taps: make([]fabricagent.Tap, 1)}
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host(byte(1 + e)), QPN: 0x101, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(6000)}
		}
		c.Ends[1].Trouble = &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKRemoteAccess, Time: at(6000), Frame: 6001, Request: qp.StalledRequest{Op: wqe.Write, Frame: 6000, VA: 0x1000, RKey: 0x77, Length: 4096}}}
		n := &agent.Named{Addr: 0x1000, Length: 4096, Parts: 1, Of: &agent.Operation{Name: "READ, id 7", ID: 7, Since: at(1000), Frame: 1000}, Cancel: &upper.Cancel{Name: "SMB2 CANCEL", At: at(5000), Frame: 5000}}
		c.Upper = &agent.Upper{Queue: "queue 3", Named: [2]*agent.Named{1: n}}
		r.Connections = []agent.Connection{c}
		k.set(r, n)
		list := Of(r)
		got := allReasons(list) + "\n"
		for _, want := range k.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", k.name, got, want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s\nand not %q", k.name, got, not)
			}
		}
		if n.Cancel != nil && slices.Contains(k.want, none) && !slices.Contains(list[0].Frames, 5000) {
			t.Errorf("%s: frames %v", k.name, list[0].Frames)
		}
	}
}
