package report

import (
	"strings"
	"testing"
	"time"

	"ibwitness/incident"
	"ibwitness/packet"
	pair "ibwitness/qp"
)

// TestWaitsBeside: whom hosts wait for again and again is told beside incidents that took far less time, and not beside those that may be what they waited for.
func TestWaitsBeside(t *testing.T) {
	sent := map[[2]byte][]int64{}
	for n := range int64(40) {
		for hop := range byte(3) {
			from := (1 + hop) % 3 // host 1 goes on first, 18 ms after the round before
			sent[[2]byte{from, (from + 1) % 3}] = append(sent[[2]byte{from, (from + 1) % 3}], 1+n*20_000+int64(hop)*1000)
		}
	}
	const ms = int64(time.Millisecond)
	for lost, want := range map[time.Duration]bool{5 * time.Millisecond: true, 50 * time.Millisecond: false} {
		r := between(sent)
		x := &text{res: r, run: &Run{Result: r, told: true, incidents: []incident.Incident{{Begin: ms, End: ms + int64(lost), Lost: lost}}}}
		got := strings.Join(x.beside(), " ")
		if told := strings.Contains(got, "first of all they wait for 10.0.0.1, which goes on by itself, up to 18ms after"); told != want {
			t.Errorf("%v without progress: %q", lost, got)
		}
	}
}

// TestLateOnce: beside incidents, too, the host is told for which the others waited once: not where an incident of one of them was going on meanwhile.
func TestLateOnce(t *testing.T) {
	const us, rounds, late = int64(time.Microsecond), 60, 30
	sent := map[[2]byte][]int64{}
	for n := range int64(rounds) {
		at := 1 + n*1000
		if n >= late {
			at += 250_000
		}
		for hop := range byte(3) {
			from := (1 + hop) % 3 // host 1 goes on first
			sent[[2]byte{from, (from + 1) % 3}] = append(sent[[2]byte{from, (from + 1) % 3}], at+int64(hop)*10)
		}
	}
	host := func(n byte) incident.Party { return incident.Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n})} }
	for _, k := range []struct {
		name     string
		incident incident.Incident
		want     bool
	}{
		{"an incident before it", incident.Incident{Local: host(0), Peer: host(1), Begin: 5000 * us, End: 9000 * us}, true},
		{"one meanwhile", incident.Incident{Local: host(0), Peer: host(1), Begin: 31000 * us, End: 200_000 * us}, false},
		{"one that goes on", incident.Incident{Local: host(7), Peer: host(2), Begin: 5000 * us, End: 100_000 * us}, false},
		{"one of other hosts meanwhile", incident.Incident{Local: host(7), Peer: host(8), Begin: 31000 * us, End: 200_000 * us}, true},
	} {
		r := between(sent)
		r.Connections[0].Ends[0].Trouble = new(pair.Trouble)
		x := &text{res: r, run: &Run{Result: r, told: true, incidents: []incident.Incident{k.incident}}}
		got := strings.Join(x.beside(), " ")
		if told := strings.Contains(got, "Waits: 10.0.0.1 and 2 other hosts (10.0.0.0 and 10.0.0.2) sent one another nothing on 3 connections for 251ms"); told != k.want {
			t.Errorf("%s: %q", k.name, got)
		}
	}
}
