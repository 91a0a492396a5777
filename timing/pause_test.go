package timing

import (
	"slices"
	"testing"
	"time"
)

// ring is rounds of hosts that send to the next one, each after the one before it; in the late round the host that is late begins by some time later.
func ring(hosts, rounds, late int, by int64) [][]HostMessage {
	const us = int64(time.Microsecond)
	out := make([][]HostMessage, hosts)
	at := int64(0)
	for round := range rounds {
		if round == late {
			at += by
		}
		for hop := range hosts {
			from := (2 + hop) % hosts // host 2 goes on first
			begin := at + int64(hop)*10*us
			out[from] = append(out[from], HostMessage{Sent{Begin: begin, End: begin + us}, from, (from + 1) % hosts})
		}
		at += 1000 * us
	}
	return out
}

// TestPause: the host that the others waited for once is found; not where another went on by itself too, where it was often so long, where the hosts are few, or where the pause is short.
func TestPause(t *testing.T) {
	const ms = int64(time.Millisecond)
	own := ring(4, 60, 30, 250*ms) // host 0 goes on by itself, before a message comes to it
	own[0][30].Begin -= ms / 100 * 2
	own[3][30].Begin, own[3][30].End = own[3][30].Begin+ms, own[3][30].End+ms
	twice := ring(4, 60, 30, 250*ms)
	for n := range twice {
		for k := range twice[n][45:] {
			twice[n][45+k].Begin += 200 * ms
			twice[n][45+k].End += 200 * ms
		}
	}
	for _, k := range []struct {
		name string
		list [][]HostMessage
		want bool
	}{
		{"late once", ring(4, 60, 30, 250*ms), true},
		{"never", ring(4, 60, 30, 0), false},
		{"a moment", ring(4, 60, 30, 50*ms), false},
		{"two hosts", ring(4, 60, 30, 250*ms)[2:3], false},
		{"another by itself", own, false},
		{"twice", twice, false},
		{"few messages", ring(4, 20, 10, 250*ms), false},
	} {
		p, ok := PauseOf(k.list)
		if ok != k.want || ok && (p.By != 2 || !slices.Equal(p.Hosts, []int{0, 1, 3}) || p.To-p.From < 249*ms || p.To-p.From > 251*ms) {
			t.Errorf("%s: %+v, %t", k.name, p, ok)
		}
	}
}
