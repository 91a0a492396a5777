package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestPauseSpreadsOverBreaks: a host that pauses again at once after a frame that resumes holds the switch before it off as one that does not resume: a pause of
// the switch that goes on beyond that is told with the host's, with its name by LLDP, and with what it sends to others, where that waits in several of these
// pauses; not where the host lets packets pass for longer in between.
func TestPauseSpreadsOverBreaks(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	port := func(n byte, each []link.Lasting) link.Paused {
		p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, n}, Priority: 3, Time: each[0].From, LastTime: each[len(each)-1].To, Frame: 7, LastFrame: 900, Frames: 900, Begun: uint64(len(each)), Each: each}
		for _, s := range each {
			d := time.Duration(s.To - s.From)
			p.Most, p.Longest = p.Most+d, max(p.Longest, d)
			if d >= time.Duration(link.LongPause) {
				p.Long = append(p.Long, s)
			}
		}
		p.Least = p.Most
		return p
	}
	for _, k := range []struct {
		name      string
		between   int64 // for how long the host resumes within its pauses
		usual     int64 // how often the sender sends to the other host
		one, told bool
	}{
		{"for a moment", ms / 10, 2, true, true},
		{"for longer", 3 * ms, 2, false, false},
		{"few requests", ms / 10, 9, true, false},
	} {
		var each, later []link.Lasting
		at := func(n int64) int64 { return (100 + 200*n) * ms }
		for n := range int64(4) {
			each = append(each, link.Lasting{From: at(n), To: at(n) + 15*ms}, link.Lasting{From: at(n) + 15*ms + k.between, To: at(n) + 30*ms})
			later = append(later, link.Lasting{From: at(n) + 3*ms, To: at(n) + 30*ms})
		}
		p, q := port(1, each), port(2, later)
		p.Hosts, p.Tap = []packet.Addr{host(2)}, 1
		q.Unowned, q.Over = true, [][]packet.Addr{{host(2), host(4)}}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, FirstFrame: 1, Timing: timing.New(nil)}
		c.Ends[0] = agent.End{Addr: host(3), QPN: 18, QPNKnown: true, Packets: 100, Messages: 100, Last: 1000 * ms}
		c.Ends[1] = agent.End{Addr: host(4), QPN: 28, QPNKnown: true, Packets: 100, Last: 1000 * ms}
		pair, psn := &qp.Pair{Service: packet.RC, Paired: true}, packet.PSN(0)
		for e := range pair.Ends {
			pair.Ends[e].Direction = qp.NewDirection()
		}
		for now := int64(1); now < 1000; now += k.usual {
			if (now+100)%200 > 3 && (now+100)%200 <= 30 && now > 100 && now < 800 {
				continue
			}
			psn++
			c.Timing.Packet(pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: now * ms})
		}
		got := toldOf(&agent.Result{
			First: 1, Last: 1000 * ms, RDMA: 1, Paused: []link.Paused{p, q}, Connections: []agent.Connection{c},
			Neighbors: []fabricagent.Neighbor{{Station: 0x020000000002, System: "leaf", Port: "swp4"}},
		})
		for text, want := range map[string]bool{
			" The switch then had the other end of another link pause too": k.one,
			"spread: the port with Ethernet address 02:00:00:00:00:02 (leaf by LLDP, its port swp4) at tap 0 (packets for 10.0.0.4 go over that link too) began 3ms later each time": k.one,
			"The port with Ethernet address 02:00:00:00:00:02 (leaf by LLDP, its port swp4), likely a switch port":                                                                   !k.one,
			"What goes to 10.0.0.4 waited too": k.told,
		} {
			if strings.Contains(got, text) != want {
				t.Errorf("%s: %q: %v is not as wanted in %s", k.name, text, !want, got)
			}
		}
	}
}
