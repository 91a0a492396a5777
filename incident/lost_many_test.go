package incident_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/incident"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestLostMany: a capture that lost a twentieth or more of what was sent comes first, says which part that is, that nothing shows the network to have lost any, where that is so, and, in a line, what only such holes make; one
// that lost fewer comes after what it lacks.
func TestLostMany(t *testing.T) {
	// without leaves out some of the frames, and has the last answer missing for two seconds.
	without := func(list []fabricagent.Frame, from, until int) []fabricagent.Frame {
		list = append(append([]fabricagent.Frame(nil), list[:from]...), list[until:len(list)-1]...)
		other := frames(t, datagrams)[0]
		other.Time = list[len(list)-1].Time + int64(2*time.Second)
		return append(list, other)
	}
	const (
		part  = "on 2 connections. That is at least 12 % of all that was sent."
		none  = " Nothing in it says that the network lost any: it holds no PSN sequence NAK and no retransmission."
		again = " What it lacks may have been sent: capture again, as next says, before you judge counts, times or missing answers by it."
		open  = "open: it holds no answer to a request, or not all of a message, and no retransmission of it, from 10.0.0.1 QP 0x9bd to 10.0.0.3 QP 0xe8f: that, too, may be among what it lost"
	)
	whole := frames(t, numberedWrites)
	lossy := frames(t, numberedWrites+"errors:\n  - {do: drop, from: a, to: b, op: request, nth: 10}\n")
	for _, k := range []struct {
		name      string
		list      []fabricagent.Frame
		want, not []string
	}{
		{"many", without(whole, 205, 315), []string{"frames: 1\n", part + none + again, open}, []string{"unanswered"}},
		{"few", without(whole, 205, 225), []string{"frames: 2\n    unanswered (possible)"}, []string{"That is", "open: ", again}},
		{"many, and the network some", without(lossy, 205, 315), []string{"That is at least 12 % of all that was sent."}, []string{none}},
		{"many, of two mirrored ports", copiedLater(without(whole, 205, 315), 2*time.Microsecond), []string{"That is at least 12 % of all that was sent."}, nil},
		{"none", whole, []string{"frames: 0"}, []string{"That is"}},
	} {
		got := toldOf(judged(t, k.list, agent.Options{Timing: true}))
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

// TestLostManyReported: a capture that says that it dropped so many leads, too; not one that dropped a few of many, nor before a request that was retransmitted in vain.
func TestLostManyReported(t *testing.T) {
	for _, k := range []struct {
		dropped uint64
		want    string
	}{{200, "The capture lost 200 packets: what is missing in it may have been sent. That is at least 17 % of all that was sent."}, {20, "The capture lost 20 packets: what is missing in it may have been sent.\n"}} {
		if got := toldOf(&agent.Result{RDMA: 1000, Packets: 1000, First: 1, Last: int64(time.Second), Dropped: k.dropped}); !strings.Contains(got, k.want) {
			t.Errorf("%d: %s", k.dropped, got)
		}
	}
}

// TestLostManyAfterFailure: what tells that the capture lost many packets comes after a request that was retransmitted in vain, which the capture shows, and before a wait that was over.
func TestLostManyAfterFailure(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	for _, stalled := range []bool{true, false} {
		c := agent.Connection{Service: packet.RC, First: at(0), FirstFrame: 1}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), QPN: 16, QPNKnown: true, Packets: 400, Messages: 200, Last: at(2000)}
		}
		stall := qp.Stall{Since: at(1000), Begun: at(1200), Last: at(1900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		x := &qp.Trouble{Now: stall}
		if c.Ends[0].Trouble, c.Ends[0].Stalled = x, stalled; !stalled {
			stall.Ended = at(1901)
			x.Now, x.Longest[0] = qp.Stall{}, stall
		}
		list := incident.Of(&agent.Result{RDMA: 1000, Packets: 1000, First: at(0), Last: at(3000), Dropped: 200, Connections: []agent.Connection{c}})
		if len(list) < 2 || (list[0].Kind == incident.Untrusted) == stalled {
			t.Errorf("%v: %+v", stalled, list)
		}
	}
}

// TestLacksBeforeHarmless: what tells that the capture lost packets comes before congestion for which nothing was retransmitted, and after congestion that receivers do not answer.
func TestLacksBeforeHarmless(t *testing.T) {
	for _, k := range []struct {
		cnps uint32
		want []incident.Kind
	}{{6, []incident.Kind{incident.Untrusted, incident.Congestion}}, {0, []incident.Kind{incident.Congestion, incident.Untrusted}}} {
		addr := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
		r := &agent.Result{RDMA: 100000, Packets: 100000, First: 1, Last: int64(time.Second), Dropped: 20}
		c := agent.Connection{Service: packet.RC, First: 1, FirstFrame: 1}
		for e := range c.Ends {
			c.Ends[e] = agent.End{Addr: addr(byte(1 + e)), QPN: 16, QPNKnown: true, Packets: 50000, Messages: 500, Last: int64(time.Second)}
		}
		r.Connections = []agent.Connection{c}
		for n := range uint64(200) {
			f := rule.Finding{Rule: rule.EvCE, Class: rule.Event, Time: int64(n + 1), Frame: n + 1}
			f.Accused.Addr, f.Peer.Addr = addr(1), addr(2)
			r.Findings = append(r.Findings, f)
		}
		for n := range k.cnps {
			f := rule.Finding{Rule: rule.EvCNP, Class: rule.Event, Time: int64(n + 1), Frame: uint64(n + 1)}
			f.Accused.Addr, f.Peer.Addr = addr(2), addr(1)
			r.Findings = append(r.Findings, f)
		}
		var got []incident.Kind
		for _, i := range incident.Of(r) {
			got = append(got, i.Kind)
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("%d CNPs: %v, want %v", k.cnps, got, k.want)
		}
	}
}
