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

// TestBeforeHoled: a capture that lost packets comes before answers that it does not hold where nothing shows that the network lost any, and not
// where something does, or anything else happened.
func TestBeforeHoled(t *testing.T) {
	holed := Incident{Kind: Waiting, Certainty: Possible, inHole: true}
	for _, k := range []struct {
		name  string
		list  []Incident
		first bool
	}{
		{"no loss in the network", []Incident{holed, holed, {Kind: Untrusted, lacks: true, noLoss: true}, {Kind: Untrusted, copies: 3000}}, true},
		{"perhaps", []Incident{holed, holed, {Kind: Untrusted, lacks: true}}, false},
		{"an interruption too", []Incident{holed, {Kind: Interrupted, Certainty: Proven}, {Kind: Untrusted, lacks: true, noLoss: true}}, false},
		{"a command that waits", []Incident{{Kind: Waiting, Certainty: Proven}, {Kind: Untrusted, lacks: true, noLoss: true}}, false},
	} {
		was := len(k.list)
		if list := capturesFirst(k.list); len(list) != was || list[0].noLoss != k.first || k.first && (list[1].copies == 0 || !list[3].inHole) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestFewLosses: a capture that lost many packets comes before answers that it does not hold, and before losses of the network, where these are few
// beside its holes and cost little; not where they are many, or cost much.
func TestFewLosses(t *testing.T) {
	holed := Incident{Kind: Waiting, Certainty: Possible, inHole: true, Next: []string{"a capture that loses nothing, before anything else: see what it lost below"}}
	silent := Incident{Kind: Interrupted, Certainty: Likely, inHole: true}
	capture := Incident{Kind: Untrusted, What: "The capture lost packets.", lacks: true, losesFrames: true, lacking: 350}
	copied := Incident{Kind: Untrusted, copies: 3000}
	loss := Incident{Kind: Loss, Certainty: Proven, Lost: time.Millisecond, again: retransmitting{rounds: 1}}
	many, costly, few := loss, loss, capture
	many.again.rounds, costly.Lost, few.lacking = 36, time.Second, 63
	for _, k := range []struct {
		name  string
		list  []Incident
		first bool
	}{
		{"two losses", []Incident{holed, silent, loss, loss, capture, copied}, true},
		{"many", []Incident{holed, silent, many, loss, capture, copied}, false},
		{"costly", []Incident{holed, silent, costly, loss, capture, copied}, false},
		{"few holes", []Incident{holed, silent, loss, loss, few, copied}, false},
		{"a stall", []Incident{holed, {Kind: Interrupted, Certainty: Proven}, loss, loss, capture, copied}, false},
	} {
		for n := range k.list {
			k.list[n].Next = slices.Clone(k.list[n].Next)
		}
		list := capturesFirst(k.list)
		if len(list) != 6 || list[0].losesFrames != k.first || !k.first && !strings.HasSuffix(list[0].Next[0], "see what it lost below") && list[0].inHole {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		if k.first && (list[0].What != "The capture lost packets. Of the network it shows few losses: 2 rounds of retransmission, see below." || list[1].copies == 0 ||
			list[2].Kind != Loss || list[5].Kind != Interrupted || !strings.HasSuffix(list[4].Next[0], "see what it lost above")) {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}

// TestNetworkWell: a capture that lost packets says that nothing shows the network to have lost any, that copies of a mirror are no
// retransmissions, and that its clock was set; not where something was retransmitted.
func TestNetworkWell(t *testing.T) {
	const none = "Nothing in it says that the network lost any: it holds no PSN sequence NAK and no retransmission"
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for _, k := range []struct {
		name        string
		copies      uint64
		again, step bool
		want        string
	}{
		{"none", 0, false, false, none + "."},
		{"copies", 100, false, false, none + "; 100 copies that look like some are of packets that a mirror shows twice, see there."},
		{"and a clock", 0, false, true, none + "."},
		{"a retransmission", 100, true, true, ""},
	} {
		c := agent.Connection{Service: packet.RC, First: 1, Ends: [2]agent.End{
			{Addr: a, QPN: 1, QPNKnown: true, Packets: 5000}, {Addr: b, QPN: 2, QPNKnown: true, Packets: 5000},
		}}
		if k.again {
			c.Ends[0].Retransmissions, c.Ends[0].Trouble = 1, &qp.Trouble{Sum: qp.Stalls{Count: 1, Begun: int64(time.Second), Last: int64(time.Second)}}
		}
		r := &agent.Result{RDMA: 10000, Packets: 10000, First: 1, Last: int64(2 * time.Second), Dropped: 200, Connections: []agent.Connection{c}}
		if k.copies > 0 {
			r.Mirrored = []agent.Mirrored{{From: a, To: b, Copies: k.copies, Once: 100, Numbered: true}}
		}
		if k.step {
			r.Clock.Count, r.Clock.Frame = 1, 77
		}
		for _, i := range Of(r) {
			if !i.lacks || !strings.HasPrefix(i.What, "The capture lost ") {
				continue
			}
			if strings.Contains(i.What, none) != (k.want != "") || !strings.HasSuffix(i.What, k.want) || i.says("clock") != (k.step && !k.again) {
				t.Errorf("%s: %s %v", k.name, i.What, i.Facts)
			}
		}
	}
}

// TestMirrorBeforeItsHoles: that packets are in the capture twice comes before what the capture lost, where that tells that it is not the network, and only there.
func TestMirrorBeforeItsHoles(t *testing.T) {
	for _, own := range []bool{true, false} {
		for _, many := range []bool{true, false} {
			holes := Incident{Kind: Untrusted, lacks: true, noLoss: true, losesFrames: true, lostMany: many, lacking: 3000}
			list := capturesFirst([]Incident{holes, {Kind: Reordered}, {Kind: Untrusted, copies: 9000, lacks: own, notNetwork: own}})
			if (list[0].copies > 0) != own {
				t.Errorf("not the network %v, many %v: %+v", own, many, list)
			}
		}
	}
}
