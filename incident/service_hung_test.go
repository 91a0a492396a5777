package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// TestServiceHung: a receiver that was not ready until the retries were used up, and whose service answered no REQ since while its host went on, is told as a program that hangs, and the REQs and DREQs with it; not where the
// service accepted another connection since, has others open, or is another one, where REQs for others were not answered either, a single one was not, or the host did not go on.
func TestServiceHung(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const service = 0x1061D2F // TCP port 7471
	accept := func(from byte, qpn uint32, ms int64, name string) rule.Finding {
		f := rule.Finding{Time: at(ms), Frame: uint64(ms), Accused: rule.Endpoint{Addr: addr(from), QPN: qpn}, Peer: rule.Endpoint{Addr: addr(2), QPN: qpn}}
		f.Rule, f.Class, f.Detail = rule.EvConnect, rule.Event, name
		return f
	}
	const (
		said  = "The program of 10.0.0.2 that listens on TCP port 7471 seems to hang: 10.0.0.2 QP 0x20 was not ready for a SEND of 100 bytes of 10.0.0.1 QP 0x20: it refused it 4 times in 4ms, after which 10.0.0.1 QP 0x20 gave up; and nothing answered 3 REQs and 2 DREQs of 10.0.0.1 since."
		alone = "10.0.0.2 QP 0x20 was not ready for"
	)
	for _, k := range []struct {
		name string
		set  func(r *agent.Result)
		want string
		fact string
		n    int // incidents
	}{
		{"it hangs", func(*agent.Result) {}, said, "10.0.0.2 went on on 1 other connection", 1},
		{"others are accepted", func(r *agent.Result) { r.Findings = append(r.Findings, accept(3, 0x22, 3500, "TCP port 9")) }, said, "10.0.0.2 went on on 1 other connection, and accepted a connection of 10.0.0.3 for TCP port 9, in frame 3500", 1},
		{"no DREQ", func(r *agent.Result) { r.REQs = r.REQs[:1] }, strings.Replace(said, " and 2 DREQs", "", 1), "10.0.0.2 went on on 1 other connection", 1},
		{"more time was asked for", func(r *agent.Result) {
			q := &r.REQs[0]
			q.Waits, q.MRA, q.MRAFrame, q.More = cm.ForAccept, at(9001), 91, int64(68*time.Second)
		}, strings.Replace(said, "since.", "since but an MRA, which asks for more time.", 1), "10.0.0.2 went on on 1 other connection", 1},
		{"the service accepted another", func(r *agent.Result) { r.Findings = append(r.Findings, accept(3, 0x22, 3500, "TCP port 7471")) }, alone, "", 3},
		{"it has another open", func(r *agent.Result) { r.Findings = append(r.Findings, accept(3, 0x22, 500, "TCP port 7471")) }, alone, "", 3},
		{"of another service", func(r *agent.Result) { r.Findings[0].Detail = "TCP port 9" }, alone, "", 3},
		{"another service does not answer either", func(r *agent.Result) {
			q := r.REQs[0]
			q.Service++
			r.REQs = append(r.REQs, q)
		}, alone, "", 3},
		{"a single REQ", func(r *agent.Result) { r.REQs[0].Times = 1 }, alone, "", 3},
		{"the host did not go on", func(r *agent.Result) { r.Connections[1].Ends[1].Last = at(2500) }, alone, "", 3},
	} {
		connection := func(from byte, qpn uint32, last int64) agent.Connection {
			c := agent.Connection{Service: packet.RC, First: at(0), PairedBy: agent.ByCM}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: addr([2]byte{from, 2}[e]), QPN: qpn, QPNKnown: true, Packets: 100, Last: at(last)}
			}
			return c
		}
		c := connection(1, 0x20, 2030)
		c.Ends[0].Settings = agent.Settings{Known: qp.KnowsRNRRetry, RNRRetry: 3}
		c.Ends[0].Stalled, c.Ends[0].Trouble = true, &qp.Trouble{Now: qp.Stall{Request: qp.StalledRequest{Op: 1, Length: 100, Frame: 50}, NAKs: 4, Since: at(2026), Begun: at(2027), Last: at(2030)}, RNR: qp.RNRSums{NAKs: 4, Least: 1, Most: 1, First: at(2027), Last: at(2030)}}
		c.Ends[0].Trouble.NAK.Time = at(2030)
		r := &agent.Result{RDMA: 20, First: at(0), Last: at(18000), Connections: []agent.Connection{c, connection(3, 0x21, 17000)}, Findings: []rule.Finding{accept(1, 0x20, 10, "TCP port 7471")}}
		r.REQs = []cm.Unanswered{
			{Waits: cm.ForREP, From: addr(1), To: addr(2), QPN: 0x30, Service: service, Times: 3, First: at(3000), Last: at(9000), Wait: int64(time.Second), Frame: 90},
			{Waits: cm.ForDREP, From: addr(1), To: addr(2), Times: 2, First: at(2031), Last: at(7000), Frame: 70},
		}
		k.set(r)
		list := slices.DeleteFunc(Of(r), func(i Incident) bool { return i.Kind == Untrusted })
		if len(list) != k.n || list[0].Kind != Exhausted || !strings.HasPrefix(list[0].What, k.want) {
			t.Errorf("%s: %d, %s", k.name, len(list), list[0].What)
			continue
		}
		if i := &list[0]; k.fact != "" && (!slices.ContainsFunc(i.Facts, func(f Fact) bool { return f.Label == "meanwhile" && strings.HasPrefix(f.Text, k.fact) }) || slices.ContainsFunc(i.Next, func(s string) bool { return strings.HasPrefix(s, "the rnr_retry_count") })) {
			t.Errorf("%s: %q %q", k.name, i.Facts, i.Next)
		}
	}
}
