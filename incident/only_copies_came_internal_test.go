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

// TestOnlyCopiesCame: where receivers answer right after what timers brought, and never before, it had not come to them: packets that overtake one
// another do not fit; they do where one answer came without a copy, or where timers are rare. That answers come late fits only where timers brought
// most of what was lost.
func TestOnlyCopiesCame(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, k := range []struct {
		name             string
		naks, timers     uint32
		late             bool
		overtaken, short bool
	}{
		{"copies are answered", 8, 4, false, false, false},
		{"one answer came without a copy", 8, 4, true, true, false},
		{"timers are rare", 40, 4, false, true, false},
		{"most are timers", 4, 8, true, true, true},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n := range 3 {
			c := (&lossScene{byte(n + 1), 9, k.naks, 0, 0, 900, nil}).connection(n)
			x := c.Ends[0].Trouble
			x.Sum.Rounds[qp.TimerExpired], x.Sum.Count = k.timers, k.naks+k.timers
			if !k.short { // else answers may have been late
				x.Unsent = k.timers
			}
			s := qp.Stall{Since: 100 * ms, Begun: 167 * ms, Last: 167 * ms, Ended: 167*ms + 80000, Late: k.late && n == 1}
			s.Request.Frame = 7
			s.Rounds[qp.TimerExpired] = 1
			x.Longest[0] = s
			r.Connections = append(r.Connections, c)
		}
		r.Connections = append(r.Connections, (&lossScene{from: 8, to: 7, packets: 9000}).connection(3))
		i := Of(r)[0]
		fits := strings.Join(i.FitsWith, "; ")
		if slices.Contains(i.FitsWith, overtaking) != k.overtaken || strings.Contains(fits, tooShort) != k.short ||
			strings.HasPrefix(i.What, "Packets to 10.0.0.9 were lost") == k.short {
			t.Errorf("%s: %s fits %s", k.name, i.What, fits)
		}
	}
}

// TestTimeoutsOfAll: of timeouts it is told how long they were at least, where that is known.
func TestTimeoutsOfAll(t *testing.T) {
	const naks = "(20 PSN sequence NAKs and 2 timeouts"
	for timer, want := range map[int64]string{0: naks + ")", 67e6: naks + " of 67ms or longer)"} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		for n, s := range []lossScene{{1, 2, 10, 0, 0, 900, nil}, {1, 2, 10, 0, 0, 900, nil}, {1, 3, 0, 0, 0, 900, nil}} {
			c := s.connection(n)
			if x := c.Ends[0].Trouble; x != nil {
				x.Sum.Rounds[qp.TimerExpired], c.Ends[0].Timer = 1, timer
			}
			r.Connections = append(r.Connections, c)
		}
		if list := Of(r); !strings.Contains(list[0].What, want) {
			t.Errorf("%d: %s", timer, list[0].What)
		}
	}
}

// TestFollowsFromLate: where a receiver asked for what the tap had not seen in order, and seldom for what it had, the reordering is why; not where it
// often asked for what the tap shows.
func TestFollowsFromLate(t *testing.T) {
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	for after, want := range map[uint32]bool{0: true, 3: true, 9: false} {
		c := (&lossScene{1, 2, after, 28 - after, 0, 900, nil}).connection(0)
		x := c.Ends[0].Trouble
		x.Overtaking = &qp.Overtaking{Sum: qp.Overtaken{Packets: 45, Numbered: 45, Asked: 20}}
		tell := &teller{run: &agent.Result{Arrived: []packet.Addr{a}, Connections: []agent.Connection{c}}}
		i := &Incident{Kind: Loss, Local: Party{Addr: a}, Peer: Party{Addr: b}, FitsWith: []string{badCable}}
		tell.noneLost(i, &c, 0)
		said := len(i.Facts) == 1 && strings.HasPrefix(i.Facts[0].Text, "nothing before the tap: ") &&
			strings.HasSuffix(i.Facts[0].Text, "; 3 times for what the tap shows in order")
		if i.noneLost != want || slices.Contains(i.FitsWith, badCable) == want || said != (after == 3) {
			t.Errorf("%d: %q fits %q", after, i.Facts, i.FitsWith)
		}
	}
}
