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

// TestUnslowed: a sender that sends as fast all the time that CNPs come to it, while another falls to a part of its rate, is told first: not where it falls too, where the other keeps its rate, or
// where few CNPs came. Datagrams of management between the hosts change nothing.
func TestUnslowed(t *testing.T) {
	const (
		ms     = int64(time.Millisecond)
		told   = "; 10.0.0.1 does not slow down, while 10.0.0.2 does."
		fact   = "reaction: 10.0.0.1 sent about 16 Gbit/s while 40 CNPs came to it in 20ms, and no slower in the second half of that; 10.0.0.2 sent about 8 Gbit/s in all before that, and 800 Mbit/s meanwhile"
		begins = "reaction: 10.0.0.1 sent about 16 Gbit/s while 80 CNPs came to it in 40ms, and no slower in the second half of that; 10.0.0.2 sent about 8 Gbit/s in all when it began, and 800 Mbit/s in the second half"
	)
	begun := second(1)
	connection := func(n byte, cnps uint64, first int64, mbytes ...float64) agent.Connection { // bytes in each millisecond, in millions
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: begun, FirstFrame: uint64(n), Timing: &timing.Connection{}}
		c.Ends[0] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, n}), QPN: 16, QPNKnown: true, Packets: 5000, Last: begun + 40*ms}
		c.Ends[0].Trouble = &qp.Trouble{Notified: &qp.Notified{Count: cnps, First: begun + first, Last: begun + 40*ms}}
		c.Ends[1] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, 9}), QPN: 17, QPNKnown: true, Packets: 99, Last: begun + 40*ms}
		x := &c.Timing.Ends[0].Series
		x.Start, x.Width = begun, ms
		for k := range 40 {
			x.Slots = append(x.Slots, timing.Slot{Bytes: uint64(1e6 * mbytes[k/10])})
		}
		return c
	}
	for _, k := range []struct {
		name string
		a, b []float64
		cnps uint64
		from int64 // when the first comes
		fact string
		want bool
	}{
		{"does not slow down", []float64{0, 0, 2, 2}, []float64{1, 1, .1, .1}, 40, 20 * ms, fact, true},
		{"hardly slower", []float64{0, 0, 2, 1.7}, []float64{1, 1, .1, .1}, 40, 20 * ms, strings.NewReplacer("16 Gbit", "14.8 Gbit", "no slower", "hardly slower").Replace(fact), true},
		{"slows down too", []float64{0, 0, 2, 1}, []float64{1, 1, .1, .1}, 40, 20 * ms, fact, false},
		{"was faster before", []float64{3, 3, 2, 2}, []float64{1, 1, .1, .1}, 40, 20 * ms, fact, false},
		{"the other keeps its rate", []float64{0, 0, 2, 2}, []float64{.6, .6, .5, .5}, 40, 20 * ms, fact, false},
		{"few CNPs", []float64{0, 0, 2, 2}, []float64{1, 1, .1, .1}, 12, 20 * ms, fact, false},
		{"from the beginning on", []float64{2, 2, 2, 2}, []float64{1, .5, .1, .1}, 80, 0, begins, true},
		{"slows down, from the beginning on", []float64{2, 2, 1, 1}, []float64{1, .5, .1, .1}, 80, 0, begins, false},
		{"the other keeps its rate, from the beginning on", []float64{2, 2, 2, 2}, []float64{.6, .6, .5, .5}, 80, 0, begins, false},
	} {
		r := &agent.Result{First: begun, Last: begun + 40*ms, RDMA: 1, Connections: []agent.Connection{connection(1, k.cnps, k.from, k.a...), connection(2, 30, 5*ms, k.b...)}}
		mads := agent.Connection{Service: packet.UD, First: begun}
		mads.Ends[0], mads.Ends[1] = r.Connections[0].Ends[0], r.Connections[0].Ends[1]
		mads.Ends[0].QPN, mads.Ends[1].QPN, mads.Ends[0].Trouble = 1, 1, nil
		r.Connections = append(r.Connections, mads)
		for n := range 2 {
			c := &r.Connections[n]
			for m := range int64(20) {
				marked := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: begun + 20*ms + ms*m, Frame: uint64(100*n) + uint64(m) + 10, Accused: rule.Endpoint{Addr: c.Ends[0].Addr}, Peer: rule.Endpoint{Addr: c.Ends[1].Addr}}
				notified := marked
				notified.Rule, notified.Accused, notified.Peer = rule.EvCNP, marked.Peer, marked.Accused
				r.Findings = append(r.Findings, marked, notified)
			}
		}
		got := toldOf(r)
		first := false
		for _, i := range incident.Of(r) {
			first = strings.HasPrefix(i.FitsWith[0], "a sender that does not react: congestion control of 10.0.0.1") && strings.HasPrefix(i.Next[0], "congestion control on 10.0.0.1 (RoCE reaction point: ecn/roce_rp/enable)") &&
				len(i.FitsWith) == 1 && len(i.Next) == 1 && !strings.Contains(i.FitsWith[0], "less than the limit")
		}
		if !strings.Contains(got, "congestion (proven)") || strings.Contains(got, told) != k.want || strings.Contains(got, k.fact) != k.want || k.want && !first {
			t.Errorf("%s: first %v, %s", k.name, first, got)
		}
	}
}
