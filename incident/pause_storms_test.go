package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
)

// TestEachStorm: of a port that does not let go each long pause is told by itself, apart from short ones, and the hosts whose packets did not come then; not of one that lets go, or had one pause only, and no host that
// went on, or is as silent at other times.
func TestEachStorm(t *testing.T) {
	ms := func(n int) int64 { return int64(n) * int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		pauses = "2 of 5 lasted long: +0.100 s for 100ms, +0.500 s for 200ms; the 3 short ones took 1ms in all at most"
		what   = " 2 of these pauses were long, up to 200ms"
		held   = ", and no packet of 10.0.0.1 came then, for up to 201ms."
	)
	for _, k := range []struct {
		name   string
		frames uint64
		begun  uint64
		silent [][2]int // when 10.0.0.1 sends nothing
		pauses bool
		held   bool
	}{
		{"storms", 900, 5, [][2]int{{100, 200}, {500, 700}}, true, true},
		{"it went on", 900, 5, [][2]int{{100, 110}, {500, 550}}, true, false},
		{"silent at other times", 900, 5, [][2]int{{100, 200}, {500, 700}, {750, 950}}, true, false},
		{"it lets go", 20, 5, [][2]int{{100, 200}, {500, 700}}, false, false},
		{"one", 900, 1, [][2]int{{500, 700}}, false, false},
	} {
		m, pair, psn := timing.New(nil), &qp.Pair{Service: packet.RC, Paired: true}, packet.PSN(0)
		for e := range pair.Ends {
			pair.Ends[e].Direction = qp.NewDirection()
		}
	next:
		for at := 1; at < 1000; at++ {
			for _, s := range k.silent {
				if at > s[0] && at <= s[1] {
					continue next
				}
			}
			psn++
			m.Packet(pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: ms(at)})
		}
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: m}
		c.Ends[0] = agent.End{Addr: host(1), QPN: 16, QPNKnown: true, Packets: 900, Messages: 900, Last: ms(1000)}
		c.Ends[1] = agent.End{Addr: host(2), QPN: 17, QPNKnown: true, Packets: 900, Last: ms(1000)}
		p := link.Paused{
			Hosts: []packet.Addr{host(2)}, Priority: 3, Time: ms(50), LastTime: ms(700), Frames: k.frames, Begun: k.begun, Least: time.Millisecond, Most: 301 * time.Millisecond, Longest: 200 * time.Millisecond, LongestSince: ms(500),
			Long: []link.Lasting{{From: ms(100), To: ms(200)}, {From: ms(500), To: ms(700)}},
		}
		told := ""
		for _, i := range Of(&agent.Result{First: 0, Last: ms(1000), RDMA: 1, Paused: []link.Paused{p}, Connections: []agent.Connection{c}}) {
			told += i.What
			for _, f := range i.Facts {
				told += "\n" + f.Label + ": " + f.Text
			}
		}
		for s, want := range map[string]bool{pauses: k.pauses, what: k.pauses, held: k.held, "held: 10.0.0.1 in 2 of these, for up to 201ms": k.held} {
			if strings.Contains(told, s) != want {
				t.Errorf("%s: %q is told: %t\n%s", k.name, s, !want, told)
			}
		}
	}
}
