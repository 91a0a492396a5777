package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/verifier/cm"
)

// TestGoneWhole: a peer that answers neither a request nor pings, as it did before, or ARP, is down as a whole, or cut off: no process of it that was killed fits; not where it had
// answered no ping of that host, is seen after them, or was asked too few times.
func TestGoneWhole(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	sign := func(ms int64, by fabricagent.Means, from, to byte) agent.Sign {
		return agent.Sign{Presence: fabricagent.Presence{Host: host(from), To: host(to), By: by}, At: at(ms), Frame: uint64(ms)}
	}
	const (
		down   = "10.0.0.1 answers no ping any more: all of it is down, or cut off."
		byARP  = "10.0.0.1 answers no ARP request any more: all of it is down, or cut off."
		all    = "10.0.0.1 answers no ping, ARP request or REQ any more: all of it is down, or cut off."
		pings  = "gone: the capture holds no frame of 10.0.0.1 since +2.980 s, and it answered none of 3 pings in 2s, from frame 4000 to 6000 (it had answered 9 pings, the last at +2.000 s)"
		counts = "; none of 3 ARP requests in 2s, from frame 5000 to 7000; none of 4 REQs, from +4.500 s on"
		host1  = "fits: a host, 10.0.0.1, that crashed, hangs or lost power: not only a process of it, as its kernel would still answer "
		killed = "fits: a process on 10.0.0.1 that was killed"
		asked  = "10.0.0.2 asked 10.0.0.1 for a connection (REQ) 4 times in 3s; nothing answered. "
		stages = " It had answered nothing since +1.000 s, though its adapter still sent packets until +2.980 s: its software stopped first."
		before = "before: 10.0.0.1 answered no command of any client since +1.000 s, though some waited on 1 connection, and none of 2 pings since +1.000 s; " +
			"packets of it came 1.98s longer"
	)
	answered := func(r *agent.Result) {
		r.Echoes = []agent.Echo{{Addr: host(1), Replies: 9, First: at(10), Last: at(2000)}}
		r.Signs = append(r.Signs, sign(2000, fabricagent.ByICMP, 1, 2))
	}
	pinged := func(r *agent.Result) {
		for ms := int64(4000); ms <= 6000; ms += 1000 {
			r.Pings = append(r.Pings, sign(ms, fabricagent.ByICMP, 2, 1))
		}
	}
	stopped := func(last int64) func(r *agent.Result) { // it answered no command after that, and pings until 1 s
		return func(r *agent.Result) {
			u := &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Answers: 9, Recent: []int64{at(last)}}
			u.Oldest = &agent.Operation{Name: "NVMe Read, command id 7", Since: at(1500), Frame: 1500, From: 1}
			r.Connections[0].Upper = u
			r.Echoes[0].Last, r.Signs[0].At = at(1000), at(1000)
			r.Pings = append(r.Pings, sign(1800, fabricagent.ByICMP, 2, 1), sign(2800, fabricagent.ByICMP, 2, 1))
		}
	}
	arps := func(r *agent.Result) {
		for ms := int64(5000); ms <= 7000; ms += 1000 {
			r.Signs = append(r.Signs, sign(ms, fabricagent.ByARP, 2, 1))
		}
	}
	reqs := func(r *agent.Result) {
		r.REQs = []cm.Unanswered{{From: host(2), To: host(1), First: at(4500), Last: at(7500), Times: 4, Frame: 7500}}
	}
	for _, k := range []struct {
		name      string
		set       []func(r *agent.Result)
		want, not []string
	}{
		{"nothing else", nil, []string{killed}, []string{"gone: ", "cut off."}},
		{"pings", []func(*agent.Result){answered, pinged}, []string{down, pings, host1 + "pings", "next: whether 10.0.0.1 runs: its console, power and uptime"}, []string{killed, "next: the process"}},
		{"ARP", []func(*agent.Result){arps}, []string{byARP, host1 + "ARP"}, []string{killed, "ARP: "}},
		{"all", []func(*agent.Result){answered, pinged, arps, reqs}, []string{all, pings + counts, asked + all}, []string{killed, "whose RDMA does not work"}},
		{"REQs", []func(*agent.Result){answered, reqs}, []string{killed, "whose RDMA does not work"}, []string{"gone: ", "cut off."}},
		{"its software had stopped before", []func(*agent.Result){answered, pinged, stopped(1000)}, []string{down + stages, before}, nil},
		{"it answered until then", []func(*agent.Result){answered, pinged, stopped(2900)}, []string{down}, []string{"software stopped first"}},
		{"no pings came then", []func(*agent.Result){answered, pinged, stopped(1000), func(r *agent.Result) { r.Pings = r.Pings[:3] }}, []string{down}, []string{"software stopped first"}},
		{"it answered pings until then", []func(*agent.Result){answered, pinged, stopped(1000), func(r *agent.Result) { r.Echoes[0].Last = at(2900) }}, []string{down}, []string{"software stopped first"}},
		{"it had never answered one", []func(*agent.Result){pinged}, []string{killed}, []string{"gone: "}},
		{"only of another", []func(*agent.Result){answered, pinged, func(r *agent.Result) {
			for n := range r.Pings {
				r.Pings[n].Host = host(3)
			}
		}}, []string{killed}, []string{"gone: "}},
		{"of another host", []func(*agent.Result){answered, pinged, func(r *agent.Result) {
			for n := range r.Pings {
				r.Pings[n].To = host(3)
			}
		}}, []string{killed}, []string{"gone: "}},
		{"once", []func(*agent.Result){answered, pinged, func(r *agent.Result) { r.Pings = r.Pings[:1] }}, []string{killed}, []string{"gone: "}},
		{"too late", []func(*agent.Result){answered, pinged, func(r *agent.Result) { r.Last = at(4900) }}, []string{killed}, []string{"gone: "}},
		{"it is seen after that", []func(*agent.Result){answered, pinged, func(r *agent.Result) { r.Signs = append(r.Signs, sign(6500, fabricagent.ByARP, 1, 2)) }}, nil, []string{"gone: ", "cut off."}},
		{"it answers again", []func(*agent.Result){answered, pinged, func(r *agent.Result) { r.Echoes[0].Last = at(8000) }}, nil, []string{"gone: ", "cut off."}},
		{"lost packets", []func(*agent.Result){answered, pinged, func(r *agent.Result) { r.Dropped = 9; r.Taps[0].Dropped = 9 }}, nil, []string{"gone: ", "cut off."}},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(9000), Taps: make([]fabricagent.Tap, 1)}
		c := agent.Connection{Service: packet.RC, First: at(1), FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: host(byte(1 + e)), QPN: 0x101, QPNKnown: true, Packets: 1000, Messages: 500, Last: at(2980)}
		}
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		c.Ends[1].Trouble, c.Ends[1].Stalled, c.Ends[1].Last = &qp.Trouble{Now: stall}, true, at(3900)
		r.Connections = []agent.Connection{c}
		for _, set := range k.set {
			set(r)
		}
		got := allReasons(Of(r))
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

// allReasons is what allSaid says, and what to look at next.
func allReasons(list []Incident) string {
	var b strings.Builder
	b.WriteString(allSaid(list))
	for n := range list {
		for _, s := range list[n].Next {
			b.WriteString("\nnext: " + s)
		}
	}
	return b.String()
}
