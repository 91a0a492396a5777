package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestBeside: of a peer that answers no request it is told by its other frames whether its program ended, its host is up or restarted, or its address moved; nothing where they do not show it.
func TestBeside(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	sign := func(ms int64, by fabricagent.Means, from, to byte, ports ...uint16) agent.Sign {
		s := agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(to), By: by, Station: uint64(from)}, At: at(ms), Frame: uint64(ms)}
		copy(s.Ports[:], ports)
		return s
	}
	const (
		fin     = "TCP: 10.0.0.1 closed a TCP connection with 10.0.0.2 from its port 7: FIN in frame 2990, 10ms after the last packet of 10.0.0.1 QP 0x101"
		ended   = "fits: a program on 10.0.0.1 that ended: it exited, crashed or was killed; its kernel closed its TCP connection, and its queue pair is gone"
		up      = "host: 10.0.0.1 and its link were up at +3.500 s: it sent ICMP in frame 3500, and what was retransmitted after that was not answered either"
		down    = "fits: a host, adapter or link of 10.0.0.1 that went down"
		started = "host: an interface of 10.0.0.1 came up at +3.500 s (IPv6 duplicate address detection, frame 3500): it had been down"
		moved   = "address: 10.0.0.1 is at another Ethernet address since +2.950 s: at 00:00:00:00:00:03, by ARP in frame 2950; packets to it had gone to 00:00:00:00:00:01"
		two     = "fits: two machines with the address 10.0.0.1"
	)
	movedAt := func(ms int64) func(r *agent.Result) {
		return func(r *agent.Result) {
			claim := sign(ms, fabricagent.ByARP, 1, 2)
			claim.Station = 3
			r.Moved = []agent.Moved{{Host: host(1), From: 1, First: claim}}
		}
	}
	signs := func(list ...agent.Sign) func(r *agent.Result) {
		return func(r *agent.Result) { r.Signs = list }
	}
	for _, k := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"nothing", signs(), []string{"a host, adapter or link of 10.0.0.1"}, []string{"TCP: ", "host: ", "address: "}},
		{"it closes", signs(sign(2990, fabricagent.ByFIN, 1, 2, 7, 8)), []string{fin, ended, "fits: less likely a host"}, []string{"host: "}},
		{"the other end closed before", signs(sign(2980, fabricagent.ByFIN, 2, 1, 8, 7), sign(2990, fabricagent.ByFIN, 1, 2, 7, 8)), nil, []string{"TCP: "}},
		{"it closes all the time", signs(sign(100, fabricagent.ByFIN, 1, 2, 1, 8), sign(200, fabricagent.ByFIN, 1, 2, 2, 8), sign(300, fabricagent.ByFIN, 1, 2, 3, 8), sign(2990, fabricagent.ByFIN, 1, 2, 7, 8)), nil, []string{"TCP: "}},
		{"it closes another", signs(sign(2990, fabricagent.ByFIN, 1, 3, 7, 8)), nil, []string{"TCP: "}},
		{"it closed long before", signs(sign(900, fabricagent.ByFIN, 1, 2, 7, 8)), nil, []string{"TCP: "}},
		{"up", signs(sign(3500, fabricagent.ByICMP, 1, 2)), []string{up, "fits: a process on 10.0.0.1 that was killed"}, []string{down}},
		{"up, and closes", signs(sign(2990, fabricagent.ByFIN, 1, 2, 7, 8), sign(3500, fabricagent.ByICMP, 1, 2)), []string{fin, up, ended}, []string{down, "less likely"}},
		{"up too late", signs(sign(3950, fabricagent.ByICMP, 1, 2)), nil, []string{"host: "}},
		{"another host is up", signs(sign(3500, fabricagent.ByICMP, 3, 2)), nil, []string{"host: "}},
		{"it restarted", signs(sign(3500, fabricagent.ByDAD, 1, 2)), []string{started, "fits: a host, 10.0.0.1, that restarted"}, []string{down}},
		{"its address moved", movedAt(2950), []string{moved, two}, []string{down}},
		{"its address moved after that", movedAt(3500), []string{"address: ", "a host, adapter or link of 10.0.0.1"}, []string{two}},
		{"it went on after it had moved", movedAt(2000), nil, []string{"address: "}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(4000), Taps: make([]fabricagent.Tap, 1)}
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host([2]byte{1, 2}[e]), QPN: 0x101, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(2980)}
		}
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[1].Trouble, c.Ends[1].Stalled, c.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
		r.Connections = []agent.Connection{c}
		k.set(r)
		got := allSaid(Of(r))
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

func allSaid(list []Incident) string {
	var b strings.Builder
	for n := range list {
		b.WriteString(list[n].What)
		for _, f := range list[n].Facts {
			b.WriteString("\n" + f.Label + ": " + f.Text)
		}
		for _, f := range list[n].FitsWith {
			b.WriteString("\nfits: " + f)
		}
	}
	return b.String()
}

// TestNoARP: a host that answers no ARP since its last frame is down, or cut off; not where it was asked too few times, is seen after that, or closed its connection.
func TestNoARP(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	ask := func(ms int64, from, to byte) agent.Sign {
		return agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(to)}, At: at(ms), Frame: uint64(ms)}
	}
	three := []agent.Sign{ask(3000, 1, 2), ask(4000, 1, 2), ask(5000, 1, 2)}
	for _, k := range []struct {
		name   string
		signs  []agent.Sign
		closed int64
		want   string
	}{
		{"it does not", three, 0, "10.0.0.2 answered none of 3 ARP requests of 10.0.0.1 in 2s, from frame 3000 to 5000, and nothing of it is in the capture since +2.000 s, though nobody had closed its connection: it is down, or cut off."},
		{"it does once", append(three[:3:3], ask(5001, 2, 1)), 0, ""},
		{"twice", three[:2], 0, ""},
		{"of another", []agent.Sign{ask(3000, 1, 3), ask(4000, 1, 3), ask(5000, 1, 3)}, 0, ""},
		{"before its last packet", []agent.Sign{ask(100, 1, 2), ask(1000, 1, 2), ask(1900, 1, 2)}, 0, ""},
		{"it disconnected", three, at(2000), ""},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(9000), Taps: make([]fabricagent.Tap, 1), Signs: k.signs}
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host(byte(1 + e)), QPN: 0x101, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(2000)}
		}
		c.Closed.At = k.closed
		r.Connections = []agent.Connection{c}
		if got := Of(r); len(got) == 0 && k.want != "" || len(got) > 0 && got[0].What != k.want {
			t.Errorf("%s: %s", k.name, allSaid(got))
		}
	}
}
