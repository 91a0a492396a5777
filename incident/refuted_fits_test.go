package incident_test

import (
	"slices"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/mad"
	"ibwitness/packet"
)

// What fits is left out where the capture refutes it. Each test has a twin, in which nothing does.

// fitsOf is what fits of the incidents of a kind.
func fitsOf(t *testing.T, text string, kind incident.Kind) string {
	t.Helper()
	var b strings.Builder
	for _, i := range incident.Of(judged(t, frames(t, text), agent.Options{Timing: true})) {
		if i.Kind == kind {
			b.WriteString("fits: " + strings.Join(i.FitsWith, "; ") + "\nnext: " + strings.Join(i.Next, "; ") + "\n")
		}
	}
	return b.String()
}

// TestVanishOnSeveral: where larger packets are not answered on two queue pairs, and smaller ones are, neither a queue pair nor one path is why;
// where small packets after them bring no NAK, their size is not why.
func TestVanishOnSeveral(t *testing.T) {
	const (
		scene = `
about: a path with a smaller MTU, and small WRITEs that go on
hcas: {a: 10.1.0.1, b: 10.1.0.2}
attributes: {pmtu: 4096, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2, psn: 0x200000}, b2: {hca: b, peer: a2}, a3: {hca: a, peer: b3}, b3: {hca: b, peer: a3}}
work:
  - {qp: a1, op: write, length: 1000, repeat: 20, every: 1ms}
  - {qp: a2, op: write, length: 1000, repeat: 20, every: 1ms}
  - {qp: a3, op: write, length: 800, repeat: 60, every: 50ms}
  - {qp: a1, op: write, length: 16384, at: 40ms}
MOREtaps: [middle]
errors:
  - {do: drop, from: a, psn: 0x100014..0x100040, count: all, where: after}
  - {do: drop, from: a, psn: 0x200014..0x200040, count: all, where: after}
`
		mtu, hangs = "whose MTU is smaller than the path MTU", "a responder that hangs"
		second     = "  - {qp: a2, op: write, length: 16384, at: 60ms}\n"
		small      = "  - {qp: a1, op: write, length: 100, at: 40ms}\n"
	)
	for more, want := range map[string][2]bool{"": {true, true}, second: {true, false}, small: {false, true}} {
		got := fitsOf(t, strings.Replace(scene, "MORE", more, 1), incident.Unanswered)
		if strings.Contains(got, mtu) != want[0] || strings.Contains(got, hangs) != want[1] || strings.Contains(got, "ping -M do") != want[0] {
			t.Errorf("%q: %s", more, got)
		}
	}
}

// TestOvertakenHereToo: of packets that came late, and were not asked for, a capture that holds them in another order does not fit where another
// receiver asked for such.
func TestOvertakenHereToo(t *testing.T) {
	const (
		scene = `
about: two senders to one host
hcas: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3}
attributes: {pmtu: 1024, timeout: 18}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, c2: {hca: c, peer: b2}, b2: {hca: b, peer: c2}}
work:
  - {qp: a1, op: write, length: 16384, repeat: 40, every: 100us}
  - {qp: c2, op: write, length: 16384, at: 9ms}
taps: [b]
`
		overtakings = `errors:
  - {do: reorder, from: a, qp: b1, psn: +100, overtaken_by: 2}
  - {do: reorder, from: a, qp: b1, psn: +200, overtaken_by: 3}
  - {do: reorder, from: a, qp: b1, psn: +300, overtaken_by: 2}
`
		capture = "a capture that holds them in another order"
	)
	for more, want := range map[string]bool{"": true, overtakings: false} {
		list := frames(t, scene+more)
		at := slices.IndexFunc(list, func(f fabricagent.Frame) bool { return f.Data[14+12+3] == 3 })
		found := false
		for _, i := range incident.Of(judged(t, later(list, at+4, 1), agent.Options{Timing: true})) {
			if i.Kind == incident.Reordered && i.Local.Addr == packet.IPv4Addr([]byte{10, 0, 0, 3}) {
				found = true
				if got := strings.Join(i.FitsWith, "; "); strings.Contains(got, capture) != want {
					t.Errorf("%q: fits %s", more, got)
				}
			}
		}
		if !found {
			t.Errorf("%q: nothing is told of the second sender", more)
		}
	}
}

