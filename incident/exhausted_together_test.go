package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestExhaustedTogether: a host that is not ready on several queue pairs from about the same time on, until the end, is one incident; not where one
// of them began long after, or is of another receiver.
func TestExhaustedTogether(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, k := range map[string]struct {
		receiver byte
		later    int64
		together bool
	}{
		"at once":          {9, ms, true},
		"much later":       {9, 2000 * ms, false},
		"another receiver": {8, ms, false},
	} {
		r := &agent.Result{First: 1, Last: 5000 * ms, RDMA: 1}
		for n := range 2 {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			receiver, since := byte(9), 100*ms
			if n == 1 {
				receiver, since = k.receiver, since+k.later
			}
			for e, host := range []byte{byte(n + 1), receiver} {
				c.Ends[e] = agent.End{
					Addr: packet.IPv4Addr([]byte{10, 0, 0, host}), QPN: uint32(16*(e+1) + n), QPNKnown: true, Packets: 100, Last: r.Last - ms,
				}
			}
			s := qp.Stall{Request: qp.StalledRequest{Op: wqe.Send, Length: 100}, NAKs: 40, Since: since, Begun: since + ms, Last: r.Last - ms}
			c.Ends[0].Stalled = true
			c.Ends[0].Trouble = &qp.Trouble{Now: s, RNR: qp.RNRSums{NAKs: 40, Least: 25, Most: 25, First: since, Last: r.Last - ms}}
			c.Ends[0].Trouble.NAK.Time = r.Last - ms
			r.Connections = append(r.Connections, c)
		}
		list := Of(r)
		const what = "10.0.0.9 was not ready for requests of 10.0.0.1 and 10.0.0.2 on 2 connections from +0.100 s on: " +
			"it refused them 80 times (RNR NAK), and still was not when the capture ended."
		if (len(list) == 1) != k.together || (list[0].What == what) != k.together || list[0].says("requests") != k.together {
			t.Errorf("%s: %d incidents, %s", name, len(list), list[0].What)
		}
	}
}
