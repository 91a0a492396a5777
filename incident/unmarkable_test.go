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
)

// TestUnmarkable: a sender whose packets are not ECN-capable, and that sends far more than others which are marked and slow down, is told
// first, with rates of before and since; not where it
// is ECN-capable, was marked, had a CNP, sends little, or the others keep their rates, or sent hardly anything before.
func TestUnmarkable(t *testing.T) {
	const (
		ms    = int64(time.Millisecond)
		told  = "10.0.0.1 sends its packets to 10.0.0.9 as not ECN-capable (ECN 00, Not-ECT), so that the network cannot mark them and no CNP slows it down: "
		since = told + "it sent 8 Gbit/s since it began at +0.020000 s, while 10.0.0.2 and 10.0.0.3, whose packets are ECN-capable, marked and answered with CNPs, went down from 8 Gbit/s to 800 Mbit/s in all. The network marked "
		all   = told + "it sent 8 Gbit/s all the time, while 10.0.0.2 and 10.0.0.3, "
		rates = "senders: 10.0.0.1 (Not-ECT, 8 Gbit/s since), 10.0.0.2 (20 marked, 20 CNPs, 4 Gbit/s before it, 400 Mbit/s since) and 10.0.0.3 (20 marked, 20 CNPs, 4 Gbit/s before it, 400 Mbit/s since); payload in 18ms before and 18ms since"
	)
	begun := second(1)
	fall := []float64{.5, .5, .05, .05}
	for _, k := range []struct {
		name   string
		a, b   []float64 // bytes in each millisecond, in millions, of the first and of each other
		change func(c *agent.Connection)
		want   string
		beside bool // that it sends, too, is told where nothing shows that it takes more
	}{
		{"begins", []float64{0, 0, 1, 1}, fall, nil, since, false},
		{"from the beginning on", []float64{1, 1, 1, 1}, []float64{.5, .1, .1, .1}, nil, all, false},
		{"ECN-capable", []float64{0, 0, 1, 1}, fall, func(c *agent.Connection) { c.Ends[0].NotECT, c.Ends[0].ECNCapable = false, true }, "", false},
		{"marked", []float64{0, 0, 1, 1}, fall, func(c *agent.Connection) { c.Timing.Ends[0].Marked = 1 }, "", false},
		{"had a CNP", []float64{0, 0, 1, 1}, fall, func(c *agent.Connection) { c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: 1}} }, "", false},
		{"sends little", []float64{0, 0, .1, .1}, fall, nil, "", true},
		{"the others keep their rates", []float64{0, 0, 1, 1}, []float64{.3, .3, .3, .3}, nil, "", true},
		{"the others sent hardly anything", []float64{0, 0, 1, 1}, []float64{.01, .01, .002, .002}, nil, "", true},
		{"sends little, of all", []float64{0, 0, .1, .1}, fall, func(c *agent.Connection) { c.Ends[0].Bytes = 1e6 }, "", false},
	} {
		connection := func(n byte, mbytes []float64) agent.Connection {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: begun, FirstFrame: uint64(n), Timing: &timing.Connection{}}
			c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 16, QPNKnown: true, Packets: 5000, Bytes: 5e6, Last: begun + 40*ms}
			c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), QPN: 17, QPNKnown: true, Packets: 99, Last: begun + 40*ms}
			m := &c.Timing.Ends[0]
			m.Series.Start, m.Series.Width = begun, ms
			for n := range 40 {
				bytes := uint64(1e6 * mbytes[n/10])
				m.Series.Slots = append(m.Series.Slots, timing.Slot{Bytes: bytes})
				if bytes > 0 {
					at := begun + int64(n)*ms
					if m.Active.First == 0 {
						m.Active.First = at
					}
					m.Busy.Windows = append(m.Busy.Windows, timing.Window{At: at / timing.BusyWidth, Bytes: uint32(bytes)})
				}
			}
			return c
		}
		r := &agent.Result{First: begun, Last: begun + 40*ms, RDMA: 1, Connections: []agent.Connection{connection(1, k.a), connection(2, k.b), connection(3, k.b)}}
		r.Connections[0].Ends[0].NotECT = true
		if k.change != nil {
			k.change(&r.Connections[0])
		}
		for n := 1; n < 3; n++ {
			c := &r.Connections[n]
			c.Ends[0].ECNCapable = true
			c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: 20, First: begun, Last: begun + 39*ms}}
			for m := range int64(20) {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: begun + 2*ms*m + ms, Frame: uint64(100*n) + uint64(m) + 10, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: c.Ends[1].Addr}}
				notified := marked
				notified.Rule, notified.Accused, notified.Peer = rule.EvCNP, marked.Peer, marked.Accused
				r.Findings = append(r.Findings, marked, notified)
			}
		}
		got := toldOf(r)
		if beside := strings.Contains(got, "not ECT: 10.0.0.1 sends to it too, 33 % of all payload, from +0.0") && strings.Contains(got, "the network marked none of its 5,000 packets"); beside != k.beside || !beside && strings.Contains(got, "not ECT: ") {
			t.Errorf("%s: %s", k.name, got)
		}
		if !strings.Contains(got, "congestion (proven)") || strings.Contains(got, "Not-ECT") != (k.want != "") || !strings.Contains(got, k.want) || strings.Contains(got, rates) != (k.want == since) {
			t.Errorf("%s: %s", k.name, got)
		}
		if i := incident.Of(r)[0]; (k.want != "") == strings.Contains(strings.Join(i.FitsWith, "; "), "(incast)") ||
			k.want != "" && (len(i.Next) > 1 || !strings.HasPrefix(i.Next[0], "ECN-capable (ECT) traffic on 10.0.0.1: ")) {
			t.Errorf("%s: fits %q, next %q", k.name, i.FitsWith, i.Next)
		}
	}
}
