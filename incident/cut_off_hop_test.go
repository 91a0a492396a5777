package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// TestCutOffByRouter: where a host that was cut off comes by a router, and who went on does not, the router fits first, and no link of the host where it comes by another one after that. Not where one that went on comes by that
// router, too, or the address may be that of the host itself.
func TestCutOffByRouter(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	for _, k := range []struct {
		name        string
		from, other uint64
		turn        int64
		gateway     bool
		what, fits  string
	}{
		{"a router", 1, 2, 0, true, "cut off.", "the router at 00:00:00:00:00:01, or"},
		{"it failed over", 1, 2, 3000, true, "Packets of 10.0.0.1, which had come by the router at 00:00:00:00:00:01, came by another at 00:00:00:00:00:09 from frame 7 on.", "a router at 00:00:00:00:00:01 that failed"},
		{"that was later", 1, 2, 9000, true, "cut off.", "the router at 00:00:00:00:00:01, or"},
		{"who went on comes by it, too", 1, 1, 0, true, "cut off.", "the link of 10.0.0.1"},
		{"its own address", 1, 2, 0, false, "cut off.", "the link of 10.0.0.1"},
		{"its own addresses", 1, 2, 3000, false, "cut off.", "the link of 10.0.0.1"},
	} {
		r := &agent.Result{First: at(0), Last: at(30000), Packets: 100, Taps: make([]fabricagent.Tap, 1)}
		c := agent.Connection{First: at(1)}
		c.Ends[0] = agent.End{Addr: host(1), Packets: 9, Hop: &agent.Hop{From: k.from}}
		if k.turn != 0 {
			c.Ends[0].Hop.Turned, c.Ends[0].Hop.Turn = 9, agent.Seen{At: at(k.turn), Frame: 7}
		}
		c.Ends[1] = agent.End{Addr: host(2), Packets: 9, Hop: &agent.Hop{From: k.other}}
		r.Connections = append(r.Connections, c)
		if k.gateway {
			for _, station := range []uint64{1, 9} {
				r.Signs = append(r.Signs, agent.Sign{Presence: fabricagent.Presence{Host: host(8), Station: station, By: fabricagent.ByARP}, At: at(1)})
			}
		}
		i := &Incident{What: "cut off.", FitsWith: linksOf(host(1))}
		list := []cutOff{{hostSilence: hostSilence{Silence: timing.Silence{From: at(2000), To: at(3000)}, from: at(2000), to: at(3000)}}}
		newTeller(r).byRouter(i, host(1), list, []packet.Addr{host(2)})
		link := strings.Contains(strings.Join(i.FitsWith, "; "), "the link of 10.0.0.1")
		if !strings.HasPrefix(i.What, k.what) || !strings.HasPrefix(i.FitsWith[0], k.fits) || link == strings.HasPrefix(k.what, "Packets") {
			t.Errorf("%s: %s\n%q", k.name, i.What, i.FitsWith)
		}
	}
}
