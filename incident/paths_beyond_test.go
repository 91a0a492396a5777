package incident

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/qp"
)

// leftOverTwo is a run of queue pairs between hosts that no traffic ties to one another: of those from 10.0.0.1 to 10.0.0.3 and from 10.0.0.2 to 10.0.0.4 the first loses packets after tap 1, over which
// no others leave.
func leftOverTwo() *hashedScene {
	r := &hashedScene{agent.Result{First: 1, Last: int64(time.Second), RDMA: 1, Taps: make([]fabricagent.Tap, 2)}}
	r.add(1, 3, 4, 12)
	r.add(2, 4, 4, 12)
	for n := range r.Connections {
		for e := range r.Connections[n].Ends {
			x := &r.Connections[n].Ends[e]
			x.Path.Entry = agent.Entry{Known: true}
			if k := x.Trouble; k != nil && e == 0 {
				k.Asked.Before, k.Asked.After = 0, k.Asked.Before
				k.Missing = qp.Missing{}
			}
		}
	}
	r.Connections[0].Ends[0].Path.Entry.Tap, r.Connections[4].Ends[0].Path.Entry.Tap = 1, 1
	return r
}

// through adds queue pairs of 10.0.0.1 to another host that leave over tap 1, so many packets each.
func (r *hashedScene) through(n int, losses uint32, packets uint64) {
	first := len(r.Connections)
	r.add(1, 5, n, losses)
	for k := first; k < len(r.Connections); k++ {
		for e := range r.Connections[k].Ends {
			x := &r.Connections[k].Ends[e]
			x.Path.Entry = agent.Entry{Known: true, Tap: uint16(1 - e)}
			x.Packets, x.Messages, x.Bytes = min(x.Packets, packets), min(x.Messages, packets), 1000*packets
		}
	}
}

// TestPathBeyond: what was lost after one of several taps on ways that no traffic ties is one incident where all of it left over the same tap; what left there to other hosts and lost nothing, enough of it
// to tell, shows that it is lost farther on. Not where one of the ways left over another tap, or that is not known; what left there to others and is too little to tell speaks against it, and what lost
// something does not tell.
func TestPathBeyond(t *testing.T) {
	const (
		told = "Packets from 10.0.0.1 and 10.0.0.2 to 10.0.0.3 and 10.0.0.4 were lost after the tap, at least 24 times on 2 of 8 connections; both left over tap 1, and none of the other 6"
		same = "same tap: 2 connections over the same tap from these hosts to 10.0.0.5, with 1,800 packets, lost nothing: so it is likely not the link of this tap, but what is after its far end, " +
			"on the way to 10.0.0.3 and 10.0.0.4"
		next = "each port after the far end of tap 1, on the way to 10.0.0.3 and 10.0.0.4"
	)
	for _, k := range []struct {
		name          string
		set           func(r *hashedScene)
		told, through bool
	}{
		{"over one", func(*hashedScene) {}, true, false},
		{"and others to another host", func(r *hashedScene) { r.through(2, 0, 900) }, true, true},
		{"and others to another host, of few packets", func(r *hashedScene) { r.through(2, 0, 150) }, false, false},
		{"over two", func(r *hashedScene) { r.Connections[4].Ends[0].Path.Entry.Tap = 0 }, false, false},
		{"not known over which", func(r *hashedScene) { r.Connections[4].Ends[0].Path.Entry.Known = false }, false, false},
		{"taps that show the same", func(r *hashedScene) { r.Repeated = 1 }, false, false},
	} {
		r := leftOverTwo()
		k.set(r)
		i := &Of(&r.Result)[0]
		got := i.What + "\n" + strings.Join(i.Next, "; ")
		for _, f := range i.Facts {
			got += "\n" + f.Label + ": " + f.Text
		}
		if strings.Contains(got, told) != k.told || strings.Contains(got, same) != k.through || strings.Contains(got, next) != k.through {
			t.Errorf("%s: %s", k.name, got)
		}
	}
}

// TestOpenAtEnd: a request that waits when the capture ends, on a connection that loses packets which timers bring again, for less than these wait, is no incident of its own; it is where it waits for
// longer, or on a connection that lost nothing.
func TestOpenAtEnd(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name   string
		at     int
		waited int64
		open   bool
	}{{"shorter", 0, 300, true}, {"longer", 0, 600, false}, {"of another", 1, 300, false}} {
		r := leftOverTwo()
		r.Last = 2000 * ms
		for _, n := range []int{0, 4} {
			x := &r.Connections[n].Ends[0]
			x.Trouble.Sum.Rounds[qp.TimerExpired], x.Trouble.Unsent, x.Timer = 3, 3, 500*ms
		}
		e := &r.Connections[k.at].Ends[0]
		if e.Trouble == nil {
			e.Trouble = &qp.Trouble{}
		}
		since := r.Last - k.waited*ms
		e.Stalled, e.Open, e.OpenSince = true, 1, since
		e.Trouble.Now = qp.Stall{Since: since, Begun: since + ms, Last: since + ms, Packets: 1, Rounds: [4]uint32{qp.SequenceAsked: 1}, Request: qp.StalledRequest{Frame: 900}}
		list := Of(&r.Result)
		fact := slices.ContainsFunc(list, func(i Incident) bool {
			return slices.ContainsFunc(i.Facts, func(f Fact) bool {
				return f.Label == "open" && strings.Contains(f.Text, "on 1 of these connections a request waits")
			})
		})
		alone := slices.ContainsFunc(list, func(i Incident) bool { return i.Kind == Unanswered })
		if fact != k.open || alone == k.open {
			t.Errorf("%s: %+v", k.name, list)
		}
	}
}
