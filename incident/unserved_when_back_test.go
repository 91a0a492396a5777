package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/timing"
	"ibwitness/verifier/cm"
)

// TestUnservedWhenBack: of a host that was silent for long, had not disconnected, and refuses when it is back what it had served, it fits first
// that it started again; not of one that refuses what nobody shows it to have served, that disconnected before, or that serves the hosts again
// before.
func TestUnservedWhenBack(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(a, b byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k, n := range [2]byte{a, b} {
			c.Ends[k] = agent.End{Addr: host(n), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	refusal := func(r *agent.Result, service string, ms int64) {
		d := cm.Refusal{Reason: mad.RejInvalidService, Service: service}.String()
		f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: d}
		f.Accused.Addr, f.Peer.Addr = host(1), host(2)
		r.Findings = append(r.Findings, f)
	}
	announced := func(r *agent.Result, ms int64) {
		p := fabricagent.Presence{Host: host(1), By: fabricagent.ByARP, To: host(1)}
		r.Signs = append(r.Signs, agent.Sign{Presence: p, At: at(ms), Frame: uint64(ms)})
	}
	const (
		again = "fits: most likely 10.0.0.1, or its adapter, that crashed, lost power or was reset, and started again: it "
		arp   = again + "came back with an ARP announcement (frame 11000), and refused in frame 12000 what it had served, TCP port 4420 (reason 8)"
		start = "next: the uptime of 10.0.0.1, and its program that listens on TCP port 4420: start it"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"refuses what it had served", func(r *agent.Result) {
			announced(r, 11000)
			refusal(r, "TCP port 4420", 12000)
		}, []string{arp, start, "next: why 10.0.0.1 stopped"}, []string{pathFails, wentDown(host(1))}},
		{"no announcement", func(r *agent.Result) { refusal(r, "TCP port 4420", 12000) }, []string{again + "refused in frame 12000"}, nil},
		{"refuses something else", func(r *agent.Result) { refusal(r, "TCP port 987", 12000) }, nil, []string{again}},
		{"back without a refusal", func(r *agent.Result) { announced(r, 11000) }, nil, []string{again}},
		{"for a moment", func(r *agent.Result) { refusal(r, "TCP port 4420", 7000) }, nil, []string{again}},
		{"disconnected before", func(r *agent.Result) {
			refusal(r, "TCP port 4420", 12000)
			c := connection(1, 5, 0x104, 1, 2995)
			c.Closed = agent.Closed{By: host(1), At: at(2995), Frame: 2995}
			r.Connections = append(r.Connections, c)
		}, nil, []string{again}},
		{"serves before", func(r *agent.Result) {
			announced(r, 11000)
			refusal(r, "TCP port 4420", 12000)
			r.Connections = append(r.Connections, connection(2, 1, 0x105, 11500, 29000))
		}, nil, []string{again}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 2, 0x101, 1, 3000)
		s := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		s.Rounds[qp.TimerExpired] = 7
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = &qp.Trouble{Now: s}, true, at(3900)
		failed.Closed = agent.Closed{By: host(2), At: at(4000), Frame: 4000}
		failed.Upper = &agent.Upper{Protocol: "NVMe over RDMA", Answers: 100}
		r.Connections = append(r.Connections, failed, connection(3, 2, 0x301, 1, 29990))
		k.set(r)
		var b strings.Builder
		for _, i := range Of(r) {
			b.WriteString(i.What + "\n")
			for _, f := range i.FitsWith {
				b.WriteString("fits: " + f + "\n")
			}
			for _, n := range i.Next {
				b.WriteString("next: " + n + "\n")
			}
		}
		got := b.String()
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
	}
}
