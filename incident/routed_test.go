package incident_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// routed is a frame as a router passes it on so much later.
func routed(f fabricagent.Frame, by time.Duration, more func(*packet.Packet)) fabricagent.Frame {
	f.Time += int64(by)
	f.Data = slices.Clone(f.Data)
	copy(f.Data, []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8})
	changed(&f, func(p *packet.Packet) {
		p.HopLmt--
		if more != nil {
			more(p)
		}
	})
	return f
}

// aroundRouter has each frame that a function names come once more, as a router passes it on so much later.
func aroundRouter(list []fabricagent.Frame, by time.Duration, which func(i int) bool, more func(*packet.Packet)) []fabricagent.Frame {
	all := slices.Clone(list)
	for i, f := range list {
		if which(i) {
			all = append(all, routed(f, by, more))
		}
	}
	slices.SortStableFunc(all, func(a, b fabricagent.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return all
}

func each(int) bool { return true }

// sixteen are 16 WRITEs of 8 packets.
var sixteen = strings.Replace(writes, "repeat: 4", "repeat: 16", 1)

// unnumbered has each frame carry the IPv4 identification 0, as a sender writes that does not number its packets.
func unnumbered(list []fabricagent.Frame) []fabricagent.Frame {
	for i := range list {
		changed(&list[i], func(p *packet.Packet) { p.IPID = 0 })
	}
	return list
}

// TestRouted: what a mirror shows before and after a router is judged once, and told where it is much.
func TestRouted(t *testing.T) {
	const twice = "capture (proven): The capture holds most packets twice, before and after a router (TTL 64 and 63): of 288, 144 are copies of others. Each is judged once.\n"
	reads := strings.Replace(sixteen, "op: write", "op: read", 1)
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
		want string
	}{
		{"each", aroundRouter(frames(t, sixteen), time.Microsecond, each, nil), "frames: 1\n    " + twice},
		{"after others", aroundRouter(frames(t, sixteen), 3*time.Microsecond, each, nil), "frames: 1\n    " + twice},
		{"READs", aroundRouter(frames(t, reads), time.Microsecond, each, nil), "packets twice, before and after a router"},
		{"not numbered", aroundRouter(unnumbered(frames(t, sixteen)), time.Microsecond, each, nil), "frames: 1\n    " + twice},
		{"one of ten", aroundRouter(frames(t, sixteen), time.Microsecond, func(i int) bool { return i%10 == 3 }, nil), "frames: 0"},
		{"another DSCP", aroundRouter(frames(t, sixteen), time.Microsecond, each, func(p *packet.Packet) { p.TClass = 26 << 2 }), "frames: 1\n    " + twice},
		{"none", frames(t, sixteen), "frames: 0"},
	} {
		r := judged(t, tt.list, agent.Options{})
		if got := toldOf(r); !strings.Contains(got, tt.want) || len(r.Findings) > 0 {
			t.Errorf("%s: %s%v", tt.name, got, r.Findings)
		}
	}
}

// TestNotRouted: what was retransmitted is no copy, by whichever way it comes, nor is what comes with the same hop limit or much later.
func TestNotRouted(t *testing.T) {
	again := func(p *packet.Packet) { p.IPID += 1000 }
	for _, tt := range []struct {
		name string
		list []fabricagent.Frame
	}{
		{"with another number", aroundRouter(frames(t, sixteen), time.Microsecond, each, again)},
		{"the same hop limit", aroundRouter(frames(t, sixteen), time.Microsecond, each, func(p *packet.Packet) { p.HopLmt++ })},
		{"not numbered, later", aroundRouter(unnumbered(frames(t, sixteen)), time.Millisecond, each, nil)},
		{"numbered, much later", aroundRouter(frames(t, sixteen), 20*time.Millisecond, each, nil)},
	} {
		if r := judged(t, tt.list, agent.Options{}); r.Copies.Routed > 0 || strings.Contains(toldOf(r), "router") {
			t.Errorf("%s: %+v %s", tt.name, r.Copies, toldOf(r))
		}
	}
}

// TestRoutedLoss: what was lost is told of a capture that holds the rest twice, and so is what the router marked.
func TestRoutedLoss(t *testing.T) {
	const drop = "errors: [{do: drop, from: a, op: request, nth: 40, where: after}]\n"
	got := happened(t, aroundRouter(frames(t, sixteen+drop), time.Microsecond, each, nil), agent.Options{})
	if !strings.Contains(got, "loss (proven)") || !strings.Contains(got, "twice, before and after a router") {
		t.Error(got)
	}
	marked := aroundRouter(frames(t, sixteen), time.Microsecond, each, func(p *packet.Packet) { p.TClass |= 3 })
	if r := judged(t, marked, agent.Options{}); r.Copies.Routed == 0 || !strings.Contains(toldOf(r), "congestion (") {
		t.Error(toldOf(r))
	}
}
