package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/qp"
)

// answersLost has the sender of a queue pair retransmit by its timer requests of these times, whose answers were lost.
func (r *hashedScene) answersLost(n int, at ...int64) {
	const ms = int64(time.Millisecond)
	k := &qp.Trouble{}
	for j, at := range at {
		s := qp.Stall{Since: at * ms, Begun: (at + 67) * ms, Last: (at + 67) * ms, Ended: (at + 68) * ms, Packets: 1}
		s.Request.Frame = uint64(at)
		s.Rounds[qp.TimerExpired] = 1
		k.Longest[j] = s
		k.Sum.Rounds[qp.TimerExpired]++
		k.Sum.Count, k.Sum.Last, k.Sum.Ended, k.Sum.Lost = k.Sum.Count+1, s.Last, s.Ended, k.Sum.Lost+68*ms
		k.Again.Packets++
	}
	k.Sum.Begun = k.Longest[0].Begun
	r.Connections[n].Ends[0].Trouble = k
}

// TestOnlyAnswersGone: where a host's IPv4 identifications lack one packet each time that a timer ran out for its answers, and no other, the answers
// were lost: the UDP source ports told are theirs; not where it lacks another, too, several at a time, or some that a stream lacks.
func TestOnlyAnswersGone(t *testing.T) {
	const (
		ms   = int64(time.Millisecond)
		back = "2 of 8 queue pairs from 10.0.0.1 to 10.0.0.3 had to retransmit (of lost responses: UDP source ports 50001, 50101): it may be one path " +
			"of several; the others lost none (UDP source ports 50201, 50301, 50401, 50501, 50601, 50701)"
		forward = "2 of 8 queue pairs from 10.0.0.1 to 10.0.0.3 had to retransmit (UDP source ports 50000, 50100): it may be one path of several; " +
			"the others lost none (UDP source ports 50200, 50300, 50400, 50500, 50600, 50700)"
	)
	hole := func(at int64) agent.Hole { return agent.Hole{Packets: 1, From: (at + 20) * ms, To: (at + 40) * ms} }
	four := func() []agent.Hole { return []agent.Hole{hole(100), hole(200), hole(300), hole(400)} }
	for _, k := range []struct {
		name  string
		holes func() []agent.Hole
		want  bool
	}{
		{"one for each", four, true},
		{"another", func() []agent.Hole { return append(four(), hole(800)) }, false},
		{"fewer", func() []agent.Hole { return four()[:3] }, false},
		{"two packets", func() []agent.Hole { h := four(); h[1].Packets = 2; return h }, false},
		{"of a stream", func() []agent.Hole { h := four(); h[1].Lacks = true; return h }, false},
		{"at another time", func() []agent.Hole { h := four(); h[3] = hole(800); return h }, false},
	} {
		r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 1)}}
		r.add(1, 3, 8, 0)
		r.answersLost(0, 100, 300)
		r.answersLost(1, 200, 400)
		r.Numbered = []agent.Numbering{{Host: packet.IPv4Addr([]byte{10, 0, 0, 3}), Steps: 999, Holes: k.holes()}}
		list := Of(&r.Result)
		var facts []string
		for _, f := range list[0].Facts {
			facts = append(facts, f.Label+": "+f.Text)
		}
		got := strings.Join(facts, "\n")
		gone := strings.Contains(got, "where: twice on the way back, before the tap: by the IPv4 identifications of the answering host")
		ports := forward
		if k.want {
			ports = back
		}
		if gone != k.want || !strings.Contains(got, ports) || slices.Contains(list[0].FitsWith, tooShort) == k.want {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}
