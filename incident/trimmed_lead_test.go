package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/packet"
)

// TestUnderTrimmed: a stall in which packets are trimmed at its beginning and again before each timer runs out, and losses of no more packets than came trimmed, are told with the trimmed packets; a stall that goes on long
// after, and one with another host, are not.
func TestUnderTrimmed(t *testing.T) {
	const ms = int64(time.Millisecond)
	addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name       string
		kind       Kind
		from       byte
		begin, end int64
		rounds     uint64
		want       bool
	}{
		{"a stall", Interrupted, 1, 100 * ms, 270 * ms, 0, true},
		{"a stall of another sender", Interrupted, 3, 101 * ms, 180 * ms, 0, true},
		{"a stall that goes on", Interrupted, 1, 100 * ms, 900 * ms, 0, false},
		{"a stall at another time", Interrupted, 1, 600 * ms, 700 * ms, 0, false},
		{"a stall of a host none of whose packets were", Interrupted, 4, 100 * ms, 270 * ms, 0, false},
		{"losses", Loss, 1, 100 * ms, 270 * ms, 4, true},
		{"more losses", Loss, 1, 100 * ms, 270 * ms, 40, false},
	} {
		x := Incident{Kind: Trimmed, Local: Party{Addr: addr(1)}, Peer: Party{Addr: addr(2)}, Also: []packet.Addr{addr(3)}, Begin: 100 * ms, End: 800 * ms, Lost: 1, damaged: 8, bursts: bursts{{100 * ms, 101 * ms}, {180 * ms, 181 * ms}, {260 * ms, 261 * ms}}}
		o := Incident{Kind: k.kind, Local: Party{Addr: addr(k.from)}, Peer: Party{Addr: addr(2)}, Begin: k.begin, End: k.end, Lost: time.Duration(k.end - k.begin), each: [][2]int64{{k.begin, k.end}}, trimsOnly: k.kind == Loss, unkept: 4}
		o.again.rounds = k.rounds
		list := underTrimmed([]Incident{x, o})
		if (len(list) == 1) != k.want || list[0].says("stalls") != (k.want && k.kind == Interrupted) {
			t.Errorf("%s: %+v", k.name, list)
		}
		if told := slices.ContainsFunc(list[0].Facts, func(f Fact) bool { return strings.Contains(f.Text, " and 4 more, until") }); told != list[0].says("stalls") {
			t.Errorf("%s: %+v", k.name, list[0].Facts)
		}
	}
}

// TestTrimsLacked: no tap cut what its receiver asked for, where as much was retransmitted; it may have where the receiver asked for nothing, or for what had passed the tap whole, or less was retransmitted.
func TestTrimsLacked(t *testing.T) {
	for _, k := range []struct {
		trimsCost
		want bool
	}{
		{trimsCost{asked: 3, wentBack: wentBack{packets: 9}}, true},
		{trimsCost{asked: 2, wentBack: wentBack{packets: 9}}, false},
		{trimsCost{asked: 3, whole: 1, wentBack: wentBack{packets: 9}}, false},
		{trimsCost{asked: 3, wentBack: wentBack{packets: 8}}, false},
	} {
		if got := k.lacked(9); got != k.want {
			t.Errorf("%+v: %t", k, got)
		}
	}
}

// TestTrimsAskedFor: no tap cut what came trimmed where many NAKs, at least half of all, ask for just that, and most packets came whole; while something waits for an answer, nothing tells that all came whole.
func TestTrimsAskedFor(t *testing.T) {
	for _, k := range []struct {
		naks     uint32
		asked, n uint64
		want     bool
	}{{32, 16, 25, true}, {32, 15, 25, false}, {33, 16, 25, false}, {32, 16, 26, false}} {
		if s := (trimsCost{naks: k.naks, sent: 100}); s.askedForTrims(k.asked, k.n) != k.want {
			t.Errorf("%+v: want %t", k, k.want)
		}
	}
	to := packet.IPv4Addr([]byte{10, 0, 0, 2})
	s := trimsCost{wentBack: wentBack{rounds: 3}, pairs: 4, open: 1, timers: 2}
	if got := s.recovered(to); strings.Contains(got, "complete") || !strings.HasPrefix(got, "when the capture ends, 1 of 4 queue pairs") {
		t.Error(got)
	}
	if got := (&trimsCost{pairs: 4}).recovered(to); got != "" {
		t.Error(got)
	}
}
