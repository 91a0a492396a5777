package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestTellAs: of several connections that lost about as much time the first is told, and else the one that lost the most.
func TestTellAs(t *testing.T) {
	const s = time.Second
	for _, k := range []struct {
		name string
		lost []time.Duration // by connection, in the order of their beginning
		told int
		also string
	}{
		{"alike", []time.Duration{10 * s, 11 * s, 9 * s}, 0, "2 more connections between the same hosts likewise; this is the first, and none lost much more time"},
		{"the first most", []time.Duration{11 * s, 10 * s, 9 * s}, 0, "2 more connections between the same hosts likewise; this is the one that lost the most time"},
		{"one far more", []time.Duration{10 * s, 30 * s, 9 * s}, 1, "2 more connections between the same hosts likewise; this is the one that lost the most time"},
	} {
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
			r := newTeller(&agent.Result{Last: int64(time.Minute)})
			for _, n := range order {
				r.tell(&Incident{Kind: Unanswered, Connections: 1, Begin: int64(n), Lost: k.lost[n], Local: Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: uint32(n)}}, "")
			}
			list := r.sorted()
			if len(list) != 1 || list[0].Local.QPN != uint32(k.told) || list[0].Begin != 0 || len(list[0].Facts) != 1 || list[0].Facts[0].Text != k.also {
				t.Errorf("%s, %v: %+v", k.name, order, list)
			}
		}
	}
}

// TestTellAsNotFirst: what tells of several connections is not called the first where another began before it.
func TestTellAsNotFirst(t *testing.T) {
	const s = time.Second
	r := newTeller(&agent.Result{Last: int64(time.Minute)})
	for n, lost := range []time.Duration{4 * s, 10 * s, 11 * s} {
		r.tell(&Incident{Kind: Unanswered, Connections: 1, Begin: int64(n), Lost: lost, Local: Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, 1}), QPN: uint32(n)}}, "")
	}
	const want = "2 more connections between the same hosts likewise; none lost much more time than this one"
	if list := r.sorted(); len(list) != 1 || list[0].Local.QPN != 1 || list[0].Facts[0].Text != want {
		t.Errorf("%+v", list)
	}
}

// TestGaveUp: a requester that retransmits no more has used up its retries, also where it disconnects then; not where its peer disconnects soon.
func TestGaveUp(t *testing.T) {
	local, peer := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	stall := qp.Stall{Since: 1e9, Begun: 2e9, Last: 8e9, Rounds: [qp.NumCauses]uint32{7}}
	for name, k := range map[string]struct {
		closed agent.Closed
		want   bool
	}{
		"open":                          {agent.Closed{}, true},
		"closed by itself":              {agent.Closed{By: local, At: 9e9}, true},
		"closed by the peer soon":       {agent.Closed{By: peer, At: 9e9}, false},
		"closed by the peer before":     {agent.Closed{By: peer, At: 7e9}, false},
		"closed by the peer long after": {agent.Closed{By: peer, At: 15e9}, true},
	} {
		c := &agent.Connection{Closed: k.closed}
		c.Ends[0].Addr, c.Ends[1].Addr = local, peer
		r := newTeller(&agent.Result{Last: 2e10})
		if got := r.gaveUp(c, 0, &stall); (got != "") != k.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
