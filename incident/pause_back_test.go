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

// TestSentAgain: a pause tells who went on with requests right after frames that resumed; not where chance may have brought them back then, as they
// often send after a while, and not without such.
func TestSentAgain(t *testing.T) {
	const ms = int64(time.Millisecond)
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	const (
		what = " In 4 of these pauses no RoCE packet of what was paused came but what was in flight, and 2 ends went on within 1µs to 52µs of the frame that resumed, 5 times in all: what they send had waited."
		fact = "waited: 10.0.0.1 QP 0x11 after 4 of 4; 10.0.0.1 QP 0x10 after 1 of 4: they went on with requests right after these"
	)
	for _, k := range []struct {
		name  string
		back  int // how many returned
		every int // how often an end sends, in steps of 10 µs
		told  bool
	}{{"back at once", 2, 1, true}, {"none", 0, 1, false}, {"one, once, that sends each 2 ms", 1, 200, false}} {
		r := &agent.Result{First: 0, Last: 1000 * ms, RDMA: 1}
		for n := range uint32(2) {
			m, pair, psn := timing.New(nil), &qp.Pair{Service: packet.RC, Paired: true}, packet.PSN(0)
			for e := range pair.Ends {
				pair.Ends[e].Direction = qp.NewDirection()
			}
			for at := 1; at < 100_000; at += k.every {
				psn++
				m.Packet(pair, 0, &packet.Packet{Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: psn, Time: int64(at) * ms / 100})
			}
			c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1, Timing: m}
			c.Ends[0] = agent.End{Addr: host(1), QPN: 16 + n, QPNKnown: true, Packets: 900, Messages: 900, Last: 1000 * ms}
			c.Ends[1] = agent.End{Addr: host(2), QPN: 26 + n, QPNKnown: true, Packets: 900, Last: 1000 * ms}
			r.Connections = append(r.Connections, c)
		}
		p := link.Paused{Hosts: []packet.Addr{host(2)}, Priority: 3, Time: 50 * ms, LastTime: 700 * ms, Frames: 90, Begun: 5, Resumed: 5, Least: time.Millisecond, Most: 31 * time.Millisecond, Longest: 20 * time.Millisecond, Calm: 4}
		p.Back = []link.Returned{
			{From: host(1), To: host(2), QPN: 26, Pauses: 1, Least: 3000, Most: 3000},
			{From: host(1), To: host(2), QPN: 27, Pauses: 4, Least: 1000, Most: 52000},
		}[:k.back]
		r.Paused = []link.Paused{p}
		told := ""
		for _, i := range Of(r) {
			told += i.What
			for _, f := range i.Facts {
				told += "\n" + f.Label + ": " + f.Text
			}
		}
		if strings.Contains(told, what) != k.told || strings.Contains(told, "what they send had waited") != k.told || strings.Contains(told, fact) != k.told || strings.Contains(told, "sent no request") {
			t.Errorf("%s: %s", k.name, told)
		}
	}
}
