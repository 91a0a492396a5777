package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestProgramEnded: a request that was never answered fits a program that ended where the peer disconnects its connection then and refuses the next REQ as nothing listens; not where it refuses none, where the
// requester disconnects, or where it refuses for another reason.
func TestProgramEnded(t *testing.T) {
	const s = int64(time.Second)
	client, server := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, k := range []struct {
		name   string
		by     packet.Addr
		reason mad.RejReason // 0: nothing was refused
		want   bool
	}{
		{"ended", server, mad.RejInvalidService, true},
		{"not refused", server, 0, false},
		{"the requester disconnected", client, mad.RejInvalidService, false},
		{"refused by a program", server, mad.RejConsumer, false},
	} {
		c := agent.Connection{Service: packet.RC, First: s, PairedBy: agent.ByCM, Closed: agent.Closed{By: k.by, At: 4 * s, Frame: 14}}
		for e, a := range []packet.Addr{client, server} {
			c.Ends[e] = agent.End{Addr: a, QPN: 0x20, QPNKnown: true, Packets: 10, Last: 2 * s}
		}
		c.Ends[0].Stalled = true
		c.Ends[0].Trouble = &qp.Trouble{Now: qp.Stall{Since: 2 * s, Begun: 2*s + s/10, Last: 2*s + s/2, Rounds: [qp.NumCauses]uint32{qp.TimerExpired: 3}, Packets: 3}}
		r := &agent.Result{RDMA: 20, First: s, Last: 9 * s, Connections: []agent.Connection{c}}
		if k.reason != 0 {
			r.Findings = []rule.Finding{{
				Rule: rule.EvReject, Class: rule.Event, Time: 5 * s, Frame: 16, Accused: rule.Endpoint{Addr: server}, Peer: rule.Endpoint{Addr: client},
				Detail: cm.Refusal{Reason: k.reason, Service: "TCP port 7174"}.String(),
			}}
		}
		list := Of(r)
		if len(list) == 0 || list[0].Kind != Unanswered {
			t.Fatalf("%s: %+v", k.name, list)
		}
		if got := slices.ContainsFunc(list[0].FitsWith, func(f string) bool { return strings.HasPrefix(f, "a program on 10.0.0.2 that ended") }); got != k.want || got && len(list[0].FitsWith) != 1 {
			t.Errorf("%s: %q", k.name, list[0].FitsWith)
		}
	}
}
