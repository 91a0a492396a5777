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
	"ibwitness/timing"
)

// TestFlaps: a host that was silent before, while others went on and something waited for it, and whose queue pairs went on after that, is told with all these times, and is none that restarted; not where it was silent once,
// or where the other host was silent too.
func TestFlaps(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	connection := func(from byte, first, last int64, silences ...int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, PairedBy: agent.ByCM, First: at(first), FirstFrame: uint64(first), Timing: &timing.Connection{}}
		for k := range c.Ends {
			c.Ends[k] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, [2]byte{from, 2}[k]}), QPN: uint32(from)<<8 + uint32(first), QPNKnown: true, Packets: 1000, Messages: 500, Last: at(last)}
			a := timing.Activity{First: at(first), Last: at(last)}
			for n := 0; n < len(silences); n += 2 {
				a.Silences = append(a.Silences, timing.Silence{From: at(silences[n]), To: at(silences[n+1]), Frames: [2]uint64{uint64(silences[n]), uint64(silences[n+1])}})
			}
			c.Timing.Ends[k].Active, c.Timing.Ends[k].Series.Width = a, int64(time.Second)
		}
		return c
	}
	const said = "; that was silent twice, while 10.0.0.3 went on: 500ms from +1.000 s on and from +3.000 s on until these retries were used up."
	for _, k := range []struct {
		name            string
		before, besides []int64
		want            bool
	}{
		{"twice", []int64{1000, 1500}, nil, true},
		{"once", nil, nil, false},
		{"the other was silent too", []int64{1000, 1500}, []int64{1000, 1500}, false},
		{"soon after one", []int64{1000, 1500, 1600, 1800}, nil, true},
	} {
		r := &agent.Result{RDMA: 8000, Packets: 8000, First: at(0), Last: at(30000), Taps: make([]fabricagent.Tap, 1)}
		failed := connection(1, 1, 3000, k.before...)
		stall := qp.Stall{Request: qp.StalledRequest{Frame: 3000}, Since: at(3000), Begun: at(3100), Last: at(3900), Packets: 7}
		stall.Rounds[qp.TimerExpired] = 7
		x := &qp.Trouble{Now: stall}
		if k.before != nil {
			x.Longest[0] = qp.Stall{Since: at(1010), Begun: at(1100), Last: at(1499), Ended: at(1500)}
			x.Longest[0].Rounds[qp.TimerExpired] = 3
		}
		failed.Ends[1].Trouble, failed.Ends[1].Stalled, failed.Ends[1].Last = x, true, at(3900)
		r.Connections = append(r.Connections, failed, connection(1, 19000, 29990), connection(3, 1, 29990, k.besides...))
		list := Of(r)
		if len(list) == 0 || list[0].Kind != Unanswered {
			t.Fatalf("%s: %+v", k.name, list)
		}
		i := &list[0]
		if strings.HasSuffix(i.What, said) != k.want || slices.Contains(i.FitsWith, restarts) == k.want {
			t.Errorf("%s: %s %q", k.name, i.What, i.FitsWith)
		}
	}
}
