package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestFullRate: the sender whose messages go on at the rate of the way though a CNP comes to it for each is told of first, where those of others slow
// down; where part of its messages are slower, where fewer CNPs come to it than to others, or where others do not slow down either, it is not, and that
// all slowed down is not told, as of it that is not known.
func TestFullRate(t *testing.T) {
	const us, period = int64(time.Microsecond), 10 * int64(time.Millisecond)
	const control = "control: the marks were answered, what was sent slowed down and was as fast as before again"
	for _, tt := range []struct {
		name   string
		took   [2]int64 // of messages of the first sender, alternately, µs
		cnps   uint64   // to it
		beside uint64   // CNPs to each of the others
		others int64    // what messages of these take after a CNP, µs
		want   bool
	}{
		{"goes on", [2]int64{110, 130}, 40, 8, 80, true},
		{"slows down at times", [2]int64{110, 400}, 40, 8, 80, false},
		{"fewer CNPs than messages", [2]int64{110, 130}, 20, 8, 80, false},
		{"nearly as many CNPs to the others", [2]int64{110, 130}, 40, 24, 80, false},
		{"none slows down", [2]int64{110, 130}, 40, 8, 20, false},
		{"slower than others", [2]int64{220, 230}, 40, 8, 80, false},
	} {
		r := &agent.Result{First: second(1), Last: second(3)}
		for h := range byte(4) {
			bytes, cnps, begin := uint32(24576), tt.beside, 0
			if h == 0 {
				bytes, cnps, begin = 131072, tt.cnps, 9
			}
			c := agent.Connection{Service: packet.RC, First: second(1), FirstFrame: 1, PMTU: 1024, Timing: &timing.Connection{}}
			c.Timing.Ends[0].Ops[wqe.Write] = &timing.Operation{Sizes: timing.Sizes{Least: bytes, Most: bytes}}
			for n := begin; n < 40; n++ {
				took := int64(20)
				switch {
				case h == 0:
					took = tt.took[n%2]
				case n > 10 && n < 30:
					took = tt.others
				}
				at := second(1) + int64(n)*period
				c.Timing.Ends[0].Sent = append(c.Timing.Ends[0].Sent, timing.Sent{Begin: at, End: at + took*us, Bytes: bytes})
			}
			if h == 0 { // so that nothing tells how fast it was before
				c.First = c.Timing.Ends[0].Sent[0].Begin + period/2
			}
			messages := uint64(len(c.Timing.Ends[0].Sent))
			cnp, last := second(1)+19*period/2+us, second(1)+30*period
			from, to := packet.IPv4Addr([]byte{10, 0, 0, h + 1}), packet.IPv4Addr([]byte{10, 0, 0, 9})
			c.Ends[0] = agent.End{
				Addr: from, QPN: 16, QPNKnown: true, Packets: messages * 128, Messages: messages, Last: second(2), Bytes: messages * uint64(bytes),
				Trouble: &qp.Trouble{Notified: &qp.Notified{Count: cnps, First: cnp, Last: last, Bytes: 10 * 24576, Until: 30 * 24576}},
			}
			c.Ends[1] = agent.End{Addr: to, QPN: 32 + uint32(h), QPNKnown: true, Packets: 40, Last: second(2)}
			for n := range int64(cnps) {
				r.Findings = append(r.Findings,
					rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: cnp - us + n, Frame: uint64(n) + 2, Accused: rule.Endpoint{Addr: from, QPN: 16}, Peer: rule.Endpoint{Addr: to}},
					rule.Finding{Rule: rule.EvCNP, Class: rule.Event, Time: cnp + n*(last-cnp)/int64(cnps), Frame: 50 + uint64(n), Accused: rule.Endpoint{Addr: to}, Peer: rule.Endpoint{Addr: from, QPN: 16}})
			}
			r.Connections = append(r.Connections, c)
		}
		list, got := incident.Of(r), toldOf(r)
		const want = "10.0.0.1 seems not to slow down though 40 CNPs came to it (62 % of the marks are on its packets): nine of ten of its 30 messages of 131,072 bytes each were sent in 130µs or less"
		if len(list) != 1 || strings.HasPrefix(list[0].What, want) != tt.want || strings.HasPrefix(list[0].FitsWith[0], "congestion control of 10.0.0.1 (reaction point)") != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
		if strings.Contains(got, control) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}
