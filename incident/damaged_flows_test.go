package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/rule"
)

// TestDamagedFlows: where damaged packets are of some queue pairs, and of no others between the same hosts in the same direction, though these send too much for chance, that is one path of several, and not the
// hosts; where the others are hit too, send too little or go elsewhere, or a snap length cut packets, it is not said.
func TestDamagedFlows(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name    string
		to      byte   // where the queue pair goes of which no packet is damaged, or few
		packets uint64 // that it sends
		also    int    // of them that are damaged
		cut     bool
		want    bool
	}{
		{"one of two", 2, 1000, 0, false, true},
		{"both", 2, 1000, 2, false, false},
		{"one that sends little", 2, 80, 0, false, false},
		{"to another host", 3, 1000, 0, false, false},
		{"cut", 2, 1000, 0, true, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, to := range []byte{2, k.to} {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			sent := []uint64{1000, k.packets}[n]
			c.Ends[0] = agent.End{Addr: addr(1), QPN: uint32(16 + n), QPNKnown: true, Packets: sent, Bytes: 1024 * sent, Last: int64(time.Second), Path: agent.Path{Known: true, Port: uint16(50000 + n)}}
			c.Ends[1] = agent.End{Addr: addr(to), QPN: uint32(32 + n), QPNKnown: true, Packets: sent, Last: int64(time.Second)}
			r.Connections = append(r.Connections, c)
		}
		damaged := func(n int, to byte, qpn uint32) {
			at := int64(n+2) * int64(10*time.Millisecond)
			r.Findings = append(r.Findings, rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: at, Frame: uint64(n + 2), Accused: rule.Endpoint{Addr: addr(1)}, Peer: rule.Endpoint{Addr: addr(to), QPN: qpn}})
		}
		for n := range 8 {
			damaged(n, 2, 32)
		}
		for n := range k.also {
			damaged(8+n, k.to, 33)
		}
		if !k.cut {
			r.Cover[rule.ROCV2019].Exercised = 9000
		}
		i := Of(r)[0]
		told := i.What + strings.Join(i.FitsWith, "; ") + strings.Join(i.Next, "; ")
		for _, f := range i.Facts {
			told += f.Text
		}
		for _, s := range []string{
			"8 packets had a wrong ICRC at the tap, all of them on 1 queue pair (UDP source port 50000), and none of 1,000 packets of 1 other from the same hosts or to them", "one path of several, which these queue pairs take", "ECMP hash",
			"not the adapters and own links of 10.0.0.1 and 10.0.0.2", "8 10.0.0.1 → 10.0.0.2 QP 0x20",
		} {
			if strings.Contains(told, s) != k.want {
				t.Errorf("%s: %q: %s", k.name, s, told)
			}
		}
		if slices.Contains(i.FitsWith, "") {
			t.Errorf("%s: %q", k.name, i.FitsWith)
		}
	}
}

// TestDamageOfSeveralPairs: flows that are hit and flows that are not tell it of several pairs of hosts together, where none of these has enough of them by itself.
func TestDamageOfSeveralPairs(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name   string
		beside []byte // receivers of host 1, and of host 2, of the flows that none of is damaged
		want   bool
	}{
		{"others between both pairs", []byte{3, 4}, true},
		{"others between one pair", []byte{3, 5}, false},
		{"others between none", []byte{5, 6}, false},
	} {
		flows, hit, clean := map[flow]*damagedOf{}, map[way]load{}, map[way]load{}
		for n := range byte(2) {
			w := way{addr(n + 1), addr(n + 3)}
			flows[flow{w, 32}] = &damagedOf{n: 5, bursts: 5}
			hit[w] = load{1000, 1 << 20}
			clean[way{addr(n + 1), addr(k.beside[n])}] = load{1000, 1 << 20}
		}
		if got := apart(flows, hit, clean); got != k.want {
			t.Errorf("%s: %v", k.name, got)
		}
	}
	few := map[flow]*damagedOf{{way{addr(1), addr(3)}, 32}: {n: 1, bursts: 1}, {way{addr(2), addr(4)}, 32}: {n: 1, bursts: 1}}
	both := map[way]load{{addr(1), addr(3)}: {1000, 1 << 20}, {addr(2), addr(4)}: {1000, 1 << 20}}
	if apart(few, both, both) {
		t.Error("two damaged packets tell it")
	}
}
