package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
)

// TestPauseCovers: a pause that its port did not let go of comes before what it may have stopped, which names it first; one of other hosts, at another time, or one of many short ones does not.
func TestPauseCovers(t *testing.T) {
	ms := int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	storm := link.Paused{
		Hosts: []packet.Addr{host(2)}, Priority: 3, Time: 100 * ms, Frame: 7, LastTime: 400 * ms, LastFrame: 900, Frames: 300, Begun: 1, Least: 9 * time.Millisecond,
		Most: 300 * time.Millisecond, Longest: 300 * time.Millisecond,
	}
	const fits = "the pause of what is sent to 10.0.0.2, see there: "
	for _, k := range []struct {
		name   string
		change func(p *link.Paused)
		stall  qp.Stall
		covers bool
	}{
		{"an interruption", nil, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, true},
		{"a loss when it ends", nil, qp.Stall{Since: 400 * ms, Begun: 402 * ms, Last: 402 * ms, Ended: 403 * ms}, true},
		{"what was sent by its host", func(p *link.Paused) { p.Hosts[0] = host(1) }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, true},
		{"of another host", func(p *link.Paused) { p.Hosts[0] = host(3) }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
		{"before", nil, qp.Stall{Since: 20 * ms, Begun: 22 * ms, Last: 22 * ms, Ended: 23 * ms}, false},
		{"after", nil, qp.Stall{Since: 450 * ms, Begun: 550 * ms, Last: 550 * ms, Ended: 650 * ms}, false},
		{"for longer", nil, qp.Stall{Since: 300 * ms, Begun: 450 * ms, Last: 650 * ms, Ended: 700 * ms}, false},
		{"short ones", func(p *link.Paused) { p.Begun, p.Most, p.Longest = 100, 20*time.Millisecond, time.Millisecond }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
		{"far between", func(p *link.Paused) { p.Begun, p.Most, p.Longest = 5, 100*time.Millisecond, 20*time.Millisecond }, qp.Stall{Since: 99 * ms, Begun: 150 * ms, Last: 350 * ms, Ended: 401 * ms}, false},
	} {
		p := storm
		p.Hosts = []packet.Addr{host(2)}
		if k.change != nil {
			k.change(&p)
		}
		k.stall.Rounds[qp.TimerExpired] = 3
		r := &agent.Result{First: 1, Last: 1000 * ms, RDMA: 1, Paused: []link.Paused{p}}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		c.Ends[0] = agent.End{Addr: host(1), QPN: 16, QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
		c.Ends[1] = agent.End{Addr: host(2), QPN: 17, QPNKnown: true, Packets: 100, Last: 1000 * ms}
		c.Ends[0].Trouble = &qp.Trouble{Now: k.stall}
		r.Connections = append(r.Connections, c)
		list := Of(r)
		if len(list) != 2 {
			t.Errorf("%s: %+v", k.name, list)
			continue
		}
		first, other := &list[0], &list[1]
		if k.covers != (first.Kind == Paused) {
			t.Errorf("%s: %v comes first", k.name, first.Kind)
		}
		if first.Kind != Paused {
			other = first
		}
		if got := strings.Join(other.FitsWith, "; or "); k.covers != strings.Contains(got, fits) && (!k.covers || !strings.HasPrefix(got, "the pause of what is sent to 10.0.0.1, see there: ")) {
			t.Errorf("%s: fits %q", k.name, got)
		}
	}
}
