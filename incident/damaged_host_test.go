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

// TestDamagedHost: where all damaged packets come from one host, or go to one, and others sent so much that this is no chance, the incident says so, and what to look at there comes first.
func TestDamagedHost(t *testing.T) {
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	type sent struct {
		a, b    byte
		packets uint64 // each way
	}
	const rest = ": damaged before it; receivers drop them."
	all := []sent{{1, 2, 100}, {1, 3, 100}, {2, 3, 200}, {3, 4, 200}}
	from, to := []way{{addr(1), addr(2)}, {addr(1), addr(3)}}, []way{{addr(2), addr(1)}, {addr(3), addr(1)}}
	for _, k := range []struct {
		name    string
		list    []sent
		ways    []way // of damaged packets, four each
		checked uint64
		what    string
		others  string // empty: nothing is told of a host
	}{
		{"from one host", all, from, 1200, "all of them from 10.0.0.1" + rest, "none of the 1,000 packets of 3 other hosts was damaged"},
		{"to one host", all, to, 1200, "all of them to 10.0.0.1" + rest, "none of the 1,000 packets to 3 other hosts was damaged"},
		{"from one that sends most", []sent{{1, 2, 100}, {1, 3, 100}, {2, 3, 10}}, from, 420, "50 % of them from 10.0.0.1 to 10.0.0.2" + rest, ""},
		{"from one, and its ICRC was not checked of all", all, from, 1100, "50 % of them from 10.0.0.1 to 10.0.0.2" + rest, ""},
		{"from one, and not to another host", append([]sent{{1, 4, 400}, {2, 4, 3000}}, all...), from, 8000, "50 % of them from 10.0.0.1 to 10.0.0.2" + rest, ""},
		{"from two", all, []way{{addr(1), addr(2)}, {addr(3), addr(4)}}, 1200, "50 % of them from 10.0.0.1 to 10.0.0.2" + rest, ""},
		{"an address that is damaged", all, []way{{addr(1), addr(2)}, {addr(1), addr(99)}}, 1200, "50 % of them from 10.0.0.1 to 10.0.0.2" + rest, ""},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		r.Cover[rule.ROCV2019].Exercised = k.checked
		for _, s := range k.list {
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
			for e, n := range [...]byte{s.a, s.b} {
				c.Ends[e] = agent.End{Addr: addr(n), QPN: 16, QPNKnown: true, Packets: s.packets, Bytes: s.packets * 1024, Last: int64(time.Second)}
			}
			r.Connections = append(r.Connections, c)
		}
		for n := range 4 {
			for j, w := range k.ways {
				r.Findings = append(r.Findings, rule.Finding{Rule: rule.ROCV2019, Class: rule.Unproven, Time: int64(2*n + j + 2), Frame: uint64(2*n + j + 2), Accused: rule.Endpoint{Addr: w.from}, Peer: rule.Endpoint{Addr: w.to}})
			}
		}
		list := Of(r)
		i := &list[0]
		if len(list) != 1 || !strings.Contains(i.What, k.what) {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		told := ""
		if n := slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "others" }); n >= 0 {
			told = i.Facts[n].Text
		}
		if told != k.others || strings.Contains(i.FitsWith[0], "and no others do") != (k.others != "") || strings.Contains(i.Next[0], "10.0.0.1") != (k.others != "") {
			t.Errorf("%s: %+v", k.name, i)
		}
		if first := i.Facts[slices.IndexFunc(i.Facts, func(f Fact) bool { return f.Label == "first" })].Text; !strings.HasPrefix(first, "frame 2, ") {
			t.Errorf("%s: first %q", k.name, first)
		}
		if k.others != "" && (len(i.Found) != 1 || i.Found[0].Count != 8 || !i.Between(addr(1), addr(3))) {
			t.Errorf("%s: found %+v", k.name, i.Found)
		}
	}
}
