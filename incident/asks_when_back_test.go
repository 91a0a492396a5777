package incident

import (
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestAsksWhenBack: ARP requests of a host soon after it was back, several times and never else, are told; not those at another time, after one of them, or answers.
func TestAsksWhenBack(t *testing.T) {
	const s = int64(time.Second)
	a, b := packet.IPv4Addr([]byte{10, 0, 0, 1}), packet.IPv4Addr([]byte{10, 0, 0, 2})
	downs := []hostSilence{{to: 10 * s}, {to: 20 * s}, {to: 30 * s}, {}}
	ask := func(at int64) agent.Sign {
		return agent.Sign{Presence: fabricagent.Presence{Host: a, To: b, By: fabricagent.ByARP}, At: at, Frame: uint64(at / s)}
	}
	answer, other := ask(5*s), ask(5*s)
	answer.To, other.Host = packet.Addr{}, b
	const told = "10.0.0.1 sent ARP requests within 1s of its return from 2 of these times, the first in frame 10, and no others, as where its own link was down"
	for _, k := range []struct {
		name  string
		signs []agent.Sign
		want  string
	}{
		{"after two", []agent.Sign{answer, other, ask(10 * s), ask(10*s + 5), ask(30*s + 7)}, told},
		{"and at another time", []agent.Sign{ask(10 * s), ask(25 * s), ask(30*s + 7)}, ""},
		{"after one", []agent.Sign{ask(10 * s), ask(10*s + 5)}, ""},
		{"answers", []agent.Sign{answer}, ""},
	} {
		i := &Incident{}
		got := (&teller{run: &agent.Result{Signs: k.signs}}).asksWhenBack(i, a, downs)
		if got != k.want || (len(i.Frames) == 2) != (k.want != "") {
			t.Errorf("%s: %q %d", k.name, got, i.Frames)
		}
	}
}
