package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/timing"
)

// TestServedBeside: of a receiver that was not ready it is told for how long its host sent others no message around that; not where the pause is
// long, or where it is not known.
func TestServedBeside(t *testing.T) {
	at := func(ms int64) int64 { return int64(time.Hour) + ms*int64(time.Millisecond) }
	host := func(n byte) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, n}) }
	connection := func(client byte, sent ...int64) agent.Connection {
		c := agent.Connection{Service: packet.RC, Timing: &timing.Connection{}}
		c.Ends[0].Addr, c.Ends[1].Addr = host(client), host(9)
		e := &c.Timing.Ends[1]
		for _, ms := range sent {
			e.NoteSent(timing.Sent{Begin: at(ms), End: at(ms)})
		}
		e.Turns = timing.Turns{Count: 100, Usual: 100 * time.Microsecond}
		return c
	}
	const told = "served: 10.0.0.9 went on sending messages to 10.0.0.2 and 10.0.0.3, with a pause of 20ms at most while it refused " +
		"(from +0.095 s to +0.115 s): what serves these was not stopped for longer\n"
	for _, tt := range []struct {
		name      string
		set       func(r *agent.Result)
		want, not []string
	}{
		{"to others", func(*agent.Result) {}, []string{told}, nil},
		{"after a long pause only", func(r *agent.Result) { r.Connections = []agent.Connection{connection(2, 10, 90, 300)} }, nil, []string{"served"}},
		{"not after it", func(r *agent.Result) { r.Connections = []agent.Connection{connection(2, 10, 90, 95)} }, nil, []string{"served"}},
		{"not before it", func(r *agent.Result) { r.Connections = []agent.Connection{connection(2, 115, 120)} }, nil, []string{"served"}},
		{"to the same host", func(r *agent.Result) { r.Connections = []agent.Connection{connection(1, 10, 90, 95, 115)} }, nil, []string{"served"}},
		{"by a program that does not answer soon", func(r *agent.Result) {
			for n := range r.Connections {
				r.Connections[n].Timing.Ends[1].Turns.Count = 3
			}
		}, nil, []string{"served"}},
		{"by another host", func(r *agent.Result) {
			for n := range r.Connections {
				r.Connections[n].Ends[1].Addr = host(8)
			}
		}, nil, []string{"served"}},
	} {
		r := &agent.Result{First: at(0), Last: at(400), Connections: []agent.Connection{connection(2, 10, 90, 120), connection(3, 10, 95, 115, 300)}}
		tt.set(r)
		c, list := connection(1), []Incident{{Kind: Exhausted}}
		newTeller(r).servedBeside(&list[0], &c, 0, at(100), at(104))
		says(t, tt.name, toldOf(list, Exhausted), tt.want, tt.not)
	}
}
