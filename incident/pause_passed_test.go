package incident_test

import (
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/link"
	"ibwitness/packet"
)

// TestPausePassedOnTwice: pauses that two switches pass on one after the other are told with the port that they come from, in whatever order.
func TestPausePassedOnTwice(t *testing.T) {
	var ports []link.Paused
	for n := range 3 {
		p := link.Paused{From: [6]byte{2, 0, 0, 0, 0, byte(n)}, Priority: 3, Frame: uint64(7 + n), LastFrame: 900, Frames: 3000, Begun: 3, Least: time.Millisecond, Most: 500 * time.Millisecond, Longest: 300 * time.Millisecond}
		p.Time, p.LastTime = second(1)+int64(n)*int64(3*time.Millisecond), second(2)
		ports = append(ports, p)
	}
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}} {
		var list []link.Paused
		for _, n := range order {
			list = append(list, ports[n])
		}
		got := toldOf(&agent.Result{Last: second(3), Paused: list})
		for _, want := range []string{"The port with Ethernet address 02:00:00:00:00:00", "02:00:00:00:00:01 began 3ms later", "02:00:00:00:00:02 began 6ms later"} {
			if strings.Count(got, "had the other end of its link pause") != 1 || !strings.Contains(got, want) {
				t.Errorf("%v: %s\nwant %q", order, got, want)
			}
		}
	}
}

// TestPausePassedOn: the pauses of a port which no host is known to have, as many, as long, and each a little later than those of another, are told with those; not where they are of a host, or are others.
func TestPausePassedOn(t *testing.T) {
	const ms = time.Millisecond
	first := link.Paused{
		From: [6]byte{2, 0, 0, 0, 0, 1}, Hosts: []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 1})}, Priority: 3, Time: second(1), Frame: 7, LastTime: second(2), LastFrame: 900, Frames: 3000, Begun: 3, Least: 69 * ms, Most: 551 * ms, Longest: 341 * ms,
	}
	const said = "passed on: to the senders, as often and as long, by the port with Ethernet address 02:00:00:00:00:02 began 400µs later"
	for _, k := range []struct {
		name   string
		change func(q *link.Paused)
		want   bool
	}{
		{"passed on", func(*link.Paused) {}, true},
		{"of a host", func(q *link.Paused) { q.Hosts = first.Hosts }, false},
		{"another priority", func(q *link.Paused) { q.Priority = 4 }, false},
		{"longer", func(q *link.Paused) { q.Most *= 2 }, false},
		{"more often", func(q *link.Paused) { q.Begun++ }, false},
		{"much later", func(q *link.Paused) { q.Time += int64(20 * ms) }, false},
		{"at another tap", func(q *link.Paused) { q.Tap = 1 }, false},
	} {
		q := first
		q.From, q.Hosts, q.Time, q.Frame, q.LastTime, q.Most = [6]byte{2, 0, 0, 0, 0, 2}, nil, first.Time+int64(400*time.Microsecond), 9, first.LastTime-int64(ms), 550*ms
		k.change(&q)
		for _, list := range [][]link.Paused{{first, q}, {q, first}} {
			got := toldOf(&agent.Result{Last: second(3), Paused: list})
			if strings.Contains(got, said) != k.want || strings.Count(got, "had the other end of its link pause") != map[bool]int{true: 1, false: 2}[k.want] {
				t.Errorf("%s: %s", k.name, got)
			}
		}
	}
}
