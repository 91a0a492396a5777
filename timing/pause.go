package timing

import (
	"cmp"
	"slices"
	"time"
)

// Pause is a time in which several hosts sent one another nothing on connections that are busy before and after it, and which one of them ended by itself, while each other went on only
// when it had had a message.
type Pause struct {
	By       int   // the host that went on first
	Hosts    []int // the others
	On       int   // connections that they have with one another, and on which it was so
	From, To int64 // when the last message before it was over, and the first after it began, nanoseconds since the Unix epoch
}

const (
	// shortestPause is how long one is at least, and pauseTimes how many times as long as the mean time from one message to the next, and as any other on its connection.
	shortestPause = int64(100 * time.Millisecond)
	pauseTimes    = 20
	onceTimes     = 2
	// pauseMessages, pauseConnections and pauseHosts are how many messages a connection has at least, and how many connections and hosts a pause.
	pauseMessages    = 32
	pauseConnections = 3
	pauseHosts       = 3
)

// gap is the longest time without a message on a connection.
type gap struct {
	messages []HostMessage
	from, to int64
	next     int // the message after it
}

// gapOf finds it, where it is one that is far longer than the others.
func gapOf(list []HostMessage) (g gap, ok bool) {
	if len(list) < pauseMessages {
		return g, false
	}
	inOrder(list, func(m *HostMessage) int64 { return m.Begin })
	second, end := int64(0), list[0].End
	g.messages = list
	for n := 1; n < len(list); n++ {
		switch d := list[n].Begin - end; {
		case d > g.to-g.from:
			second, g.from, g.to, g.next = g.to-g.from, end, list[n].Begin, n
		case d > second:
			second = d
		}
		end = max(end, list[n].End)
	}
	d := g.to - g.from
	mean := (end - list[0].Begin - d) / int64(len(list)-1)
	return g, d >= shortestPause && d >= pauseTimes*mean && d >= onceTimes*second
}

// PauseOf finds the longest pause of hosts that have sent one another messages on some connections.
func PauseOf(connections [][]HostMessage) (p Pause, ok bool) {
	var gaps []gap
	longest := -1
	for _, list := range connections {
		if g, ok := gapOf(list); ok {
			if gaps = append(gaps, g); longest < 0 || g.to-g.from > gaps[longest].to-gaps[longest].from {
				longest = len(gaps) - 1
			}
		}
	}
	if longest < 0 {
		return p, false
	}
	of := gaps[longest]
	gaps = slices.DeleteFunc(gaps, func(g gap) bool { // at other times
		return 10*(min(g.to, of.to)-max(g.from, of.from)) < 9*(of.to-of.from)
	})
	if len(gaps) < pauseConnections {
		return p, false
	}
	first := slices.MinFunc(gaps, func(a, b gap) int { return cmp.Compare(a.to, b.to) })
	p = Pause{By: first.messages[first.next].From, On: len(gaps), From: first.from, To: first.to}
	sent, came := map[int]int64{}, map[int]int64{}
	for _, g := range gaps {
		p.From = max(p.From, g.from)
		for _, m := range g.messages[g.next:] {
			if at, known := sent[m.From]; !known || m.Begin < at {
				sent[m.From] = m.Begin
			}
			if at, known := came[m.To]; !known || m.End < at {
				came[m.To] = m.End
			}
		}
	}
	for host, at := range came {
		if begun, sends := sent[host]; host != p.By && sends && begun < at {
			return p, false // it went on by itself, too
		}
		if host != p.By {
			p.Hosts = append(p.Hosts, host)
		}
	}
	for host := range sent {
		if _, had := came[host]; host != p.By && !had {
			return p, false
		}
	}
	slices.Sort(p.Hosts)
	return p, len(p.Hosts) >= pauseHosts-1 && p.To-p.From >= shortestPause
}
