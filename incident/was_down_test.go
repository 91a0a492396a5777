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

// TestServesAgain: of a host that was down and lost its connections it is told when it was back, as ARP shows, for how long no program listened, whose refusals are no incidents of their own then, and how long nobody asked; and
// whether what it counts began anew or goes on.
func TestServesAgain(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(from byte, qpn uint32, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{from, 2}[k]), QPN: qpn, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			c.Timing.Ends[k].Active = timing.Activity{First: at(first), Last: at(last)}
		}
		return c
	}
	refusal := func(r *agent.Result, reason mad.RejReason, ms int64) {
		f := rule.Finding{Rule: rule.EvReject, Class: rule.Event, Time: at(ms), Frame: uint64(ms), Detail: cm.Refusal{Reason: reason, Service: "TCP port 987"}.String()}
		f.Accused.Addr, f.Peer.Addr = host(1), host(2)
		r.Findings = append(r.Findings, f)
	}
	const (
		back   = "back: 10.0.0.1 was there again with ARP in frame 9000, +9.000 s; "
		delay  = back + "the next connection began 10s after that: with the reconnect delay of 10.0.0.1"
		listen = back + "no program of it listened on TCP port 987 until +15.000 s at least: it refused 2 REQs, from +12.000 s on (invalid service ID, reason 8); the next connection began 4s after the last of these"
		outage = "outage: 6s until it was back, 6s or more until a program listened, 4s or less for the reconnect delay of the hosts"
		on     = "no restart: its IPv4 identifications and the numbers of its queue pairs count on (0x000102, and 0x000101 before)"
	)
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
		incidents int
	}{
		{"a delay", func(*agent.Result) {}, []string{delay}, []string{"outage: ", "restart: ", "no program"}, 1},
		{"no program", func(r *agent.Result) {
			refusal(r, mad.RejInvalidService, 12000)
			refusal(r, mad.RejInvalidService, 15000)
		}, []string{listen, outage}, nil, 1},
		{"refused for another reason", func(r *agent.Result) { refusal(r, mad.RejConsumer, 12000) }, []string{delay}, []string{"outage: ", "no program"}, 2},
		{"counts on", func(r *agent.Result) { r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999}} }, []string{delay, on}, []string{"\nrestart: ", "restarted"}, 1},
		{"counts anew, by its queue pairs", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x12 }, []string{
			"when it had restarted, while", "restart: its queue pairs have lower numbers than before (0x000012, and 0x000101 before)",
		}, nil, 1},
		{"lower numbers", func(r *agent.Result) { r.Connections[1].Ends[0].QPN = 0x80 }, []string{delay}, []string{"restart: "}, 1},
		{"counts anew, by its queue pairs only", func(r *agent.Result) {
			r.Connections[1].Ends[0].QPN = 0x12
			r.Numbered = []agent.Numbering{{Host: host(1), Steps: 999}}
		}, []string{delay}, []string{"restart: "}, 1},
		{"none connects again", func(r *agent.Result) { r.Connections[1].PairedBy = agent.ByPSN }, nil, []string{"back: "}, 1},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 0x101, 1, 3000)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
		r.Connections = append(r.Connections, failed, connection(1, 0x102, 19000, 29990), connection(3, 0x301, 1, 29990))
		r.Signs = []agent.Sign{{Host: host(1), At: at(2000), Frame: 2000}, {Host: host(1), At: at(9000), Frame: 9000}}
		k.set(r)
		list := Of(r)
		if len(list) != k.incidents {
			t.Errorf("%s: %d incidents", k.name, len(list))
		}
		var got strings.Builder
		got.WriteString(list[0].What)
		for _, f := range list[0].Facts {
			got.WriteString("\n" + f.Label + ": " + f.Text)
		}
		for _, want := range k.want {
			if !strings.Contains(got.String(), want) {
				t.Errorf("%s: %s\nwant %q", k.name, got.String(), want)
			}
		}
		for _, not := range k.not {
			if strings.Contains(got.String(), not) {
				t.Errorf("%s: %s\nand not %q", k.name, got.String(), not)
			}
		}
	}
}
