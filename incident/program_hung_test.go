package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/upper"
)

// TestProgramHung: of a receiver that was not ready until the retries were used up it is told that its program had answered nothing for long before, and that its other queues went on; not where it had answered
// until then, where commands take as long at other times, where too few are open, or where the capture has lost packets.
func TestProgramHung(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	const stopped = "10.0.0.2 QP 0x20 answered none of the newest 16 commands of 10.0.0.1 QP 0x20 for 26ms, and then was not ready for a SEND of 100 bytes: it refused it 4 times"
	for _, k := range []struct {
		name  string
		set   func(u *agent.Upper, r *agent.Result)
		want  string
		fits  string
		facts string
	}{
		{"it hung", func(*agent.Upper, *agent.Result) {}, stopped, "a thread of the program on 10.0.0.2 that serves this queue pair", "10.0.0.2 answered at least 3 commands of 10.0.0.1 on 1 other connection"},
		{"so did all of it", func(_ *agent.Upper, r *agent.Result) { r.Connections = r.Connections[:1] }, stopped, "a program on 10.0.0.2 that hung", "16 commands (NVMe over RDMA) had no answer when it was first not ready, though all of them were acknowledged: the oldest, in frame 20, for 26ms; the last reply had come 4ms before it, in frame 19"},
		{"the others hung, too", func(_ *agent.Upper, r *agent.Result) { r.Connections[1].Upper.Recent = []int64{at(1900)} }, stopped, "a program on 10.0.0.2 that hung", "it had answered 600 commands, each within 1ms"},
		{"after a reply to an earlier one", func(u *agent.Upper, _ *agent.Result) { u.Recent = []int64{at(2010)} }, strings.Replace(stopped, "26ms", "16ms", 1), "a thread of", "the last reply, to an earlier one, came 10ms after it, in frame 19"},
		{"it had answered just before", func(u *agent.Upper, _ *agent.Result) { u.Recent = []int64{at(2024)} }, "", "", ""},
		{"a later one was answered", func(u *agent.Upper, _ *agent.Result) { u.Oldest.Later = 1 }, "", "", ""},
		{"others took as long", func(u *agent.Upper, _ *agent.Result) { u.Slowest.Ended = at(1010) }, "", "", ""},
		{"few were answered", func(u *agent.Upper, _ *agent.Result) { u.Answers = 8 }, "", "", ""},
		{"few are open", func(u *agent.Upper, _ *agent.Result) { u.Before[0] = 3 }, "", "", ""},
		{"the other end's", func(u *agent.Upper, _ *agent.Result) { u.Oldest.From = 1 }, "", "", ""},
		{"the capture lost packets", func(_ *agent.Upper, r *agent.Result) { r.Dropped = 1 }, "", "", ""},
	} {
		connection := func(qpn uint32) agent.Connection {
			c := agent.Connection{Service: packet.RC, First: at(0), PairedBy: agent.ByCM, Upper: &agent.Upper{Protocol: "NVMe over RDMA", Answered: true, Counts: upper.Counts{Ended: 600}, Answers: 600}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(e + 1)}), QPN: qpn, QPNKnown: true, Packets: 100, Last: at(2030)}
			}
			c.Upper.Slowest = &agent.Operation{Since: at(1000), Ended: at(1001)}
			return c
		}
		c, other := connection(0x20), connection(0x21)
		c.Ends[0].Settings = agent.Settings{Known: qp.KnowsRNRRetry, RNRRetry: 3}
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, &qp.Trouble{Now: qp.Stall{Request: qp.StalledRequest{Op: 1, Length: 100, Frame: 50}, NAKs: 4, Since: at(2026), Begun: at(2027), Last: at(2030)}, RNR: qp.RNRSums{NAKs: 4, Least: 1, Most: 1, First: at(2027), Last: at(2030)}}
		c.Ends[0].Trouble.NAK.Time = at(2030)
		c.Upper.Oldest, c.Upper.Open, c.Upper.Before = &agent.Operation{Name: "NVMe Read", Since: at(2000), Frame: 20}, 17, [2]int{16, 0}
		c.Upper.Recent, c.Upper.Newest = []int64{at(1995), at(1996)}, 19
		other.Upper.Recent = []int64{at(1999), at(2011), at(2012), at(2029), at(2031)}
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(8000), Connections: []agent.Connection{c, other}}
		k.set(c.Upper, r)
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind == Untrusted })
		if len(list) != 1 || list[0].Kind != Exhausted {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if k.want == "" {
			if !strings.HasPrefix(i.What, "10.0.0.2 QP 0x20 was not ready for") || i.says("commands") || !strings.HasPrefix(i.Next[0], "the rnr_retry_count") || i.Begin != at(2026) {
				t.Errorf("%s: %+v", k.name, i)
			}
			continue
		}
		if !strings.HasPrefix(i.What, k.want) || !strings.HasPrefix(i.FitsWith[0], k.fits) || !strings.HasPrefix(i.Next[0], "on 10.0.0.2: what the thread that serves QP 0x20 did") || !strings.HasPrefix(i.Next[2], "the rnr_retry_count") || i.Begin != at(2000) ||
			!slices.ContainsFunc(i.Facts, func(f Fact) bool { return strings.HasSuffix(f.Text, k.facts) }) {
			t.Errorf("%s: %s\n%q\n%q\n%q", k.name, i.What, i.Facts, i.FitsWith, i.Next)
		}
	}
}
