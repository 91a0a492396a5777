package verbs

import (
	"net/netip"
	"testing"

	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
	"ibwitness/wqe"
)

func address(t *testing.T, s string) packet.Addr {
	t.Helper()
	a, err := packet.ParseAddr(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSource: packets come from the GID that is asked for, or one that reaches their destination.
func TestSource(t *testing.T) {
	var table []gid
	for i, x := range []struct {
		addr string
		v1   bool
		nets []string
	}{
		{"fe80::1", true, nil},
		{"fe80::1", false, nil},
		{"10.0.0.1", true, nil},
		{"10.0.0.1", false, []string{"10.0.0.0/24"}},
		{"192.168.1.1", false, []string{"192.168.1.0/24", "192.168.2.0/24"}},
	} {
		g := gid{GID: remote.GID{Index: i, GID: wqe.GID{Addr: address(t, x.addr), RoCEv1: x.v1}}}
		for _, n := range x.nets {
			g.nets = append(g.nets, netip.MustParsePrefix(n))
		}
		table = append(table, g)
	}
	for _, c := range []struct {
		asked wqe.GID
		dest  string
		want  int
	}{
		{wqe.GID{}, "10.0.0.9", 3},
		{wqe.GID{}, "192.168.2.9", 4},
		{wqe.GID{}, "172.16.0.1", 3},
		{wqe.GID{}, "fe80::9", 1},
		{wqe.GID{}, "2001:db8::1", 1},
		{wqe.GID{Addr: table[0].Addr, RoCEv1: true}, "fe80::9", 0},
		{wqe.GID{Addr: table[2].Addr, RoCEv1: true}, "10.0.0.9", 2},
	} {
		if got, err := source(table, c.asked, address(t, c.dest)); err != nil || got != c.want {
			t.Errorf("%+v to %s: %d, %v", c.asked, c.dest, got, err)
		}
	}
	for _, asked := range []wqe.GID{{Addr: address(t, "10.0.0.2")}, {}} {
		if got, err := source(table[:3], asked, address(t, "10.0.0.9")); err == nil {
			t.Errorf("%+v: %d", asked, got)
		}
	}
	if a := own(table, 0); a != table[3].Addr {
		t.Errorf("%v", a)
	}
	if a := own(table[:2], 0); a != table[1].Addr {
		t.Errorf("%v", a)
	}
	if a := own(table, 5); a != packet.LIDAddr(5) {
		t.Errorf("%v", a)
	}
	if a := own(nil, 0); !a.IsZero() {
		t.Errorf("%v", a)
	}
}
