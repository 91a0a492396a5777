package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestBlackout: a time without any frame after which some hosts go on with the next PSN, and others, whose retries last shorter, have lost their connections, is told as an outage, with who had to connect again; not where
// their timers do not tell them apart or are not known, where PSNs are missing, where only programs may have ended, or where it is one time of several.
func TestBlackout(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(from byte, timeout uint8, first, last int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first)}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: host([2]byte{from, 20}[k]), QPN: uint32(first) + 16, QPNKnown: true, Packets: 1000, Messages: 400, Last: at(last)}
		}
		c.Ends[1].Settings = agent.Settings{Known: qp.KnowsTimeout | qp.KnowsRetryCnt, ByCM: qp.KnowsTimeout | qp.KnowsRetryCnt, Timeout: timeout, RetryCnt: 7}
		return c
	}
	const told = "10.0.0.20 was cut off from 2 hosts for up to 2.58s, in which the capture holds no frame of any host; then 10.0.0.12 went on, and 10.0.0.11 had lost its connections, and connected once more 10.6s after the last frame."
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want string
	}{
		{"an outage", func(*agent.Result) {}, told},
		{"no other connection", func(r *agent.Result) { r.Connections = r.Connections[:4] }, strings.Replace(told, ", and connected once more 10.6s after the last frame", "", 1)},
		{"what a host uses itself is known", func(r *agent.Result) {
			for n := range 2 {
				r.Connections[n].Ends[0].Settings, r.Connections[n].Ends[1].Timeout = r.Connections[n].Ends[1].Settings, 31
			}
		}, told},
		{"two have lost theirs", func(r *agent.Result) {
			r.Connections[1].Ends[0].Addr = host(13)
			r.Connections = append(r.Connections, connection(13, 14, 12000, 15000))
		}, "10.0.0.20 was cut off from 3 hosts for up to 2.58s, in which the capture holds no frame of any host; then 10.0.0.12 went on, and 10.0.0.11 and 10.0.0.13 had lost their connections; 10.0.0.11, the last of them to have another, connected once more 10.6s after the last frame."},
		{"all have one timer", func(r *agent.Result) { r.Connections[3].Ends[1].Timeout, r.Connections[2].Ends[1].Timeout = 14, 14 }, ""},
		{"retries that last longer", func(r *agent.Result) { r.Connections[0].Ends[1].Timeout, r.Connections[1].Ends[1].Timeout = 17, 17 }, ""},
		{"timers are not known", func(r *agent.Result) { r.Connections[2].Ends[1].Known = 0 }, ""},
		{"PSNs are missing", func(r *agent.Result) { r.Connections[2].Ends[0].Trouble = &qp.Trouble{} }, ""},
		{"one was not disconnected", func(r *agent.Result) { r.Connections[1].Closed.At = 0 }, ""},
		{"it was disconnected before", func(r *agent.Result) {
			for n := range 2 {
				r.Connections[n].Closed.At = at(1899)
			}
		}, ""},
		{"all go on", func(r *agent.Result) {
			for n := range 2 {
				r.Connections[n].Closed.At, r.Connections[n].Ends[0].Last = 0, at(15000)
			}
		}, ""},
		{"again and again", func(r *agent.Result) {
			r.Silences = append(r.Silences, agent.Silence{From: at(6000), To: at(7000), Frame: 4000})
		}, ""},
		{"the capture lost packets", func(r *agent.Result) { r.Dropped = 1 }, ""},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(15000), Silences: []agent.Silence{{From: at(1900), To: at(4477), Frame: 2969}}}
		for n := range int64(2) {
			c := connection(11, 14, n, 1895)
			c.Closed = agent.Closed{By: host(11), At: at(7110), Frame: 5282}
			r.Connections = append(r.Connections, c)
		}
		r.Connections = append(r.Connections, connection(12, 18, 2, 15000), connection(12, 18, 3, 14990), connection(11, 14, 12500, 15000))
		k.set(r)
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind == Untrusted })
		if k.want == "" && len(list) == 0 {
			continue
		}
		if len(list) != 1 || list[0].What != k.want || list[0].Kind != Interrupted || list[0].Certainty != Likely || list[0].Connections != 4 || list[0].says("also") {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		i := list[0]
		if len(r.Connections) > 5 {
			continue
		}
		for _, want := range []Fact{
			{"went on", "10.0.0.12 on 2 connections, with the next PSN, after 2.58s; ACK timeout 1.07s (code 18), retry_cnt 7 in its REQs: with these, retries last 8.59s to 34.4s"},
			{"lost", "10.0.0.11 on 2 connections, which carry nothing after it; ACK timeout 67.1ms (code 14), retry_cnt 7 in its REQs: with these, retries last 537ms to 2.15s; 10.0.0.11 disconnected 5.21s after the last frame, in frame 5282; the next connection began 10.6s after the last frame, in frame 12500"},
		} {
			if r.Connections[0].Ends[0].Timeout == 14 {
				want.Text = strings.Replace(want.Text, "(code 14), retry_cnt 7 in its REQs", "(code 14), retry_cnt 7", 1)
			}
			if len(r.Connections) < 5 {
				want.Text = strings.Replace(want.Text, "; the next connection began 10.6s after the last frame, in frame 12500", ", and no other connection follows", 1)
			}
			if !slices.Contains(i.Facts, want) {
				t.Errorf("%s: %q", k.name, i.Facts)
			}
		}
	}
}
