package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
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