// TestFilterRefuted: where RoCE is answered between two hosts on another queue pair, no filter is why one never answers, and its RDMA works.
func TestFilterRefuted(t *testing.T) {
	const (
		scene = `
about: a REQ that nothing answers, WRITEs, and others to a queue pair that is not there
hcas: {a: 10.0.0.1, b: 10.0.0.2}
attributes: {pmtu: 1024, timeout: 14, retry_cnt: 7}
qps: {a1: {hca: a, peer: b1}, b1: {hca: b, peer: a1}, a2: {hca: a, peer: b2, psn: 0x200000}, b2: {hca: b, peer: a2}}
work:
  - {qp: a1, op: write, length: 500, repeat: WORKS, every: 1ms}
  - {qp: a2, op: write, length: 500, at: 100ms}
taps: [middle]
errors:
  - {do: drop, from: a, psn: 0x200000..0x200010, count: all, where: after}
`
		filter, rdma, wrong = "filter of UDP port 4791", "whose RDMA does not work", "a wrong destination QPN, or a queue pair of 10.0.0.2 that is not in RTR"
	)
	for works, want := range map[string]bool{"10": false, "": true} {
		text := strings.Replace(scene, "WORKS", works, 1)
		if works == "" {
			text = strings.Replace(scene, "  - {qp: a1, op: write, length: 500, repeat: WORKS, every: 1ms}\n", "", 1)
		}
		r := judged(t, frames(t, text), agent.Options{Timing: true})
		r.Signs = append(r.Signs, agent.Sign{
			Presence: fabricagent.Presence{Host: packet.IPv4Addr([]byte{10, 0, 0, 2}), To: packet.IPv4Addr([]byte{10, 0, 0, 1}), By: fabricagent.ByTCP}, At: r.Last - 1, Frame: 1,
		})
		got := ""
		for _, i := range incident.Of(r) {
			if i.Kind == incident.NeverAnswered {
				got = strings.Join(i.FitsWith, "; ")
			}
		}
		if !strings.Contains(got, wrong) || strings.Contains(got, filter) != want || strings.Contains(got, rdma) != want {
			t.Errorf("%q: fits %q", works, got)
		}
	}
}

// TestGatewayPassesIP: where TCP passes between two hosts, and comes from the gateway to which a REQ goes, neither a route nor an address of either is
// why nothing answers it; where it comes from another Ethernet address, or nothing of the asker belongs to it, they may be.
func TestGatewayPassesIP(t *testing.T) {
	req := &mad.REQ{Header: mad.CMHeader(mad.AttrREQ, 77), LocalCommID: 0xA0, ServiceID: 0x1060CBC, LocalQPN: 0x11, PathMTU: 3, MaxCMRetries: 15, RemoteCMTimeout: 20, LocalCMTimeout: 20}
	const gateway = 0x00005E000114
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, k := range []struct {
		name    string
		station uint64
		answers bool // the asker has sent TCP on the same ports
		want    bool // that routes and addresses fit
	}{
		{"by the gateway", gateway, true, false},
		{"by another", 0x020000000001, true, true},
		{"one way", gateway, false, true},
	} {
		list := asked(t, req)
		for n := range int64(2) {
			x := list[0]
			x.Data, x.Time, x.Number = slices.Clone(x.Data), x.Time+(n+1)*9e9, x.Number+uint64(n)+1
			list = append(list, x)
		}
		for n := range list {
			copy(list[n].Data, []byte{0, 0, 0x5E, 0, 1, 0x14})
		}
		r := judged(t, list, agent.Options{})
		sign := func(from, to packet.Addr, station uint64, ports [2]uint16) {
			r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: from, To: to, Station: station, Ports: ports, By: fabricagent.ByTCP}, At: list[1].Time, Frame: 2})
		}
		sign(b, a, k.station, [2]uint16{22, 40000})
		if k.answers {
			sign(a, b, 0x020000000009, [2]uint16{40000, 22})
		}
		got, through := "", false
		for _, i := range incident.Of(r) {
			got += strings.Join(i.FitsWith, "; ")
			through = through || slices.ContainsFunc(i.Facts, func(f incident.Fact) bool { return f.Label == "through" })
		}
		route, meant := strings.Contains(got, "a gateway without a route"), strings.Contains(got, "is not meant for")
		if !through || route != k.want || meant != k.want || !strings.Contains(got, "a filter of UDP port 4791") {
			t.Errorf("%s: fits %s", k.name, got)
		}
	}
}
