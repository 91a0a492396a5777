package incident

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/rule"
)

// TestShortTimers: where timers of about a millisecond had most retransmitted of what was lost after the tap, on several hosts at once each time, they are told, with how to have them last longer; not where they are
// long, run out each for itself, or most of it was asked for.
func TestShortTimers(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	const told = "short: they run out after 925µs to 1ms on 4 queue pairs (ACK timeout code 8 is 1.05ms), and 24 of 24 times on 3 hosts or more at once: so what they retransmit is sent at once, too"
	addr := func(n int) packet.Addr { return packet.IPv4Addr([]byte{10, 0, 0, byte(n)}) }
	for _, k := range []struct {
		name         string
		timer, apart int64
		asked        uint32 // of what each lost
		want         bool
	}{
		{"at once", 925 * us, 20 * us, 2, true},
		{"long", 67 * ms, 20 * us, 2, false},
		{"each for itself", 925 * us, 400 * us, 2, false},
		{"mostly asked for", 925 * us, 20 * us, 9, false},
	} {
		r := &agent.Result{First: 1, Last: int64(time.Second), RDMA: 1}
		s := &lossSum{host: addr(9), to: true, after: 32, naks: 4 * k.asked, timers: 24, ends: map[Party]bool{}}
		for h := range 4 {
			c := agent.Connection{Service: packet.RC}
			c.Ends[0] = agent.End{Addr: addr(h + 1), QPN: 0x20, QPNKnown: true, Timer: k.timer + int64(h)*25*us, Trouble: &qp.Trouble{}}
			c.Ends[1] = agent.End{Addr: addr(9), QPN: uint32(0x30 + h), QPNKnown: true}
			r.Connections = append(r.Connections, c)
			s.ends[party(&r.Connections[h].Ends[0])] = true
			s.others = append(s.others, addr(h+1))
		}
		for n := range 24 {
			r.Findings = append(r.Findings, rule.Finding{
				Rule: rule.EvTimeout, Time: int64(n/4)*50*ms + int64(n%4)*k.apart,
				Accused: rule.Endpoint{Addr: addr(n%4 + 1), QPN: 0x20, QPNKnown: true}, Peer: rule.Endpoint{Addr: addr(9)},
			})
		}
		said, next := newTeller(r).shortTimers(s)
		if (said == told) != k.want || (said == "") == k.want || strings.HasPrefix(next, "a longer ACK timeout (timeout) of these queue pairs to 10.0.0.9, and fewer") != k.want {
			t.Errorf("%s: %s; %s", k.name, said, next)
		}
	}
}

// TestPhases: bursts of what timers had retransmitted are of the phase in which it was lost first.
func TestPhases(t *testing.T) {
	const ms = int64(time.Millisecond)
	bursts := [][2]int64{{0, ms}, {2 * ms, 3 * ms}, {4 * ms, 5 * ms}, {100 * ms, 101 * ms}, {102 * ms, 103 * ms}, {200 * ms, 201 * ms}}
	if a, b := phasesOf(bursts, ms), phasesOf(bursts, ms/4); a != 3 || b != len(bursts) {
		t.Error(a, b)
	}
}
